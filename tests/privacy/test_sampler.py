import math

import numpy as np
import pytest
from scipy import stats

from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Randomness
from promptdp.privacy.sampler import poisson_draw

FALSE_ALARM = 1e-6


def mechanism(slots, expected):
    return Mechanism(slots, expected, 10, 1.0, 1.0, 0.1 / slots)


def inclusions(slots, expected, rounds):
    """Bool (rounds, slots): which slot was drawn in which round."""
    source = Randomness.from_os()
    drawn = np.zeros((rounds, slots), dtype=bool)
    for t in range(rounds):
        drawn[t, poisson_draw(mechanism(slots, expected), source.stream(t + 1, "coins"))] = True
    return drawn


def two_sided(observed, mean, variance):
    return 2 * stats.norm.sf(abs(observed - mean) / math.sqrt(variance))


@pytest.mark.parametrize(
    ("slots", "expected", "rounds"), [(6988, 128, 2000), (6961, 512, 1000), (6, 5, 20_000)]
)
def test_coins_are_independent_with_probability_m_over_n(slots, expected, rounds):
    q = expected / slots
    drawn = inclusions(slots, expected, rounds)
    level = FALSE_ALARM / 4 / 3
    # The frequency, exactly binomial.
    assert stats.binomtest(int(drawn.sum()), drawn.size, q).pvalue > level
    # Every slot alike: chi-square over slots.
    by_slot = drawn.sum(0)
    assert stats.chi2.sf(((by_slot - rounds * q) ** 2).sum() / (rounds * q * (1 - q)), slots) > level
    # Batch sizes vary as a binomial, not as a fixed-size shuffle (nor as one coin for all).
    sizes = drawn.sum(1)
    dispersion = ((sizes - slots * q) ** 2).sum() / (slots * q * (1 - q))
    assert 2 * min(stats.chi2.sf(dispersion, rounds), stats.chi2.cdf(dispersion, rounds)) > level
    # Being drawn twice in a row has probability q^2: nothing is drawn once per pass over the data.
    twice = (drawn[1:] & drawn[:-1]).sum()
    pairs = (rounds - 1) * slots
    neighbouring = 2 * pairs * (q**3 - q**4)  # pairs (t, t+1) and (t+1, t+2) share a coin
    assert two_sided(twice, pairs * q**2, pairs * q**2 * (1 - q**2) + neighbouring) > level


def test_coins_of_different_slots_are_uncorrelated():
    slots, rounds = 6, 20_000
    correlations = np.corrcoef(inclusions(slots, 2, rounds).T)[np.triu_indices(slots, k=1)]
    limit = stats.norm.isf(FALSE_ALARM / 2 / len(correlations)) / math.sqrt(rounds)
    assert np.abs(correlations).max() < limit


def test_a_sampling_rate_of_one_draws_every_slot():
    assert poisson_draw(mechanism(50, 50), Randomness.from_os().stream(1, "coins")) == list(range(50))


def test_a_tiny_sampling_rate_draws_nothing_most_of_the_time():
    drawn = inclusions(1000, 1, 2000)
    empty = int((drawn.sum(1) == 0).sum())
    assert stats.binomtest(empty, 2000, (1 - 1 / 1000) ** 1000).pvalue > FALSE_ALARM


def test_slots_are_python_integers_in_increasing_order():
    drawn = poisson_draw(mechanism(6988, 128), Randomness.from_os().stream(1, "coins"))
    assert all(type(slot) is int for slot in drawn)
    assert drawn == sorted(set(drawn)) and set(drawn) <= set(range(6988))


def test_the_coins_take_the_same_words_whatever_m():
    few, many = (
        set(poisson_draw(mechanism(500, m), Randomness.seeded(1).stream(1, "coins"))) for m in (5, 200)
    )
    assert few < many
