"""The verification suite as the workflow runs it, on the small study."""

import json
from collections import Counter

import pytest

from promptdp.assurance.verification.chance import LEVEL, STATISTICAL_ROWS
from promptdp.study import load_study
from tests.workflow.conftest import SMALL

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("finished")]
RECORD = "results/small/assurance/verification.json"
APPENDIX_B = {
    "sensitivity",
    "equivalence",
    "coins-frequency",
    "coins-independence",
    "isolation-rewards",
    "isolation-round",
    "groups-advantages",
    "groups-gradients",
    "groups-retained",
    "accountant-reference",
    "chunks",
}


@pytest.fixture(scope="module")
def record(finished):
    result = finished.snakemake("verify")
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    return json.loads((finished.folder / RECORD).read_text())


def test_every_row_of_the_small_study_passes(record):
    assert record["passed"] is True and record["study"] == load_study(SMALL).name
    verdicts = Counter(row["verdict"] for row in record["rows"])
    assert verdicts["pass"] >= 30 and verdicts["fail"] == 0
    passed = {row["id"] for row in record["rows"] if row["verdict"] == "pass"}
    assert passed >= APPENDIX_B
    assert len({row["id"] for row in record["rows"]}) == len(record["rows"])


def test_the_rows_that_judge_fresh_randomness_are_as_many_as_share_the_false_alarms(record):
    judged = [row for row in record["rows"] if row["tolerance"] == f">= {LEVEL:.3g}"]
    assert len(judged) == STATISTICAL_ROWS


def test_half_precision_is_judged_and_measured(record):
    verdicts = {row["id"]: row["verdict"] for row in record["rows"]}
    for dtype in ("float16", "bfloat16"):
        assert verdicts[f"sensitivity-{dtype}"] == verdicts[f"isolation-rewards-{dtype}"] == "pass"
        assert verdicts[f"groups-retained-{dtype}"] == "pass"
        assert verdicts[f"chunks-own-{dtype}"] == verdicts[f"clip-flips-{dtype}"] == "measured"


def test_no_training_question_stands_in_the_record(record, finished):
    text = (finished.folder / RECORD).read_text()
    for path in finished.folder.glob("private/small/records/*/train.jsonl"):
        for line in path.read_text().splitlines():
            assert json.loads(line)["question"] not in text


def test_a_second_verification_has_nothing_to_do_and_a_label_changes_nothing(record, finished):
    assert finished.jobs("verify") == {}
    path = finished.folder / "config/studies/micro.yaml"
    kept = path.read_text()
    path.write_text(kept.replace("title: Private", "title: A private"))
    try:
        assert finished.jobs("verify") == {}
    finally:
        path.write_text(kept)
