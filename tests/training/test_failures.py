"""What fails on one record leaves it the zero vector and harms no other; what fails on us stops the round."""

import errno
import io
from dataclasses import dataclass, replace

import jinja2
import numpy as np
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
from promptdp.training.failures import of_record
from promptdp.training.objectives import GRPO, Filtered, Gold, Policy
from promptdp.training.rollouts import Rollouts
from promptdp.training.round import private_round
from tests.tiny import LORA, moved

RECORDS = [Record(id=str(i), question="q" * (i + 1), answer=str(i), solution=f"so {i}") for i in range(5)]
BAD = RECORDS[2]
RECORDS_FAULTS = [
    *(ValueError("x"), UnicodeDecodeError("utf-8", b"x", 0, 1, "x"), KeyError("x"), IndexError("x")),
    *(ZeroDivisionError("x"), OverflowError("x"), TypeError("x")),
    *(jinja2.TemplateError("x"), jinja2.UndefinedError("x")),
    # The text of a message decides nothing.
    *(ValueError("std::bad_alloc"), KeyError("CUDA error: out of memory")),
]
OTHER_FAULTS = [
    *(MemoryError(), np._core._exceptions._ArrayMemoryError((1,), np.dtype("f8"))),
    *(
        OSError(errno.ENOSPC, "x"),
        TimeoutError("x"),
        io.UnsupportedOperation("x"),
        jinja2.TemplateNotFound("x"),
    ),
    *(torch.OutOfMemoryError(), torch.AcceleratorError("x"), torch.linalg.LinAlgError("x")),
    *(InputError("x"), PromptDPError("x")),
    *(ImportError("libgomp: cannot allocate memory in static TLS block"), ModuleNotFoundError("x")),
    *(RecursionError("x"), NotImplementedError("x"), SystemError("x"), NameError("x"), AttributeError("x")),
    *(AssertionError("x"), BufferError("x"), EOFError("x"), StopIteration(), Exception("x")),
    *map(
        RuntimeError,
        [
            "x",
            "std::bad_alloc",
            "could not execute a primitive",
            "can't start new thread",
            "unable to mmap 123 bytes",
            "CUDA driver error: out of memory",
            "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
            "cublasLt matmul failed",
            "MPS backend out of memory",
            "[enforce fail] DefaultCPUAllocator: can't allocate memory",
        ],
    ),
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


def method(base, name, isolation="strict"):
    """A policy, its rollouts and an objective, as a run has them."""
    policy = Policy(base, moved(attach(base, 1, **LORA)))
    objective = {
        "grpo": lambda: GRPO(policy, is_even, Advantage.GROUP, kl_weight=0.04),
        "filtered": lambda: Filtered(policy, is_even),
        "gold": lambda: Gold(policy),
    }[name]()
    return Rollouts(policy, LocalEngine(base, isolation), 4, 1.5, cap=8, isolation=isolation), objective


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


def decoding_fails(monkeypatch, error, rollouts, objective):
    original, bad = LocalEngine.decode, rollouts.policy.prompt(BAD)

    def decode(self, prompts, *rest):
        if bad in list(prompts):
            raise error
        return original(self, prompts, *rest)

    monkeypatch.setattr(LocalEngine, "decode", decode)
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
    *((decoding_fails, name) for name in ("grpo", "filtered")),
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


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("x")], ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(("fails", "name"), KINDS)
def test_a_failure_of_the_machine_on_the_same_line_stops_the_round(tiny, monkeypatch, fails, name, error):
    broken = fails(monkeypatch, error, *method(tiny, name))
    with pytest.raises(type(error)):
        one_round(*broken, RECORDS)


@pytest.mark.parametrize("error", RECORDS_FAULTS, ids=repr)
def test_decoding_that_fails_by_a_records_fault_stops_nobody(tiny, monkeypatch, error):
    expected = others(tiny, "grpo")
    broken = decoding_fails(monkeypatch, error, *method(tiny, "grpo"))
    assert torch.equal(one_round(*broken, RECORDS), expected)


def test_records_decoded_together_fail_together(tiny, monkeypatch):
    """Outside the guarantee, where a failure has no single record to be put down to."""
    broken = decoding_fails(monkeypatch, ValueError("x"), *method(tiny, "grpo", "packed"))
    with pytest.raises(ValueError, match="x"):
        one_round(*broken, RECORDS)


def test_a_record_that_does_not_fail_counts(tiny):
    for name in ("grpo", "filtered", "gold"):
        assert not torch.equal(one_round(*method(tiny, name), RECORDS), others(tiny, name))


@pytest.mark.parametrize("fault", RECORDS_FAULTS, ids=repr)
def test_what_a_computation_on_a_text_can_raise_is_the_records(fault):
    def compute():
        raise fault

    assert of_record(compute) is None


@pytest.mark.parametrize("fault", OTHER_FAULTS, ids=repr)
def test_every_other_exception_is_raised(fault):
    def compute():
        raise fault

    with pytest.raises(type(fault)):
        of_record(compute)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("fault", [MemoryError(), OSError("x"), RuntimeError("std::bad_alloc")], ids=repr)
def test_a_failure_of_the_machine_that_a_library_tells_as_another_is_raised(fault, named):
    def compute():
        try:
            raise fault
        except Exception as error:
            if named:
                raise ValueError("unable to create a tensor") from error
            raise ValueError("unable to create a tensor")  # noqa: B904

    with pytest.raises(ValueError, match="unable"):
        of_record(compute)


def test_a_failure_that_a_library_meets_on_its_way_clears_no_record():
    def compute():
        try:
            return {}["x"]
        except KeyError as error:
            raise ValueError("x") from error

    assert of_record(compute) is None


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
