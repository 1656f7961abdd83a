"""Assumption (A2) on the path that runs: a record's tokens and gradient are its own, to the last bit.

Whole rounds with real rollouts, on a tiny Qwen2, Llama and Gemma 3 (the last with a sliding window, so that
its gradient takes the padded layout and its decoding goes through transformers). Then the layouts of the
gradient against a plain loop over completions, written here without the library's log-probabilities.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import torch

from promptdp.policy.local import LocalEngine
from promptdp.policy.lora import Adapter, attach
from promptdp.policy.performance import Performance
from promptdp.privacy.randomness import Randomness
from promptdp.records.record import Record
from promptdp.records.slots import Slots
from promptdp.training import objectives
from promptdp.training import run as run_module
from promptdp.training.advantages import Advantage
from promptdp.training.objectives import GRPO, Filtered, Gold, Policy
from promptdp.training.rollouts import Rollouts
from promptdp.training.round import private_round
from tests.tiny import LORA, moved, tokens
from tests.training.test_round import Steps, mechanism

ARCHITECTURES = ["qwen2", "llama", "gemma3"]
on_every_architecture = pytest.mark.parametrize("family", ARCHITECTURES, indirect=True)
exactly_on_every_architecture = pytest.mark.parametrize("exact", ARCHITECTURES, indirect=True)
SAMPLES, CAP, BETA = 4, 8, 0.3
TARGET = Record("target", "three+4?", "7", solution="it is 7")
OTHERS = [Record(str(i), "x" * (i + 1), str(i), solution=f"so {i}") for i in range(3)]
LONG = [replace(other, question="y" * 50, solution="z" * 28) for other in OTHERS]
A, B, C = OTHERS
COMPANIES = {
    "alone": [None, None, TARGET, None],
    "in company": [A, B, TARGET, C],
    "in a company ten times as long": [LONG[0], LONG[1], TARGET, LONG[2]],
    "in company in another order": [C, A, TARGET, B],
    "after one other": [None, C, TARGET, None],
}


def half_are_short(response, reference, capped):
    return float(len(response) < 6)


METHODS = {
    "grpo": lambda policy: GRPO(policy, half_are_short, Advantage.GROUP, BETA),
    "filtered": lambda policy: Filtered(policy, half_are_short),
    "gold": Gold,
}


def policy_of(base, dropout=0.0, checkpointing=False, chunk=None, kind=Policy):
    adapter = moved(attach(base, 1, **LORA | {"dropout": dropout}))
    if checkpointing:
        adapter.checkpoint_layers()
    return kind(base, adapter, chunk=chunk)


@dataclass
class Watched:
    """An objective that notes each record's rollouts and gradient."""

    inner: Any
    seen: dict[str, Any] = field(default_factory=dict)

    @property
    def rollouts_from(self):
        return self.inner.rollouts_from

    def gradient(self, record, rollouts, stream):
        gradient = self.inner.gradient(record, rollouts, stream)
        self.seen[record.id] = (rollouts, gradient)
        return gradient


def contributed(policy, records, objective, engine=None):
    """The target's tokens and gradient in a round that draws every slot."""
    watched = Watched(objective)
    rollouts = Rollouts(policy, engine or LocalEngine(policy.base, "strict"), SAMPLES, 1.5, CAP, "strict")
    steps = Steps(policy.adapter.coordinates)
    everyone = mechanism(slots=len(records), expected=len(records))
    private_round(1, 1, everyone, Slots(records), Randomness.seeded(1), rollouts, watched, steps)
    assert len(watched.seen) == sum(record is not None for record in records)
    return watched.seen["target"]


def is_isolated(make_policy, make_objective, make_engine=lambda base: None):
    """Whether the target contributes the same tokens and the same bits of gradient in every company."""
    results = []
    for records in COMPANIES.values():
        policy = make_policy()
        results.append(contributed(policy, records, make_objective(policy), make_engine(policy.base)))
    assert results[0][1].norm() > 0
    return all(same(results[0], other) for other in results[1:])


def same(one, other):
    """Whether two contributions have the same tokens and the same bits of gradient."""
    return one[0] == other[0] and torch.equal(one[1], other[1])


@on_every_architecture
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("checkpointing", [False, True])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_a_records_tokens_and_gradient_are_the_same_bits_in_any_company(
    family, method, checkpointing, dropout
):
    assert is_isolated(lambda: policy_of(family, dropout, checkpointing), METHODS[method])


# --- doubles that break isolation, which the check above must see ---


