"""One round of Algorithm 1, on doubles that hand out known gradients and on the tiny model."""

import math
import random
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from scipy import stats

from promptdp.policy.local import LocalEngine
from promptdp.policy.lora import attach
from promptdp.privacy.clip import clip
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Randomness
from promptdp.privacy.sampler import poisson_draw
from promptdp.records.record import Record
from promptdp.records.slots import Slots
from promptdp.training import round as round_module
from promptdp.training.advantages import Advantage
from promptdp.training.descent import Descent
from promptdp.training.objectives import GRPO, Gold, Policy
from promptdp.training.rollouts import Rollouts
from promptdp.training.round import private_round
from tests.tiny import LORA, moved

ADAMW = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0}
P = 4000
COORDINATES = 1856
"""Of the tiny model's adapter."""
C = 0.7
RECORDS = [Record(id=str(i), question="q" * (i + 1), answer=str(i), solution=f"so {i}") for i in range(6)]


@dataclass
class Steps:
    """A double of `Descent` that keeps the gradients it is given."""

    coordinates: int = P
    taken: list[torch.Tensor] = field(default_factory=list)

    def step(self, noisy_mean):
        self.taken.append(noisy_mean)


@dataclass
class Known:
    """An objective whose gradients are known, by question."""

    gradients: dict[str, torch.Tensor]
    rollouts_from: None = None

    def gradient(self, record, rollouts, stream):
        return self.gradients[record.question]


class NoRollouts:
    def draw(self, source, batch, stream_of):
        assert source is None
        return {slot: [] for slot in batch}


def mechanism(slots=6, expected=6, sigma=0.5, clipping_norm=C):
    return Mechanism(slots, expected, 50, sigma, clipping_norm, delta=0.01)


def known_gradients(scale=1.0):
    generator = torch.Generator().manual_seed(5)
    return {r.question: scale * torch.randn(P, generator=generator, dtype=torch.float64) for r in RECORDS}


def one_round(objective, slots, mechanism, t=1, seed=1, steps=None, attempt=1):
    steps = steps or Steps()
    randomness = Randomness.seeded(seed)
    private_round(t, attempt, mechanism, slots, randomness, NoRollouts(), objective, steps)
    return steps.taken[-1] if steps.taken else None


# --- lines 7 to 9 on known gradients ---


def test_an_empty_round_still_adds_noise_over_all_coordinates_and_steps():
    noise = one_round(Known({}), Slots.fill(6, []), mechanism(expected=2))
    std = 0.5 * C / 2
    # Chi-square of P coordinates: 1 +- 5 sqrt(2/P) is a five-sigma band.
    assert float((noise**2).sum()) / (P * std**2) == pytest.approx(1, abs=5 * math.sqrt(2 / P))
    assert abs(float(noise.mean())) < 5 * std / math.sqrt(P)
    assert (noise != 0).all()


def test_the_divisor_is_public_and_not_the_realised_batch():
    gradients = known_gradients(scale=1e-6)
    few = Slots.fill(6, RECORDS[:2])
    total = sum(gradients[r.question] for r in RECORDS[:2])
    mean = one_round(Known(gradients), few, mechanism(sigma=0.0))
    torch.testing.assert_close(mean, total / 6, rtol=1e-14, atol=0)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e12])
@pytest.mark.parametrize("added", range(6))
def test_one_record_changes_the_sum_by_at_most_the_clipping_norm(scale, added):
    gradients = known_gradients()
    gradients[RECORDS[added].question] *= scale
    with_it = [*RECORDS]
    without = [None if i == added else r for i, r in enumerate(RECORDS)]
    a, b = (one_round(Known(gradients), Slots(s), mechanism()) for s in (with_it, without))
    change = float(torch.linalg.vector_norm(a - b)) * 6
    assert change <= C * (1 + 1e-10)
    assert change == pytest.approx(min(C, scale * float(known_gradients()[RECORDS[added].question].norm())))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_gradient_that_is_not_finite_counts_as_zero_and_harms_no_other(bad):
    gradients = known_gradients()
    gradients[RECORDS[2].question][17] = bad
    absent = Slots([None if i == 2 else r for i, r in enumerate(RECORDS)])
    present = one_round(Known(gradients), Slots(RECORDS), mechanism())
    assert torch.equal(present, one_round(Known(gradients), absent, mechanism()))


