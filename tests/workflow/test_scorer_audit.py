"""The second opinion on the scorers as the workflow asks for it."""

import json

import pytest

from promptdp.study import load_study
from tests.workflow.conftest import SMALL

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("finished")]
RECORD = "results/small/assurance/scorer_audit.json"
STUDY = load_study(SMALL)


@pytest.fixture(scope="module")
def record(finished):
    result = finished.snakemake("scorer_audit")
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    return json.loads((finished.folder / RECORD).read_text())


def test_every_score_of_the_study_is_audited(record):
    audited = {(rule["evaluation_set"], rule["scorer"]): rule for rule in record["rules"]}
    expected = {
        (name, scorer)
        for name, spec in STUDY.evaluation_sets.items()
        for scorer in (spec.scorers.strict, spec.scorers.robust)
        if scorer
    }
    assert audited.keys() == expected
    for (name, _), rule in audited.items():
        runs = [(run["arm"], run["seed"], run["responses"]) for run in rule["runs"]]
        problems = STUDY.evaluation_sets[name].problems
        assert sorted(runs) == sorted((arm, seed, problems) for arm, seed in STUDY.evaluations(name))


def test_the_page_names_every_set_and_scorer(record, finished):
    page = (finished.folder / RECORD).with_suffix(".md").read_text()
    assert all(f"| {rule['evaluation_set']} | {rule['scorer']} |" in page for rule in record["rules"])


def test_a_second_audit_has_nothing_to_do(record, finished):
    assert finished.jobs("scorer_audit") == {}


def test_the_recorded_run_is_audited_without_training_or_scoring(checkout):
    jobs = checkout.jobs("scorer_audit", study="micro", source="recorded")
    assert jobs == {"decide": 1, "records_eval": 4, "scorer_audit": 1}
