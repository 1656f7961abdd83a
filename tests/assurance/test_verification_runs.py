"""The checks on whole runs of the trainer pass as it is, and fail on one that breaks what they check."""

import hmac
import json
import secrets
from types import SimpleNamespace

import pytest
import torch

from promptdp.assurance.verification import runs, zone
from promptdp.assurance.verification.subject import Subject
from promptdp.files import canonical_json
from promptdp.policy.base import load_base
from promptdp.privacy import ledger as ledger_module
from promptdp.privacy.accounting import epsilon_all
from promptdp.privacy.ledger import LedgerSummary
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.noise import gaussian_noise
from promptdp.privacy.randomness import Randomness
from promptdp.training import manifest, methods, objectives, round
from promptdp.training import run as run_module
from promptdp.training.descent import Descent
from tests.training.conftest import small_study

torch.set_num_threads(1)
NOISE, SCALE, LEDGER = "runs-noise", "runs-scale", "runs-ledger"


@pytest.fixture(scope="module")
def subject(tiny_folder):
    return Subject(small_study(), load_base(tiny_folder))


@pytest.fixture
def failing(subject, tiny_folder):
    """The ids of the rows on four runs that fail, once all of them judged something."""

    def found():
        rows = runs.check_runs(subject, tiny_folder)
        assert [row.id for row in rows] == [NOISE, SCALE, LEDGER]
        return {row.id for row in rows if row.verdict == "fail"}

    return found


@pytest.fixture
def mixed(monkeypatch):
    """A verifier that gives both rewards to the groups of any base."""
    verifier = lambda rule: lambda *, response, reference, capped: float(len(response) % 2)  # noqa: E731
    monkeypatch.setattr(methods, "verifier", verifier)


# --- the noise ---


def keep_key(monkeypatch, key_of):
    """Runs take the key of their randomness from what they are: `key_of(settings, recovery folder, call)`."""
    given, train, run = run_module.public_settings, zone.train, SimpleNamespace(call=0)

    def settings(*args):
        run.settings = given(*args)
        return run.settings

    def training(*args, **kwargs):
        run.call += 1
        run.recovery = kwargs["recovery"]
        train(*args, **kwargs)

    def from_kept():
        source = Randomness.from_os()
        source._root = hmac.new(key_of(run), canonical_json(run.settings).encode(), "sha256")
        return source

    monkeypatch.setattr(zone, "train", training)
    monkeypatch.setattr(run_module, "public_settings", settings)
    double = SimpleNamespace(from_os=from_kept, seeded=Randomness.seeded)
    monkeypatch.setattr(run_module, "Randomness", double)


def test_no_run_attempt_or_repetition_shares_noise_and_every_attempt_is_charged(failing):
    assert failing() == set()


def test_a_key_kept_in_the_zone_is_seen(failing, monkeypatch):
    keep_key(monkeypatch, lambda run: b"the zone's key")
    assert failing() == {NOISE}


def test_a_key_kept_for_each_run_is_seen_when_a_run_is_repeated(failing, monkeypatch):
    keep_key(monkeypatch, lambda run: str(run.recovery).encode())
    assert failing() == {NOISE}


@pytest.mark.parametrize("repeats", [False, True])
def test_an_attempt_that_repeats_the_stream_of_the_one_that_was_cut_off_is_seen(
    repeats, failing, monkeypatch
):
    """The run that reaches round 2, and the one that goes on after the kill, have one key in common."""
    keys = [secrets.token_bytes(32) for _ in range(5)]
    keep_key(monkeypatch, lambda run: keys[1 if run.call == 3 else run.call - 1])
    if repeats:
        monkeypatch.setattr(run_module, "private_round", lambda t, attempt, **rest: _first(t, **rest))
    assert failing() == ({NOISE} if repeats else set())


def _first(t, **rest):
    round.private_round(t, 1, **rest)


