"""A campaign may be killed at any moment and started again; two at once do not write one ledger."""

import random
import time

import pytest

from promptdp.privacy.ledger import verify_ledger
from promptdp.study import load_study
from tests.workflow.conftest import SMALL, kill_group

pytestmark = pytest.mark.workflow
STUDY = load_study(SMALL)


@pytest.mark.parametrize("attempt", range(2))
def test_a_killed_campaign_goes_on_without_help_and_loses_no_ledger_line(checkout, attempt):
    target = "results/small/runs/arithmetic/dp_grpo/seed1/run.json"
    recovery = checkout.folder / "private/small/recovery/arithmetic/dp_grpo/seed1"
    process = checkout.start(*checkout.command(target))
    deadline = time.monotonic() + 300
    while not [path for path in recovery.glob("*/ledger.jsonl") if b"begin" in path.read_bytes()]:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(random.uniform(0, 0.3))
    kill_group(process)
    (ledger,) = recovery.glob("*/ledger.jsonl")
    before = ledger.read_bytes()
    whole = before[: before.rfind(b"\n") + 1]
    begun = whole.count(b'"event":"begin"')
    committed = whole.count(b'"event":"commit"')

    assert checkout.snakemake("--unlock").returncode == 0
    result = checkout.snakemake(target)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    assert ledger.read_bytes().startswith(whole)
    summary = verify_ledger(ledger)
    assert summary.rounds == STUDY.run_settings("arithmetic", "dp_grpo").rounds
    assert summary.begun_attempts >= summary.rounds + (begun - committed)


def test_two_campaigns_of_one_run_do_not_write_one_ledger_at_once(checkout):
    target = "results/small/runs/choices/gold/seed1/run.json"
    recovery = checkout.folder / "private/small/recovery/choices/gold/seed1"
    first = checkout.start(*checkout.command(target, "--nolock"))
    deadline = time.monotonic() + 300
    while not [path for path in recovery.glob("*/ledger.jsonl") if b"begin" in path.read_bytes()]:
        assert first.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    second = checkout.start(*checkout.command(target, "--nolock"))
    first.wait(300)
    second.wait(300)
    # Either may fail, and Snakemake then removes outputs under the other: a third campaign makes them again.
    assert checkout.snakemake(target, "--nolock").returncode == 0
    (ledger,) = recovery.glob("*/ledger.jsonl")
    assert verify_ledger(ledger).begun_attempts == STUDY.run_settings("choices", "gold").rounds