class DropoutOfTheProcess(Policy):
    """Dropout from the process's generator, which earlier records have moved."""

    def dropout_from(self, stream):
        self.adapter.drop_inputs(True)
        return torch.enable_grad()


@dataclass
class TokenMean:
    """A loss divided by the number of tokens that the round has seen, as trainers of batches do."""

    inner: Any
    tokens: int = 0
    rollouts_from: str = "policy"

    def gradient(self, record, rollouts, stream):
        self.tokens += sum(map(len, rollouts))
        return self.inner.gradient(record, rollouts, stream) / self.tokens


class OneStream(LocalEngine):
    """An engine with one stream for all its requests."""

    stream = None

    def generate(self, prompts, samples, temperature, cap, streams=None):
        self.stream = self.stream or streams[0]
        return super().generate(prompts, samples, temperature, cap, [self.stream] * len(prompts))


@pytest.mark.parametrize(
    ("kind", "make_objective", "make_engine"),
    [
        (DropoutOfTheProcess, METHODS["gold"], lambda base: None),
        (Policy, lambda policy: TokenMean(METHODS["grpo"](policy)), lambda base: None),
        (Policy, METHODS["grpo"], lambda base: OneStream(base, "strict")),
    ],
)
def test_a_coupling_of_records_does_not_pass(tiny, kind, make_objective, make_engine):
    assert not is_isolated(lambda: policy_of(tiny, 0.3, kind=kind), make_objective, make_engine)


# --- settings of performance ---


@on_every_architecture
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_checkpointing_changes_no_bit(family, method, dropout):
    plain, again = (
        contributed(policy := policy_of(family, dropout, on), COMPANIES["alone"], METHODS[method](policy))
        for on in (False, True)
    )
    assert same(plain, again)


def chunked(base, chunk, dropout=0.0):
    policy = policy_of(base, dropout, chunk=chunk)
    return contributed(policy, COMPANIES["in company"], METHODS["grpo"](policy))[1]


@on_every_architecture
def test_a_chunk_that_holds_the_group_changes_no_bit_and_a_smaller_one_rounds(family):
    whole = chunked(family, None)
    for chunk in (SAMPLES, 2 * SAMPLES):
        assert torch.equal(chunked(family, chunk), whole)
    for chunk in (1, 2, 3):
        assert (chunked(family, chunk) - whole).norm() <= 1e-5 * whole.norm()


@exactly_on_every_architecture
def test_in_binary64_chunks_agree_to_ten_digits(exact):
    whole = chunked(exact, None)
    for chunk in (1, 2, 3):
        torch.testing.assert_close(chunked(exact, chunk), whole, rtol=1e-10, atol=1e-12)


@pytest.fixture
def threads():
    """Sets the number of threads, and puts back one at the end."""
    yield torch.set_num_threads
    torch.set_num_threads(1)


@pytest.mark.parametrize(
    ("family", "method"), [("qwen2", "grpo"), ("llama", "gold"), ("gemma3", "gold")], indirect=["family"]
)
def test_two_threads_give_the_bits_of_one_at_this_size(family, method, threads):
    results = []
    for count in (1, 2):
        threads(count)
        policy = policy_of(family, dropout=0.3)
        results.append(contributed(policy, COMPANIES["alone"], METHODS[method](policy)))
    assert same(*results)


def test_a_training_run_pins_one_thread_at_any_size(run, monkeypatch, threads):
    seen = []
    monkeypatch.setattr(run_module, "private_round", lambda *_, **__: seen.append(torch.get_num_threads()))
    threads(2)
    run.arm = "free"
    run()
    assert seen == [1] * 4


@pytest.mark.parametrize("on", [False, True])
def test_a_training_run_recomputes_layers_when_asked(run, monkeypatch, on):
    recomputing = []
    monkeypatch.setattr(Adapter, "checkpoint_layers", lambda self: recomputing.append(self))
    monkeypatch.setattr(run_module, "private_round", lambda *_, **__: None)
    run.arm = "free"
    run(performance=Performance(gradient_checkpointing=on))
    assert len(recomputing) == on


# --- the layouts of the gradient against a plain loop ---

GROUPS = {
    "ragged": [*tokens("7", "no+idea", "it+is+7", "x")],
    "capped": [[9] * CAP, *tokens("7"), [8] * CAP, *tokens("seven")],
    "one completion": tokens("seven"),
    "a completion of the stop token alone": [[0], *tokens("abc", "it+is+7")],
    "one completion of one token": [[0]],
}