def test_an_absent_gradient_is_the_zero_vector():
    gradients = known_gradients() | {RECORDS[0].question: None}
    absent = Slots([None, *RECORDS[1:]])
    present = one_round(Known(gradients), Slots(RECORDS), mechanism())
    assert torch.equal(present, one_round(Known(gradients), absent, mechanism()))


def test_a_noisy_mean_that_is_not_finite_skips_the_step():
    # Normals beyond 2.6 overflow a standard deviation of 0.7e308.
    assert one_round(Known(known_gradients()), Slots(RECORDS), mechanism(sigma=1e308)) is None


def test_a_round_does_not_carry_gradients_into_the_next():
    steps = Steps()
    one_round(Known(known_gradients()), Slots(RECORDS), mechanism(), steps=steps)
    second = one_round(Known({}), Slots.fill(6, []), mechanism(), t=2, steps=steps)
    assert torch.equal(second, one_round(Known({}), Slots.fill(6, []), mechanism(), t=2))


def test_every_round_and_attempt_draws_fresh_noise():
    empty, drawn = Slots.fill(6, []), []
    for t, attempt in [(1, 1), (1, 2), (2, 1)]:
        drawn.append(one_round(Known({}), empty, mechanism(), t=t, attempt=attempt))
    assert not any(torch.equal(a, b) for i, a in enumerate(drawn) for b in drawn[:i])


def test_coins_are_drawn_for_absent_slots_too():
    slots = Slots([RECORDS[0], None, None, None, None, RECORDS[5]])
    gradients = {r.question: torch.zeros(P, dtype=torch.float64) for r in RECORDS}
    for index, record in enumerate(RECORDS):
        gradients[record.question][index] = 0.1
    half = mechanism(expected=3, sigma=0.0)
    for t in range(1, 9):
        drawn = poisson_draw(half, Randomness.seeded(1).stream(t, "coins"))
        got = one_round(Known(gradients), slots, half, t=t)
        assert set(got.nonzero().flatten().tolist()) == {0, 5} & set(drawn)


def reseed():
    random.seed(0), np.random.seed(0), torch.manual_seed(0)


class ReseedingEngine:
    """An engine that seeds every usual generator when it starts, and again at each call."""

    def __init__(self):
        reseed()

    def serve(self, adapter):
        reseed()

    def generate(self, prompts, samples, temperature, cap, streams=None):
        reseed()
        return [[[5, 0]] * samples for _ in prompts]


@dataclass
class FromReference(Known):
    """Known gradients of an objective that samples completions."""

    rollouts_from: str = "reference"


def reseeded_round(base, randomness, t=1):
    """One round whose engine reseeds; no adapter is asked for, so that the policy needs none."""
    rollouts = Rollouts(Policy(base, None), ReseedingEngine(), 2, 1.0, cap=4, isolation="strict")
    steps, objective = Steps(), FromReference(known_gradients())
    private_round(t, 1, mechanism(expected=3), Slots(RECORDS), randomness, rollouts, objective, steps)
    return steps.taken[0]


def test_an_engine_that_reseeds_the_process_moves_neither_coins_nor_noise(tiny):
    expected = one_round(Known(known_gradients()), Slots(RECORDS), mechanism(expected=3))
    assert torch.equal(reseeded_round(tiny, Randomness.seeded(1)), expected)


def test_a_process_that_starts_from_the_same_seeds_repeats_neither_coins_nor_noise(tiny):
    updates = []
    for _ in range(2):
        reseed()
        run = Randomness.from_os()
        updates += [reseeded_round(tiny, run, t) for t in (1, 2)]
    values = torch.cat(updates)
    assert len(values.unique()) == len(values)


def test_an_empty_round_at_the_papers_size_is_noise_of_the_stated_scale():
    p, math_set = 4_616_192, Mechanism(6988, 128, 50, 0.4842404738068581, 0.05536, 1 / 69880)
    steps = Steps(p)
    nobody = Slots.fill(6988, [])
    private_round(1, 1, math_set, nobody, Randomness.from_os(), NoRollouts(), Known({}), steps)
    statistic = float((steps.taken[0] * 128 / (0.4842404738068581 * 0.05536)).square().sum())
    low, high = stats.chi2.ppf(5e-7, p), stats.chi2.isf(5e-7, p)
    assert low < statistic < high
    assert not low < statistic * 0.995**2 < high and not low < statistic * 1.005**2 < high


