"""What fails on one record leaves it the zero vector and harms no other; what fails on us stops the round."""

import errno
from dataclasses import dataclass, replace

import pytest
import torch

from promptdp.errors import InputError, PromptDPError
from promptdp.policy.base import Base
from promptdp.policy.local import LocalEngine
from promptdp.policy.lora import attach
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Randomness
from promptdp.records.record import Record
from promptdp.records.slots import Slots
from promptdp.training.advantages import Advantage
from promptdp.training.failures import MACHINE, of_record
from promptdp.training.objectives import GRPO, Filtered, Gold, Policy
from promptdp.training.rollouts import Rollouts
from promptdp.training.round import private_round
from tests.tiny import LORA, moved

RECORDS = [Record(id=str(i), question="q" * (i + 1), answer=str(i), solution=f"so {i}") for i in range(5)]
BAD = RECORDS[2]
RECORDS_FAULTS = [
    ValueError,
    KeyError,
    IndexError,
    ZeroDivisionError,
    RecursionError,
    RuntimeError,
    Exception,
]
MACHINES_FAULTS = [
    *(
        MemoryError(),
        torch.OutOfMemoryError(),
        OSError(errno.ENOSPC, "x"),
        InputError("x"),
        PromptDPError("x"),
    ),
    *(torch.AcceleratorError("x"), RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"),
]


def is_even(*, response, reference, capped):
    return float(len(response) % 2)


@dataclass
class Steps:
    """A double of `Descent` that keeps the gradient it is given."""

    coordinates: int
    noisy_mean: torch.Tensor | None = None

    def step(self, noisy_mean):
        self.noisy_mean = noisy_mean


def method(base, name):
    """A policy, its rollouts and an objective, as a run has them."""
    policy = Policy(base, moved(attach(base, 1, **LORA)))
    objective = {
        "grpo": lambda: GRPO(policy, is_even, Advantage.GROUP, kl_weight=0.04),
        "filtered": lambda: Filtered(policy, is_even),
        "gold": lambda: Gold(policy),
    }[name]()
    return Rollouts(policy, LocalEngine(base, "strict"), samples=4, temperature=1.5, cap=8), objective


def one_round(rollouts, objective, records):
    steps = Steps(rollouts.policy.adapter.coordinates)
    mechanism = Mechanism(len(records), len(records), 50, 0.5, 0.7, delta=0.01)
    private_round(1, 1, mechanism, Slots(records), Randomness.seeded(1), rollouts, objective, steps)
    return steps.noisy_mean


def others(base, name):
    """The round in which the bad record's slot is absent."""
    return one_round(*method(base, name), [None if record is BAD else record for record in RECORDS])


# --- what fails, and how: each breaks one line of the algorithm for the bad record alone ---


def prompt_fails(monkeypatch, error, rollouts, objective):
    original = Base.prompt_ids

    def rendered(self, question, template="{question}"):
        if question == BAD.question:
            raise error
        return original(self, question, template)

    monkeypatch.setattr(Base, "prompt_ids", rendered)
    return rollouts, objective


def reward_fails(monkeypatch, error, rollouts, objective):
    def reward(*, response, reference, capped):
        if reference == BAD.answer:
            raise error
        return is_even(response=response, reference=reference, capped=capped)

    return rollouts, replace(objective, reward=reward)


def gradient_fails(monkeypatch, error, rollouts, objective):
    class Broken:
        """A mutant that raises in the middle of one record's gradient, its first chunk differentiated."""

        rollouts_from = objective.rollouts_from

        def gradient(self, record, completions, stream):
            found = objective.gradient(record, completions, stream)
            if record is BAD:
                raise error
            return found

    return rollouts, Broken()


KINDS = [
    *((prompt_fails, name) for name in ("grpo", "filtered", "gold")),
    *((reward_fails, name) for name in ("grpo", "filtered")),
    *((gradient_fails, name) for name in ("grpo", "filtered", "gold")),
]


@pytest.mark.parametrize(("fails", "name"), KINDS)
def test_a_failure_on_one_record_is_its_zero_vector_and_the_others_are_bit_identical(
    tiny, monkeypatch, capfd, fails, name
):
    expected = others(tiny, name)
    broken = fails(monkeypatch, ValueError("MARK"), *method(tiny, name))
    assert torch.equal(one_round(*broken, RECORDS), expected)
    assert "".join(capfd.readouterr()) == ""


@pytest.mark.parametrize(("fails", "name"), KINDS)
def test_a_failure_of_the_machine_on_the_same_line_stops_the_round(tiny, monkeypatch, fails, name):
    broken = fails(monkeypatch, MemoryError(), *method(tiny, name))
    with pytest.raises(MemoryError):
        one_round(*broken, RECORDS)


def test_a_record_that_does_not_fail_counts(tiny):
    for name in ("grpo", "filtered", "gold"):
        assert not torch.equal(one_round(*method(tiny, name), RECORDS), others(tiny, name))


@pytest.mark.parametrize("fault", RECORDS_FAULTS)
def test_any_exception_of_a_computation_on_a_record_is_the_records(fault):
    def compute(value):
        raise fault(value)

    assert of_record(compute, "x") is None


@pytest.mark.parametrize("fault", MACHINES_FAULTS, ids=lambda fault: type(fault).__name__)
def test_what_no_record_is_to_blame_for_is_raised(fault):
    def compute():
        raise fault

    with pytest.raises(type(fault)):
        of_record(compute)


def test_a_real_failure_to_allocate_is_the_machines():
    with pytest.raises(RuntimeError, match="can't allocate memory"):
        of_record(torch.empty, 10**15)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_request_to_stop_is_no_failure(stop):
    def compute():
        raise stop

    with pytest.raises(stop):
        of_record(compute)


def test_what_does_not_fail_is_returned():
    assert of_record(divmod, 7, 2) == (3, 1)
    assert issubclass(PromptDPError, MACHINE)


@pytest.mark.parametrize("name", ["grpo", "filtered", "gold"])
def test_a_token_the_model_has_no_embedding_of_is_the_records_failure(tiny, monkeypatch, name):
    expected = others(tiny, name)
    original = Base.prompt_ids
    beyond = tiny.model.get_input_embeddings().num_embeddings

    def rendered(self, question, template="{question}"):
        ids = original(self, question, template)
        return [*ids, beyond] if question == BAD.question else ids

    monkeypatch.setattr(Base, "prompt_ids", rendered)
    assert torch.equal(one_round(*method(tiny, name), RECORDS), expected)


def test_a_solution_the_model_cannot_read_is_the_records_failure(tiny, monkeypatch):
    expected = others(tiny, "gold")
    original = Base.target_ids
    monkeypatch.setattr(
        Base, "target_ids", lambda self, text: [10**6] if text == BAD.solution else original(self, text)
    )
    assert torch.equal(one_round(*method(tiny, "gold"), RECORDS), expected)


@pytest.mark.parametrize("shape", [(1,), (), (2, 1)])
def test_a_gradient_of_another_shape_is_never_spread_over_the_coordinates(tiny, shape):
    rollouts, _ = method(tiny, "gold")

    class Scalar:
        rollouts_from = None

        def gradient(self, record, completions, stream):
            return torch.ones(shape)

    with pytest.raises(RuntimeError):
        one_round(rollouts, Scalar(), RECORDS)
