"""A run killed at any moment goes on to exactly T retained rounds, and every attempt it began is charged."""

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from promptdp.files import read_json, write_json
from promptdp.policy import lora
from promptdp.policy.local import LocalEngine
from promptdp.policy.lora import Adapter
from promptdp.privacy.accounting import calibrate
from promptdp.privacy.ledger import Ledger
from promptdp.privacy.register import Register
from promptdp.training import checkpoint, objectives
from promptdp.training import round as round_module
from promptdp.training import run as run_module
from promptdp.training.calibrated import calibrated_mechanism
from promptdp.training.descent import Descent
from promptdp.training.objectives import GRPO
from tests.training.conftest import ROUNDS, SLOTS, small_study
from tests.training.kills import after, before, half_written, killed, note_coins, torn, unforced
from tests.training.test_run import verify

EXPECTED = 9
"""Of ten slots, seven of them full: a round without a record would take ten million rounds to come."""
SAVED, COPY = "checkpoint.safetensors", "ledger.jsonl"
LOST = {"lost": True}
UNDRAWN = {"lost": True, "drawn": False}

# Every list is the life of one run: it is killed at the first moment, started again, killed at the second ...
LIVES = {
    "before begin": [
        [
            after(run_module, "preflight"),
            before(Register, "append"),
            after(Register, "append"),
            before(run_module, "zone_key"),
            before(os, "replace", onto="zone.key"),
            after(os, "replace", onto="zone.key"),
            before(run_module, "private_fingerprint"),
            before(Ledger, "open"),
            torn("open"),
            unforced("open"),
            before(Register, "add_look"),
            after(Register, "add_look"),
            after(run_module, "load_checkpoint"),
            before(Ledger, "begin"),
            torn("begin"),
        ],
        [
            before(Ledger, "begin", 2),
            before(Ledger, "begin", 2),
            torn("begin", 2),
            torn("begin"),
            after(run_module, "load_checkpoint"),
            after(Register, "append"),
        ],
    ],
    "begin to update": [
        [
            after(Ledger, "begin", **UNDRAWN),
            unforced("begin", **UNDRAWN),
            before(round_module, "poisson_draw", **LOST),
            after(round_module, "poisson_draw", 2, **LOST),
            before(LocalEngine, "serve", 2, **LOST),
            before(LocalEngine, "generate", 2, **LOST),
            after(LocalEngine, "generate", 3, **LOST),
            unforced("begin", 2, **UNDRAWN),
        ],
        [
            before(GRPO, "gradient", 2, **LOST),
            after(GRPO, "gradient", 3, **LOST),
            before(objectives, "advantages", 3, **LOST),
            before(Adapter, "gradient", 2, **LOST),
            after(round_module, "clip", 2, **LOST),
            before(round_module, "gaussian_noise", **LOST),
            after(round_module, "gaussian_noise", 3, **LOST),
            before(Descent, "step", **LOST),
            before(Descent, "step", 2, **LOST),
        ],
    ],
    "update to recovery write": [
        [
            after(Descent, "step", **LOST),
            after(Descent, "step", 2, **LOST),
            after(run_module, "private_round", **LOST),
            before(Descent, "state", 2, **LOST),
            after(Descent, "state", **LOST),
            before(run_module, "save_checkpoint", 2, **LOST),
        ],
        [
            before(run_module, "save_checkpoint", **LOST),
            before(checkpoint, "_digest", 2, **LOST),
            after(checkpoint, "_digest", 2, **LOST),
            before(checkpoint, "save", **LOST),
            before(checkpoint, "save", 2, **LOST),
        ],
    ],
    "recovery write to commit": [
        [
            half_written(SAVED, **LOST),
            before(checkpoint, "sync", **LOST),
            after(checkpoint, "sync", **LOST),
            before(os, "replace", onto=SAVED, **LOST),
            after(os, "replace", onto=SAVED),
            before(checkpoint, "sync", 2),
            after(run_module, "save_checkpoint"),
            after(run_module, "save_checkpoint"),
        ],
        [
            before(Ledger, "commit"),
            torn("commit"),
            unforced("commit"),
            torn("commit", 2),
            half_written(SAVED, **LOST),
            before(os, "replace", onto=SAVED, **LOST),
            after(Ledger, "commit"),
        ],
    ],
    "output rename": [
        [
            before(Ledger, "close"),
            torn("closed"),
            unforced("closed"),
            before(lora, "check_replaceable"),
            half_written(lora.WEIGHTS),
            after(lora, "write_json"),
            before(lora, "replace_folder"),
            before(Path, "rename"),
            after(Path, "rename"),
            after(Adapter, "save"),
        ],
        [
            after(Ledger, "close"),
            after(Path, "rename"),
            before(lora.shutil, "rmtree", onto="adapter"),
            after(lora.shutil, "rmtree", onto="adapter"),
            before(Path, "rename"),
            before(run_module, "write_json"),
            before(os, "replace", onto="run.json"),
            after(os, "replace", onto="run.json"),
            before(run_module, "write_text"),
            before(os, "replace", onto=COPY),
            after(os, "replace", onto=COPY),
        ],
    ],
}

