"""What one record contributes before clipping."""

from dataclasses import replace

import pytest
import torch

from promptdp.policy.base import load_base
from promptdp.policy.lora import attach
from promptdp.privacy.randomness import Randomness
from promptdp.records.record import Record
from promptdp.study import Rollouts
from promptdp.training.advantages import Advantage
from promptdp.training.objectives import GRPO, Filtered, Gold, Policy
from tests.tiny import LORA, moved, tokens

RECORD = Record(id="a", question="1+1?", answer="2", solution="so 2")
ROLLOUTS = [*tokens("2", "no+idea", "it+is+2"), [7] * 9, *tokens("2", "x", "22", "abcdefg")]
BETA = 0.3


def says_two(*, response, reference, capped):
    return float(reference in response and not capped)


def stream(slot=0):
    return Randomness.seeded(2).stream(1, "gradient", slot)


def policy_of(base, lora=LORA, **settings):
    return Policy(base, moved(attach(base, 1, **lora)), **settings)


def grpo(policy, reward=says_two, advantage=Advantage.GROUP):
    return GRPO(policy, reward, advantage, kl_weight=BETA)


def logprobs_one_by_one(model, base, completion, temperature=1.0):
    prompt = base.prompt_ids(RECORD.question)
    logits = model(torch.tensor([[*prompt, *completion]])).logits[0, len(prompt) - 1 : -1]
    return (logits / temperature).log_softmax(-1)[range(len(completion)), completion]


def test_the_grpo_gradient_is_that_of_equation_7(exact):
    policy = policy_of(exact)
    rewards = torch.tensor(
        [says_two(response=exact.text(y), reference="2", capped=exact.capped(y)) for y in ROLLOUTS]
    ).double()
    assert 0 < rewards.mean() < 1
    scores = (rewards - rewards.mean()) / (rewards.std(correction=1) + 1e-4)
    surrogate = 0.0
    for completion, score in zip(ROLLOUTS, scores, strict=True):
        u = logprobs_one_by_one(policy.adapter.model, exact, completion)
        with torch.no_grad():
            v = logprobs_one_by_one(exact.model, exact, completion)
            # d/du of -(exp(u - sg(u)) A - beta (exp(v - u) - (v - u) - 1)), by hand.
            weight = -(score - BETA * (1 - torch.exp(v - u)))
        surrogate = surrogate + (weight * u).sum() / len(completion) / len(ROLLOUTS)
    expected = policy.adapter.gradient(surrogate)
    got = grpo(policy).gradient(RECORD, ROLLOUTS, stream())
    torch.testing.assert_close(got, expected, rtol=1e-9, atol=1e-12)


