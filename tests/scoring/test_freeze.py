"""A rule is frozen with every file that can change its verdict, and with no other."""

import subprocess
import sys
from pathlib import Path

import pytest

import promptdp.closure
from promptdp.closure import import_closure
from promptdp.errors import InputError
from promptdp.scoring import RULES
from promptdp.scoring.freeze import check_lock, closure, digest, lock_text, write_lock


def names(rule: str) -> set[str]:
    return {path.name for path in closure(rule)}


@pytest.mark.parametrize("rule", sorted(RULES))
def test_the_committed_lock_matches_the_rule(rule, root):
    check_lock(rule, root / f"config/frozen/{rule}.sha256")


@pytest.mark.parametrize("rule", sorted(RULES))
def test_sha256sum_accepts_the_committed_lock_from_the_root(rule, root):
    subprocess.run(["sha256sum", "--check", "--quiet", f"config/frozen/{rule}.sha256"], cwd=root, check=True)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_outside_this_package_a_rule_imports_only_the_errors(rule):
    outside = {name for name in import_closure(f"promptdp.scoring.rules.{rule}") if "scoring" not in name}
    assert outside == {"promptdp", "promptdp.errors"}


def test_the_closures_differ_by_rule():
    assert "parser.py" in names("math_strict")
    assert "parser.py" not in names("gsm8k")
    assert "unboxed.py" in names("math_robust") - names("math_strict")
    assert not names("csqa_strict") & {"numerals.py", "equality.py"}
    assert all("freeze.py" not in names(rule) for rule in RULES)
    assert len({digest(rule) for rule in RULES}) == len(RULES)


def test_a_written_lock_is_accepted_and_one_with_another_hash_names_the_file(tmp_path):
    lock = tmp_path / "gsm8k.sha256"
    write_lock("gsm8k", lock)
    check_lock("gsm8k", lock)
    text = lock.read_text()
    line = next(line for line in text.splitlines() if line.endswith("numerals.py"))
    lock.write_text(text.replace(line, "0" * 64 + line[64:]))
    with pytest.raises(InputError, match=r"^src/promptdp/scoring/numerals.py: .*promptdp freeze gsm8k"):
        check_lock("gsm8k", lock)


@pytest.mark.parametrize("content", [None, b"\xff", b"", b"garbage\n\x1b[2J\n", b"  \n"])
def test_a_lock_that_is_missing_damaged_or_empty_is_bad_input(tmp_path, content):
    lock = tmp_path / "svamp.sha256"
    if content is not None:
        lock.write_bytes(content)
    with pytest.raises(InputError, match="promptdp freeze svamp") as caught:
        check_lock("svamp", lock)
    assert str(caught.value).isprintable() and not str(caught.value).startswith(":")


def test_an_edit_of_any_file_of_a_rule_changes_its_lock(tmp_path, monkeypatch):
    copy = tmp_path / "src" / "promptdp"
    for path in Path(promptdp.closure.SOURCE).rglob("*.py"):
        target = copy / path.relative_to(promptdp.closure.SOURCE)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    monkeypatch.setattr(promptdp.closure, "SOURCE", copy)
    monkeypatch.setattr("promptdp.scoring.freeze.SOURCE", copy)
    before = lock_text("math_strict")
    for path in closure("math_strict"):
        original = path.read_bytes()
        path.write_bytes(original + b"\n")
        assert lock_text("math_strict") != before
        path.write_bytes(original)
    assert lock_text("math_strict") == before


def test_an_unknown_scorer_is_bad_input():
    with pytest.raises(InputError, match="math_strict"):
        closure("mathstrict")


def test_importing_the_package_loads_no_rule_and_nothing_heavy():
    code = (
        "import sys, promptdp.scoring; heavy = {'sympy', 'torch', 'pandas', 'pyarrow', 'mpmath', 'numpy'}; "
        "assert not heavy & set(sys.modules) and 'promptdp.scoring.equality' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
