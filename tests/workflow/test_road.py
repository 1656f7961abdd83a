"""The whole road on the small study: it ends, repeats nothing, and reruns what an edit touches."""

import json
import re

import pytest

from promptdp.privacy.ledger import verify_ledger
from promptdp.study import load_study
from tests.workflow.conftest import SMALL

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("finished")]
STUDY = load_study(SMALL)
RUNS = STUDY.runs()
FIGURE = "results/small/figures/fig2.pdf"


def test_the_road_ends_in_every_table_and_figure_in_every_format(finished):
    results = finished.folder / "results/small"
    assert STUDY.tables == tuple(range(1, 15))
    for name in ("checks", *(f"table{number}" for number in STUDY.tables)):
        for ending in ("csv", "md", "tex", "json"):
            assert (results / f"tables/{name}.{ending}").stat().st_size > 0
        rows = json.loads((results / f"tables/{name}.json").read_text())["rows"]
        assert bool(rows) == (name != "table8"), name  # this study has no protocol
    for ending in ("pdf", "png", "svg", "csv"):
        for number in STUDY.figures:
            assert (results / f"figures/fig{number}.{ending}").stat().st_size > 0


def test_a_seeded_study_says_in_every_table_and_manifest_that_it_is_not_private(finished):
    results = finished.folder / "results/small"
    for number in STUDY.tables:
        assert "not private" in (results / f"tables/table{number}.md").read_text().lower(), number
    for manifest in results.glob("runs/*/*/*/run.json"):
        assert "the randomness is seeded" in json.loads(manifest.read_text())["not_releasable"]


def test_a_second_campaign_has_nothing_to_do(finished):
    assert finished.jobs("all") == {}
    assert finished.jobs("all", "--rerun-triggers", "code", "input", "mtime", "params", "software-env") == {}


def test_one_figure_alone_reruns_nothing_else(finished):
    figure = finished.folder / FIGURE
    kept = figure.read_bytes()
    figure.unlink()
    assert finished.jobs(FIGURE) == {"figure": 1}
    assert finished.snakemake(FIGURE).returncode == 0
    assert figure.read_bytes() == kept


def test_every_run_has_a_closed_ledger_of_all_its_rounds(finished):
    for benchmark, arm, seed in RUNS:
        ledger = finished.folder / f"results/small/runs/{benchmark}/{arm}/seed{seed}/ledger.jsonl"
        summary = verify_ledger(ledger)
        assert summary.rounds == STUDY.run_settings(benchmark, arm).rounds


def test_the_private_zone_is_closed_to_others_and_holds_the_register(finished):
    private = finished.folder / "private"
    assert private.stat().st_mode & 0o077 == 0
    register = (private / "small/register.jsonl").read_text().splitlines()
    assert len(register) >= len(RUNS)


def test_no_training_question_stands_in_a_public_file(finished):
    questions = [
        json.loads(line)["question"].encode()
        for path in finished.folder.glob("private/small/records/*/train.jsonl")
        for line in path.read_text().splitlines()
    ]
    public = [path for path in (finished.folder / "results").rglob("*") if path.is_file()]
    assert len(questions) >= 120 and len(public) > 50
    for path in public:
        content = path.read_bytes()
        assert not [question for question in questions if question in content], path


MICRO = "config/studies/micro.yaml"
EDITS = {
    "a learning rate": (SMALL, "gold: {seeds: [1],", "gold: {seeds: [1], learning_rate: 0.5,"),
    "a cap of evaluation": (
        SMALL,
        "arithmetic: {problems: 40, cap: 16}",
        "arithmetic: {problems: 40, cap: 15}",
    ),
    "a label": (MICRO, "label: Gold DP-SFT", "label: Gold"),
    "a setting of the base": (SMALL, "steps: 40", "steps: 41"),
    "a comment in the study's types": ("src/promptdp/study.py", "import difflib", "import difflib  # why"),
}
RERUN = {
    "a learning rate": {"train": 1, "predict": 1},
    "a cap of evaluation": {"predict": 8},
    "a label": {"table": 14, "checks": 1, "figure": 2},
    "a setting of the base": {"public_base": 1, "train": 14, "predict": 20},
    "a comment in the study's types": {},
}


@pytest.mark.parametrize("case", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(case, finished):
    (file, old, new), expected = EDITS[case], RERUN[case]
    path = finished.folder / file
    kept = path.read_text()
    assert old in kept
    path.write_text(kept.replace(old, new))
    try:
        jobs = finished.jobs("all")
    finally:
        path.write_text(kept)
    watched = ("public_base", "records", "calibrate", "train", "predict", *expected)
    assert {rule: jobs.get(rule, 0) for rule in watched} == {rule: expected.get(rule, 0) for rule in watched}


def test_an_edited_scorer_stops_what_depends_on_it_by_name(finished):
    path = finished.folder / "src/promptdp/scoring/final_number.py"
    kept = path.read_text()
    path.write_text(kept + "# edited\n")
    try:
        assert finished.jobs("all")["score"] == 6
        target = "results/small/scores/stories/gsm8k/base/seed0.parquet"
        stopped = finished.snakemake(target)
        assert stopped.returncode != 0
        log = (finished.folder / "results/small/logs/score/stories/gsm8k/base/seed0.log").read_text()
        assert "final_number.py" in log and "promptdp freeze gsm8k" in log
    finally:
        path.write_text(kept)
        assert finished.snakemake("all").returncode == 0


def test_snakemakes_notes_and_report_keep_no_clock_or_hash_of_private_records(finished):
    notes = [
        json.loads(path.read_text())
        for path in (finished.folder / ".snakemake/metadata").rglob("*")
        if path.is_file()
    ]
    private = [note for note in notes if note["rule"] in ("records", "train")]
    assert len(private) >= len(RUNS)
    assert {note["endtime"] for note in private} == {0.0}
    hashed = [name for note in notes for name in note["input_checksums"] or {}]
    assert hashed and not [name for name in hashed if name.startswith("private/")]
    assert (finished.folder / ".snakemake").stat().st_mode & 0o077 == 0
    assert finished.snakemake("all", "--report", "report.html").returncode == 0
    report = (finished.folder / "report.html").read_text()
    assert '"rule": "predict"' in report
    assert not re.findall(r'"rule": "(?:train|records)", "runtime": (?!0\.0\b)[0-9.]+', report)