def test_after_a_round_with_records_an_empty_round_is_noise_alone(tiny):
    _, rollouts, objective = setting(tiny)
    steps, randomness = Steps(COORDINATES), Randomness.from_os()
    for t, records in enumerate((RECORDS, []), start=1):
        slots = Slots.fill(6, records)
        private_round(t, 1, mechanism(sigma=0.02), slots, randomness, rollouts, objective, steps)
    std = 0.02 * C / 6
    first, second = (float((update / std).square().sum()) for update in steps.taken)
    low, high = stats.chi2.ppf(5e-7, COORDINATES), stats.chi2.isf(5e-7, COORDINATES)
    assert low < second < high < first


def test_coordinates_that_no_loss_reaches_get_their_noise_too(tiny):
    """An adapter whose second layer is bypassed: half its tensors have no gradient."""
    policy, rollouts, objective = setting(tiny)
    policy.adapter.model.base_model.model.model.layers[1].forward = lambda hidden, *_, **__: hidden
    steps = Steps(COORDINATES)
    private_round(1, 1, mechanism(), Slots(RECORDS), Randomness.from_os(), rollouts, objective, steps)
    idle = torch.cat(
        [
            torch.full((parameter.numel(),), ".layers.1." in name)
            for name, parameter in zip(policy.adapter.names, policy.adapter.parameters, strict=True)
        ]
    )
    assert 2 * idle.sum() == COORDINATES
    assert all(gradient[~idle].any() and not gradient[idle].any() for _, gradient in objective.seen.values())
    statistic = float((steps.taken[0][idle] * 6 / (0.5 * C)).square().sum())
    size = int(idle.sum())
    assert stats.chi2.ppf(5e-7, size) < statistic < stats.chi2.isf(5e-7, size)


# --- the whole round on the tiny model ---


@dataclass
class Watched:
    """An objective that notes each record's rollouts and gradient."""

    inner: GRPO
    seen: dict = field(default_factory=dict)
    rollouts_from: str = "policy"

    def gradient(self, record, rollouts, stream):
        gradient = self.inner.gradient(record, rollouts, stream)
        self.seen[record.id] = (rollouts, gradient)
        return gradient


def is_short(*, response, reference, capped):
    return float(len(response) < 5)


def setting(base, lora=LORA, advantage=Advantage.GROUP, start=moved, isolation="strict"):
    policy = Policy(base, start(attach(base, 1, **lora)))
    rollouts = Rollouts(policy, LocalEngine(base, isolation), 4, 1.5, cap=8, isolation=isolation)
    return policy, rollouts, Watched(GRPO(policy, is_short, advantage, kl_weight=0.04))


def test_a_records_tokens_and_gradient_are_bit_identical_in_any_company(tiny):
    def seen(records):
        _, rollouts, objective = setting(tiny)
        private_round(
            1,
            1,
            mechanism(sigma=0.0),
            Slots(records),
            Randomness.seeded(1),
            rollouts,
            objective,
            Steps(COORDINATES),
        )
        return objective.seen

    everyone = seen(RECORDS)
    assert [len(rollouts) for rollouts, _ in everyone.values()] == [4] * 6
    longer = [r if i == 3 else Record(r.id, r.question * 5, r.answer) for i, r in enumerate(RECORDS)]
    alone = [r if i == 3 else None for i, r in enumerate(RECORDS)]
    for company in (longer, alone):
        tokens, gradient = seen(company)["3"]
        assert tokens == everyone["3"][0]
        assert gradient.norm() > 0 and torch.equal(gradient, everyone["3"][1])


@pytest.mark.parametrize("dropout", [0.0, 0.05])
def test_the_zero_advantage_controls_first_round_is_pure_noise(tiny, dropout):
    lora = LORA | {"dropout": dropout}
    policy, rollouts, objective = setting(tiny, lora, Advantage.ZERO, start=lambda adapter: adapter)
    steps, p = Steps(policy.adapter.coordinates), policy.adapter.coordinates
    private_round(1, 1, mechanism(), Slots(RECORDS), Randomness.seeded(1), rollouts, objective, steps)
    assert len(objective.seen) == 6
    assert torch.equal(steps.taken[0], one_round(Known({}), Slots.fill(6, []), mechanism(), steps=Steps(p)))


