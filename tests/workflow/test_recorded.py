"""The recorded run: README shows its tables, its books are in order, its scores follow from its answers."""

import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from promptdp.evaluation.rescore import rescore
from promptdp.files import read_json, sha256_file
from promptdp.privacy.ledger import verify_ledger
from promptdp.records.loaders import write_evaluation_records
from promptdp.study import RunSettings, load_study

RECORDED = "resources/recorded/micro"
STUDY = load_study("micro")


def test_readme_shows_the_recorded_tables(root):
    script = root / "workflow/scripts/readme"
    assert subprocess.run([sys.executable, str(script), "--check"]).returncode == 0


@pytest.mark.parametrize(("benchmark", "arm", "seed"), STUDY.runs())
def test_every_recorded_run_has_a_closed_ledger_of_its_mechanism(benchmark, arm, seed, root):
    folder = root / RECORDED / f"runs/{benchmark}/{arm}/seed{seed}"
    summary, manifest = verify_ledger(folder / "ledger.jsonl"), read_json(folder / "run.json")
    settings = STUDY.run_settings(benchmark, arm)
    assert summary.rounds == settings.rounds == manifest["mechanism"]["rounds"]
    assert summary.begun_attempts == manifest["attempts"] and summary.head == manifest["ledger_head"]
    assert RunSettings.model_validate(manifest["settings"]) == settings
    assert manifest["not_releasable"] == ([] if settings.private else ["no noise is added"])
    if settings.private:
        calibration = root / RECORDED / f"calibration/{settings.mechanism_name}.json"
        assert manifest["mechanism"]["noise_multiplier"] == read_json(calibration)["sigma"]


@pytest.mark.parametrize("evalset", STUDY.evaluation_sets)
def test_the_recorded_scores_follow_from_the_recorded_answers(evalset, root, tmp_path):
    records = tmp_path / "eval.jsonl"
    write_evaluation_records(STUDY, evalset, records, tmp_path / "split.json")
    scorers = STUDY.evaluation_sets[evalset].scorers
    for scorer in filter(None, (scorers.strict, scorers.robust)):
        for arm in ("base", "dp_grpo"):
            seed = STUDY.arms[arm].seeds[0]
            predictions = root / RECORDED / f"predictions/{evalset}/{arm}/seed{seed}.jsonl.gz"
            rescore(predictions, records, scorer, tmp_path / "again.parquet")
            recorded = root / RECORDED / f"scores/{evalset}/{scorer}/{arm}/seed{seed}.parquet"
            assert pq.read_table(tmp_path / "again.parquet").equals(pq.read_table(recorded))
            assert (
                sha256_file(predictions)
                == read_json(predictions.with_name(f"seed{seed}.manifest.json"))["predictions_sha256"]
            )
