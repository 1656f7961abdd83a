"""Certificates and releases as targets: what they wait for, and that a study which is not safe gets none."""

import json
import subprocess
import sys

import pytest

from promptdp.study import load_study
from tests.workflow.conftest import SMALL

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("finished")]
STUDY = load_study(SMALL)
PRIVATE = [run for run in STUDY.runs() if STUDY.arms[run[1]].private]
RUN = "stories/dp_grpo/seed1"


def promptdp(finished, *arguments):
    command = [sys.executable, "-m", "promptdp.cli", *arguments]
    return subprocess.run(
        command, cwd=finished.folder, env=finished.environment, capture_output=True, text=True
    )


def test_the_target_release_makes_one_folder_for_every_private_run(finished):
    count = len(PRIVATE)
    assert finished.jobs("release") == {
        "verify": 1,
        "certificate": count,
        "release_run": count,
        "release": 1,
    }


def test_a_certificate_waits_for_every_run_on_its_slots(finished):
    manifest = finished.folder / "results/small/runs/arithmetic/nonprivate/seed1/run.json"
    kept = manifest.rename(manifest.with_suffix(".kept"))
    try:
        jobs = finished.jobs("results/small/assurance/certificates/arithmetic/dp_grpo/seed1.json")
        assert jobs == {"verify": 1, "certificate": 1, "train": 1}
    finally:
        kept.rename(manifest)


def test_a_seeded_study_is_certified_as_not_private_and_never_released(finished):
    certificate = "results/small/assurance/by-hand.json"
    run = ["--run", f"results/small/runs/{RUN}"]
    made = promptdp(
        finished, "certificate", *run, "--register", "private/small/register.jsonl", "--out", certificate
    )
    assert made.returncode == 0 and "A3 not met" in made.stdout, made.stderr
    stated = json.loads((finished.folder / certificate).read_text())
    composed = json.loads((finished.folder / "results/small/calibration/composed-stories.json").read_text())
    assert stated["epsilon_composed"] == composed["epsilon"]
    assert len(stated["selected_from"]) == len(composed["runs"]) == 2
    refused = promptdp(finished, "release", *run, "--certificate", certificate, "--out", "results/small/out")
    assert refused.returncode == 3 and "the randomness is seeded" in refused.stderr
    assert not (finished.folder / "results/small/out").exists()
    (finished.folder / certificate).unlink()


def test_no_public_log_names_a_folder_of_the_private_zone(finished):
    zone = finished.folder / "private/small"
    names = {path.parent.name.encode() for path in zone.glob("recovery/*/*/*/*/ledger.jsonl")}
    assert len(names) == len(STUDY.runs())
    for path in (path for path in (finished.folder / "results").rglob("*") if path.is_file()):
        content = path.read_bytes()
        assert not [name for name in names if name in content], path