@pytest.mark.parametrize("reward", [0.0, 1.0, 0.35])
def test_constant_reward_groups_are_kept_and_every_drawn_present_slot_is_clipped_once(
    tiny, monkeypatch, reward
):
    clipped = []
    monkeypatch.setattr(round_module, "clip", lambda g, norm: clipped.append(g) or clip(g, norm))
    policy, rollouts, objective = setting(tiny)
    objective.inner = GRPO(policy, lambda **_: reward, Advantage.GROUP, kl_weight=0.04)
    half, slots, steps = mechanism(expected=3), Slots([*RECORDS[:4], None, RECORDS[5]]), Steps(COORDINATES)
    present = 0
    for t in (1, 2, 3):
        drawn = poisson_draw(half, Randomness.seeded(1).stream(t, "coins"))
        present += len(set(drawn) - {4})
        private_round(t, 1, half, slots, Randomness.seeded(1), rollouts, objective, steps)
    assert len(clipped) == present > 0
    assert all(gradient.norm() > 0 for gradient in clipped)


def test_an_over_long_prompt_contributes_zero_and_harms_no_other(tiny):
    long = Record("long", "w" * 90, "1")
    _, rollouts, objective = setting(tiny)
    steps = Steps(COORDINATES)
    private_round(
        1, 1, mechanism(), Slots([*RECORDS[:5], long]), Randomness.seeded(1), rollouts, objective, steps
    )
    assert objective.seen["long"] == ([], None)
    _, rollouts, objective = setting(tiny)
    private_round(
        1, 1, mechanism(), Slots([*RECORDS[:5], None]), Randomness.seeded(1), rollouts, objective, steps
    )
    assert torch.equal(steps.taken[0], steps.taken[1])


def test_without_noise_and_clipping_a_round_is_a_flat_step_over_all_sequences(exact):
    policy = Policy(exact, moved(attach(exact, 1, **LORA)))
    descent = Descent(policy.adapter, 0.1, **ADAMW | {"weight_decay": 0.01})
    flat = moved(attach(exact, 1, **LORA))
    adamw = torch.optim.AdamW(flat.parameters, lr=0.1, weight_decay=0.01)
    everyone = mechanism(sigma=0.0, clipping_norm=math.inf)
    for t in (1, 2, 3):
        private_round(
            t, 1, everyone, Slots(RECORDS), Randomness.seeded(1), NoRollouts(), Gold(policy), descent
        )
        losses = []
        for record in RECORDS:
            prompt, target = exact.prompt_ids(record.question), exact.target_ids(record.solution)
            logits = flat.model(torch.tensor([[*prompt, *target]])).logits[0, len(prompt) - 1 : -1]
            losses.append(torch.nn.functional.cross_entropy(logits, torch.tensor(target)))
        adamw.zero_grad()
        torch.stack(losses).mean().backward()
        adamw.step()
        torch.testing.assert_close(policy.adapter.theta, flat.theta, rtol=0, atol=1e-12)


def test_after_one_private_round_every_tensor_has_moved(tiny):
    policy, rollouts, objective = setting(tiny, start=lambda adapter: adapter)
    before = policy.adapter.theta
    descent = Descent(policy.adapter, 0.1, **ADAMW)
    private_round(1, 1, mechanism(), Slots.fill(6, []), Randomness.seeded(1), rollouts, objective, descent)
    assert (policy.adapter.theta != before).all()
    assert torch.equal(policy.adapter.theta, descent.theta)


def test_a_restored_descent_goes_on_as_if_never_stopped(tiny):
    gradients = torch.randn(4, COORDINATES, generator=torch.Generator().manual_seed(1))
    whole, first, second = (Descent(attach(tiny, 1, **LORA), 0.1, **ADAMW) for _ in range(3))
    for gradient in gradients:
        whole.step(gradient)
    first.step(gradients[0])
    first.step(gradients[1])
    second.restore({name: tensor.clone() for name, tensor in first.state().items()})
    second.step(gradients[2])
    second.step(gradients[3])
    assert torch.equal(whole.theta, second.theta)
