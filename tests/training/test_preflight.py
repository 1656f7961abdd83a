"""One public record goes all the way before round 1, and what fails on it is told in full."""

import re
from dataclasses import replace

import pytest
import torch

from promptdp.errors import InputError, PromptDPError
from promptdp.policy.base import Base
from promptdp.policy.local import LocalEngine
from promptdp.policy.lora import Adapter
from promptdp.privacy.randomness import Randomness
from promptdp.training import methods, objectives
from promptdp.training.objectives import Policy
from promptdp.training.preflight import PUBLIC, preflight
from tests.training.conftest import ROUNDS, small_study
from tests.training.test_failures import method


def broken(*args, **kwargs):
    raise ValueError("a fault of ours")


@pytest.mark.parametrize("name", ["grpo", "filtered", "gold"])
def test_a_sound_method_passes_and_leaves_the_policy_as_it_was(tiny, name):
    rollouts, objective = method(tiny, name)
    before = rollouts.policy.adapter.theta
    preflight(objective, rollouts, Randomness.from_os())
    assert torch.equal(rollouts.policy.adapter.theta, before)
    assert not rollouts.policy.adapter.model.training


def test_it_draws_on_round_zero_alone_so_that_no_round_loses_its_randomness(tiny, monkeypatch):
    used, stream = [], Randomness.stream
    monkeypatch.setattr(
        Randomness,
        "stream",
        lambda self, *use, **more: used.append((*use, more)) or stream(self, *use, **more),
    )
    rollouts, objective = method(tiny, "grpo")
    preflight(objective, rollouts, Randomness.from_os())
    assert used == [(0, "preflight rollouts", {}), (0, "preflight gradient", {})]


FAULTS = [
    ("dp", Base, "prompt_ids"),
    ("dp", LocalEngine, "generate"),
    ("dp", methods, "score"),
    ("dp", objectives, "advantages"),
    ("dp", objectives, "completion_loss"),
    ("dp", Policy, "reference_logprobs"),
    ("filtered", methods, "score"),
    ("filtered", objectives, "_imitate"),
    ("gold", Base, "target_ids"),
    ("gold", Policy, "logprobs"),
    ("gold", Adapter, "gradient"),
]


@pytest.mark.parametrize(("arm", "owner", "name"), FAULTS)
def test_a_fault_of_ours_on_any_line_is_told_before_a_record_is_read(run, monkeypatch, arm, owner, name):
    run.arm = arm
    monkeypatch.setattr(owner, name, broken)
    with pytest.raises(
        PromptDPError, match=r"public record fails .*ValueError at .*: a fault of ours"
    ) as caught:
        run()
    assert caught.value.exit_status == 1 and "\n" not in str(caught.value)
    assert not run.register.exists() and not run.results.exists()


def test_a_machine_without_memory_is_told_too(run, monkeypatch):
    def exhausted(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(Policy, "logprobs", exhausted)
    with pytest.raises(PromptDPError, match=r"public record fails .*MemoryError"):
        run()
    assert not run.register.exists()


def test_without_it_a_fault_of_ours_would_train_on_noise_without_a_word(run, monkeypatch):
    """The mutant: the same fault, the look left out."""
    monkeypatch.setattr("promptdp.training.run.preflight", lambda *args: None)
    monkeypatch.setattr(objectives, "completion_loss", broken)
    run()
    assert run.lines[-1] == f"round {ROUNDS} of {ROUNDS}"


def test_a_cap_that_leaves_no_room_for_any_prompt_is_refused(run):
    bench = run.study.benchmarks["sums"].model_dump() | {"cap": 92}
    run.study = small_study(benchmarks={"sums": bench})
    with pytest.raises(
        InputError, match="cap: 92 tokens leave no room for a prompt in the model's context of 96"
    ):
        run()
    assert not run.register.exists()


@pytest.mark.parametrize("name", ["grpo", "filtered", "gold"])
def test_a_model_that_computes_no_numbers_is_refused(tiny, name):
    rollouts, objective = method(tiny, name)
    adapter = rollouts.policy.adapter
    adapter.assign(torch.full_like(adapter.theta, float("nan")))
    with pytest.raises(InputError, match="is not a number"):
        preflight(objective, rollouts, Randomness.from_os())


def test_the_verifier_is_called_though_its_verdict_is_not_used(tiny):
    judged = []

    def gives_up(**call):
        judged.append(call)

    rollouts, objective = method(tiny, "grpo")
    preflight(replace(objective, reward=gives_up), rollouts, Randomness.from_os())
    assert len(judged) == rollouts.samples
    assert {call["reference"] for call in judged} == {PUBLIC.answer}
    assert all(re.fullmatch("response|reference|capped", key) for key in judged[0])