ALL_WRITTEN = LIVES["output rename"][1][-1]
"""The public ledger is written last."""


@pytest.fixture
def run(run, tiny, monkeypatch):
    """A run of nearly full rounds, over a base that is in memory already."""
    bench = run.study.benchmarks["sums"].model_dump() | {"expected": EXPECTED}
    run.study = small_study(benchmarks={"sums": bench})
    write_json(run.calibration, CALIBRATION)
    monkeypatch.setattr(run_module, "load_base", lambda *_: tiny)
    calibrated_mechanism(run.study.run_settings("sums", "dp"), run.calibration)  # computed before any fork
    return run


CALIBRATION = calibrate(SLOTS, EXPECTED, ROUNDS, epsilon=8, delta=0.01).as_json()


def check_books(run, coins, moments):
    """The ledger against our own books: every attempt whose coins were drawn, and those cut off before."""
    ledger = verify(run)
    lines = [json.loads(line) for line in run.ledger.read_text().splitlines()]
    begun = [(line["round"], line["attempt"]) for line in lines if line["event"] == "begin"]
    drawn = [tuple(map(int, line.split())) for line in coins.read_text().splitlines()]
    lost, undrawn = (sum(kind) for kind in zip(*((m.lost, not m.drawn) for m in moments), strict=True))
    assert len(begun) == ledger.begun_attempts == ROUNDS + lost
    assert len(set(drawn)) == len(drawn) == len(begun) - undrawn
    assert set(drawn) <= set(begun)
    accounting = read_json(run.manifest)["accounting"]
    assert (accounting["epsilon_all"] > accounting["epsilon_retained"]) == (lost > 0)
    assert len(Register(run.register).looks("sums")) == 1


def test_there_are_fifty_moments_and_eight_in_each_window():
    counts = {window: sum(map(len, lives)) for window, lives in LIVES.items()}
    assert sum(counts.values()) >= 50 and min(counts.values()) >= 8 and len(counts) == 5


@pytest.mark.parametrize(
    ("window", "life"), [(window, life) for window, lives in LIVES.items() for life in range(len(lives))]
)
def test_a_run_killed_again_and_again_ends_with_all_rounds_and_every_attempt_charged(
    run, monkeypatch, window, life
):
    moments, coins = LIVES[window][life], run.folder / "coins"
    for moment in moments:
        killed(run, moment, coins)
        assert run.ledger.exists() == (moment is ALL_WRITTEN)
    note_coins(coins, monkeypatch.setattr)
    run()
    check_books(run, coins, moments)


def test_the_books_would_show_an_attempt_that_the_ledger_forgot(run, monkeypatch):
    moment, coins = after(round_module, "poisson_draw", **LOST), run.folder / "coins"
    killed(run, moment, coins)
    ledger = run.recovered / "ledger.jsonl"
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-1]))
    note_coins(coins, monkeypatch.setattr)
    run()
    with pytest.raises(AssertionError):
        check_books(run, coins, [moment])


def test_a_process_that_is_not_killed_fails_the_test_of_its_moment(run):
    with pytest.raises(AssertionError, match="the moment never came"):
        killed(run, before(run_module, "save_checkpoint", ROUNDS + 1))


def test_kills_at_random_moments_never_lose_a_round_or_a_charge(run, monkeypatch):
    moments, kills, coins = random.Random(1), 0, run.folder / "coins"
    while True:
        child = os.fork()
        if child == 0:
            note_coins(coins)
            run()
            os._exit(0)
        deadline = time.monotonic() + moments.uniform(0.02, 0.2) * (1 + kills)
        while time.monotonic() < deadline and not (done := os.waitpid(child, os.WNOHANG))[0]:
            time.sleep(0.002)
        if not done[0]:
            os.kill(child, signal.SIGKILL)
            done = os.waitpid(child, 0)
        if os.WIFEXITED(done[1]):
            break
        kills += 1
    assert os.WEXITSTATUS(done[1]) == 0
    drawn = coins.read_text().splitlines()
    assert len(set(drawn)) == len(drawn) <= verify(run).begun_attempts <= ROUNDS + kills
