"""What README tells a reader to type does what it says."""

import re

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("finished")]


def test_the_python_block_trains_an_adapter(finished, root, monkeypatch):
    (block,) = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(finished.folder)
    small = block.replace('load_study("micro")', 'load_study("tests/workflow/small.yaml")')
    small = small.replace("results/micro", "results/small")
    small = small.replace("slots=874, expected=16, rounds=50", "slots=40, expected=4, rounds=2")
    assert small.count("small") >= 2 and "slots=40" in small
    exec(compile(small, "README.md", "exec"), {})
    assert {path.name for path in (finished.folder / "results/mine").iterdir()} >= {
        "adapter",
        "run.json",
        "ledger.jsonl",
    }


def test_every_target_and_file_that_readme_names_exists(finished, root):
    text = (root / "README.md").read_text()
    for target in re.findall(r"snakemake --cores \w+ (results/micro/\S+?)`", text):
        jobs = finished.snakemake(target, "--dry-run", study="micro")
        assert jobs.returncode == 0, target
    for link in re.findall(r"\]\(((?!http)[^)]+)\)", text):
        assert (root / link).exists(), link