def one_tensor_of_the_round(mechanism, p, stream):
    """Fresh noise everywhere but in one small tensor."""
    z = gaussian_noise(mechanism, p, stream)
    z[64:160] = gaussian_noise(mechanism, 96, Randomness.seeded(1).stream(1, "noise"))
    return z


def test_one_tensor_with_the_same_noise_in_every_round_is_seen(failing, monkeypatch):
    monkeypatch.setattr(round, "gaussian_noise", one_tensor_of_the_round)
    assert NOISE in failing()


def test_noise_of_another_scale_is_seen(failing, monkeypatch):
    monkeypatch.setattr(
        Mechanism, "noise_std", property(lambda m: 0.8 * m.noise_multiplier * m.clipping_norm)
    )
    assert failing() == {SCALE}


def test_a_trainer_that_takes_no_step_is_seen(failing, monkeypatch):
    monkeypatch.setattr(Descent, "step", lambda self, mean: None)
    assert failing() == {NOISE, SCALE}


# --- the ledger ---


def test_a_ledger_that_forgets_the_attempt_that_was_cut_off_is_seen(failing, monkeypatch):
    recover = ledger_module.recover_lines

    def forgetting(path):
        lines = recover(path)
        if lines and json.loads(lines[-1])["event"] == "begin":
            path.write_bytes(b"".join(line + b"\n" for line in lines[:-1]))
        return recover(path)

    monkeypatch.setattr(ledger_module, "recover_lines", forgetting)
    assert failing() == {LEDGER}


def test_a_ledger_that_forgets_the_attempts_of_lost_weights_is_seen(failing, monkeypatch):
    effect = LedgerSummary._effect

    def forgetting(self, entry):
        return effect(self, entry) | ({"begun_attempts": 0} if entry["event"] == "branch" else {})

    monkeypatch.setattr(LedgerSummary, "_effect", forgetting)
    assert failing() == {LEDGER}


def test_a_manifest_that_charges_the_retained_rounds_alone_is_seen(failing, monkeypatch):
    monkeypatch.setattr(manifest, "epsilon_all", lambda mechanism, begun: epsilon_all(mechanism, 2))
    assert failing() == {LEDGER}


# --- records stay apart ---


def test_the_trainers_step_on_two_groups_is_the_sum_of_its_steps_on_either(subject, tiny_folder, mixed):
    row = runs.check_sum(subject, tiny_folder)
    assert row.verdict == "pass" and 0 < row.measured < 1e-6


def test_a_baseline_that_records_share_is_seen(subject, tiny_folder, mixed, monkeypatch):
    given, seen = objectives._rewards, []

    def shared(*args):
        seen.extend(own := given(*args))
        return [value - 0.5 * sum(seen) / len(seen) for value in own]

    plain = lambda kind, values, stream: torch.tensor(values, dtype=torch.float64)  # noqa: E731
    monkeypatch.setattr(objectives, "_rewards", shared)
    monkeypatch.setattr(objectives, "advantages", plain)
    assert runs.check_sum(subject, tiny_folder).verdict == "fail"


def test_a_divisor_that_counts_the_present_records_is_seen(subject, tiny_folder, monkeypatch):
    given, taken = objectives.Gold.gradient, []

    def counted(self, *args):
        gradient = given(self, *args)
        taken.append(gradient is not None)
        return gradient

    monkeypatch.setattr(objectives.Gold, "gradient", counted)
    monkeypatch.setattr(Mechanism, "divisor", property(lambda self: max(sum(taken), 1)))
    assert runs.check_sum(subject, tiny_folder).verdict == "fail"


def test_runs_that_learn_nothing_show_nothing(subject, tiny_folder, monkeypatch):
    monkeypatch.setattr(run_module, "preflight", lambda *args: None)
    for method in (objectives.Gold, objectives.GRPO):
        monkeypatch.setattr(method, "gradient", lambda *args: None)
    row = runs.check_sum(subject, tiny_folder)
    assert row.verdict == "fail" and str(row.measured) == "nan"
