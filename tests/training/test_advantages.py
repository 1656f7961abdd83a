"""Equation (2) and its variants."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from promptdp.privacy.randomness import Randomness
from promptdp.training.advantages import Advantage, advantages

REWARDS = st.lists(st.sampled_from([0.0, 1.0, 0.35]), min_size=1, max_size=12)


def stream(slot=0):
    return Randomness.seeded(1).stream(1, "gradient", slot)


@pytest.mark.parametrize("kind", Advantage)
@pytest.mark.parametrize("reward", [0.0, 1.0, 0.35, 0.1])
@pytest.mark.parametrize("size", [1, 6, 7, 8])
def test_equal_rewards_give_exactly_zero(kind, reward, size):
    assert advantages(kind, [reward] * size, stream()).tolist() == [0.0] * size


def test_group_is_equation_2():
    rewards = [1.0, 0.0, 0.0, 1.0, 1.0]
    mean = sum(rewards) / 5
    deviation = math.sqrt(sum((r - mean) ** 2 for r in rewards) / 4)
    expected = [(r - mean) / (deviation + 1e-4) for r in rewards]
    assert advantages(Advantage.GROUP, rewards, stream()).tolist() == pytest.approx(expected, rel=1e-14)


def test_the_variants_take_one_part_away():
    rewards = [1.0, 0.0, 0.0, 0.0]
    group = advantages(Advantage.GROUP, rewards, stream())
    assert advantages(Advantage.ZERO, rewards, stream()).tolist() == [0] * 4
    assert advantages(Advantage.CENTRED, rewards, stream()).tolist() == [0.75, -0.25, -0.25, -0.25]
    assert advantages(Advantage.POSITIVE, rewards, stream()).tolist() == [group[0].item(), 0, 0, 0]


@given(REWARDS)
def test_shuffling_permutes_the_group(rewards):
    group = advantages(Advantage.GROUP, rewards, stream())
    shuffled = advantages(Advantage.SHUFFLED, rewards, stream())
    assert sorted(shuffled.tolist()) == sorted(group.tolist())


def test_shuffling_is_uniform():
    counts = torch.zeros(4)
    for slot in range(4000):
        counts[advantages(Advantage.SHUFFLED, [1.0, 0, 0, 0], stream(slot)).argmax()] += 1
    # Chi-square with 3 degrees of freedom: 21.1 has probability 1e-4, and the streams are seeded.
    assert float(((counts - 1000) ** 2 / 1000).sum()) < 21.1


@given(REWARDS)
def test_a_group_keeps_its_mean_at_zero(rewards):
    for kind in (Advantage.GROUP, Advantage.CENTRED, Advantage.SHUFFLED):
        assert abs(float(advantages(kind, rewards, stream()).mean())) < 1e-9