def plain_gradient(policy, method, group, seed=None):
    """The record's gradient by equation (7), or of a mean likelihood: a loop over completions, each in a
    forward pass of its own, with the derivative by each token's log-probability written out.

    `seed` seeds the dropout, whose masks are drawn completion by completion.
    """
    base, adapter = policy.base, policy.adapter
    rewards = torch.tensor([half_are_short(base.text(y), "7", base.capped(y)) for y in group]).double()
    if method == "gold":
        group, rewards = [base.target_ids(TARGET.solution)], torch.ones(1)
    if method == "filtered":
        group = [y for y, reward in zip(group, rewards, strict=True) if reward]
    spread = rewards.std(correction=1) if len(rewards) > 1 else 0.0
    scores = (rewards - rewards.mean()) / (spread + 1e-4)
    prompt = base.prompt_ids(TARGET.question)

    def logprobs(model, y):
        logits = model(torch.tensor([[*prompt, *y]])).logits[0, len(prompt) - 1 : -1]
        return logits.log_softmax(-1)[range(len(y)), y]

    total = 0.0
    with torch.random.fork_rng():
        if seed is not None:
            torch.manual_seed(seed)
            adapter.drop_inputs(True)
        for y, score in zip(group, scores, strict=False):
            u = logprobs(adapter.model, y)
            weight = -torch.ones_like(u)
            if method == "grpo":
                with torch.no_grad():
                    weight = -(score.to(u) - BETA * (1 - torch.exp(logprobs(base.model, y) - u)))
            loss = (weight * u).sum() / len(y) / len(group)
            parts = torch.autograd.grad(loss, adapter.parameters)
            total = total + torch.cat([part.flatten() for part in parts])
        adapter.drop_inputs(False)
    return total


def stream():
    return Randomness.seeded(2).stream(1, "gradient", 2)


def layouts_differ(base, monkeypatch, method, group):
    """The largest relative difference between the plain loop and any way of the library."""
    policy = policy_of(base)
    want = plain_gradient(policy, method, group)
    assert want.norm() > 0
    largest = 0.0
    for padded in (False, True):
        with monkeypatch.context() as patch:
            if padded:
                patch.setattr(objectives, "can_share_prefix", lambda model: False)
            for checkpointing in (False, True):
                policy = policy_of(base, checkpointing=checkpointing)
                got = METHODS[method](policy).gradient(TARGET, group, stream())
                largest = max(largest, float((got - want).norm() / want.norm()))
    return largest


CASES = [
    (method, name)
    for method in METHODS
    for name in GROUPS
    if method != "gold" or name == "ragged"  # gold reads no rollouts
]


@exactly_on_every_architecture
@pytest.mark.parametrize(("method", "name"), CASES)
def test_both_layouts_are_the_plain_loop_in_binary64(exact, monkeypatch, method, name):
    assert layouts_differ(exact, monkeypatch, method, GROUPS[name]) < 1e-10


@on_every_architecture
@pytest.mark.parametrize("method", METHODS)
def test_both_layouts_are_the_plain_loop_in_float32(family, monkeypatch, method):
    assert layouts_differ(family, monkeypatch, method, GROUPS["ragged"]) < 1e-5


@exactly_on_every_architecture
@pytest.mark.parametrize(("method", "name"), CASES)
def test_with_the_same_dropout_masks_the_gradient_is_the_plain_loops(exact, method, name):
    """Masks are drawn for a whole chunk: completion by completion where a chunk holds one."""
    policy, group = policy_of(exact, 0.3, chunk=1), GROUPS[name]
    want, other = (plain_gradient(policy, method, group, seed=stream().seed() + i) for i in (0, 1))
    assert (want - other).norm() > 1e-2 * want.norm()
    for way in (policy, policy_of(exact, 0.3, checkpointing=True, chunk=1)):
        got = METHODS[method](way).gradient(TARGET, group, stream())
        assert (got - want).norm() < 1e-10 * want.norm()


def test_a_loss_over_the_tokens_of_the_group_is_not_the_plain_loops(tiny, monkeypatch):
    """The double divides by the tokens of the whole group instead of by each completion's own."""

    def over_all(u, v, advantage, kl_weight):
        k3 = torch.exp(v - u) - (v - u) - 1
        return -(torch.exp(u - u.detach()) * advantage.to(u) - kl_weight * k3).sum() / 8

    monkeypatch.setattr(objectives, "completion_loss", over_all)
    assert layouts_differ(tiny, monkeypatch, "grpo", GROUPS["ragged"]) > 1e-2