def test_the_gold_gradient_agrees_with_finite_differences(exact):
    policy = policy_of(exact)
    target = exact.target_ids("so 2")
    assert target[-1] == 0
    gradient = Gold(policy).gradient(RECORD, [], stream())
    theta = policy.adapter.theta
    direction = torch.randn(len(theta), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    losses = []
    for step in (1e-6, -1e-6):
        policy.adapter.assign(theta + step * direction)
        with torch.no_grad():
            losses.append(-logprobs_one_by_one(policy.adapter.model, exact, target).mean())
    slope = float((losses[0] - losses[1]) / 2e-6)
    assert slope == pytest.approx(float(gradient @ direction), rel=1e-6)


def test_filtered_is_the_mean_over_the_accepted_alone(exact):
    policy = policy_of(exact)
    accepted = [
        y for y in ROLLOUTS if says_two(response=exact.text(y), reference="2", capped=exact.capped(y))
    ]
    assert 0 < len(accepted) < len(ROLLOUTS)
    loss = sum(-logprobs_one_by_one(policy.adapter.model, exact, y).mean() for y in accepted)
    expected = policy.adapter.gradient(loss / len(accepted))
    got = Filtered(policy, says_two).gradient(RECORD, ROLLOUTS, stream())
    torch.testing.assert_close(got, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("chunk", [1, 2, 4, 8])
def test_chunks_change_memory_only(exact, chunk):
    whole, chunked = (
        grpo(policy_of(exact, chunk=size)).gradient(RECORD, ROLLOUTS, stream()) for size in (None, chunk)
    )
    torch.testing.assert_close(chunked, whole, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dropout", [0.0, 0.05])
@pytest.mark.parametrize("advantage", [Advantage.ZERO, Advantage.GROUP])
def test_at_theta_1_the_penalty_and_its_gradient_are_exactly_zero(tiny, dropout, advantage):
    policy = Policy(tiny, attach(tiny, 1, **LORA | {"dropout": dropout}))
    constant = grpo(policy, reward=lambda **_: 1.0, advantage=advantage)
    assert not constant.gradient(RECORD, ROLLOUTS, stream()).any()


def test_all_correct_and_all_wrong_groups_keep_the_same_penalty_gradient(tiny):
    policy = policy_of(tiny)
    right, wrong, control = (
        grpo(policy, lambda value=value, **_: value, advantage).gradient(RECORD, ROLLOUTS, stream())
        for value, advantage in [(1.0, Advantage.GROUP), (0.0, Advantage.GROUP), (1.0, Advantage.ZERO)]
    )
    assert right.norm() > 0
    assert torch.equal(right, wrong) and torch.equal(right, control)


def test_at_theta_1_the_bases_own_dropout_moves_no_penalty(tiny_folder):
    """A base that asks for dropout in its attention: the policy would differ from the reference by it."""
    base = load_base(tiny_folder)
    for layer in base.model.model.layers:
        layer.self_attn.attention_dropout = 0.5
    policy = Policy(base, attach(base, 1, **LORA | {"dropout": 0.05}))
    constant = grpo(policy, reward=lambda **_: 1.0)
    assert not constant.gradient(RECORD, ROLLOUTS, stream()).any()


def test_the_logprob_temperature_divides_the_logits_inside_the_loss(exact):
    gradients = {}
    for temperature in (1.0, 0.7):
        policy = policy_of(exact, logprob_temperature=temperature)
        target = exact.target_ids(RECORD.solution)
        loss = -logprobs_one_by_one(policy.adapter.model, exact, target, temperature).mean()
        gradients[temperature] = Gold(policy).gradient(RECORD, [], stream())
        torch.testing.assert_close(
            gradients[temperature], policy.adapter.gradient(loss), rtol=1e-9, atol=1e-12
        )
    assert (gradients[1.0] - gradients[0.7]).norm() > 1e-3 * gradients[1.0].norm()


def test_by_default_the_loss_reads_unscaled_logits_of_rollouts_at_0_7():
    settings = Rollouts()
    assert (settings.logprob_temperature, settings.temperature) == (1.0, 0.7)
    assert Policy.logprob_temperature == 1.0


def test_another_record_between_two_calls_changes_nothing(tiny):
    objective = grpo(policy_of(tiny))
    other = replace(RECORD, question="a much longer question", answer="x")
    before = objective.gradient(RECORD, ROLLOUTS, stream())
    assert not torch.equal(objective.gradient(other, ROLLOUTS[::-1] * 2, stream(1)), before)
    assert torch.equal(objective.gradient(RECORD, ROLLOUTS, stream()), before)


def test_dropout_comes_from_the_records_own_stream(tiny):
    objective = grpo(policy_of(tiny, LORA | {"dropout": 0.3}))
    torch.manual_seed(1)
    first = objective.gradient(RECORD, ROLLOUTS, stream())
    state = torch.get_rng_state()
    torch.manual_seed(2)
    assert torch.equal(objective.gradient(RECORD, ROLLOUTS, stream()), first)
    assert not torch.equal(objective.gradient(RECORD, ROLLOUTS, stream(1)), first)
    torch.manual_seed(1)
    assert torch.equal(torch.get_rng_state(), state), "the process's generator was moved"


@pytest.mark.parametrize(
    ("objective", "record", "rollouts"),
    [
        (lambda p: grpo(p), RECORD, []),
        (lambda p: grpo(p, lambda response, **_: None if response == "x" else 1.0), RECORD, ROLLOUTS),
        (lambda p: Filtered(p, lambda **_: 0.0), RECORD, ROLLOUTS),
        (lambda p: Filtered(p, lambda response, **_: None if response == "x" else 1.0), RECORD, ROLLOUTS),
        (lambda p: Filtered(p, says_two), RECORD, []),
        (lambda p: Gold(p), replace(RECORD, solution="long" * 30), []),
        (lambda p: Gold(p), replace(RECORD, solution=None), []),
    ],
)
def test_a_failure_of_one_record_stands_for_the_zero_vector(tiny, objective, record, rollouts):
    assert objective(policy_of(tiny)).gradient(record, rollouts, stream()) is None
