"""The exact distributions against enumeration of every resample and every sign."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdp.statistics import lattice

LEVELS = (0.025, 0.5, 0.975)
SMALL = st.lists(st.integers(-3, 3), min_size=1, max_size=6)


def enumerated_quantiles(units, levels):
    """Quantiles of the bootstrap sum over all N^N resamples, in exact arithmetic."""
    ways = Counter(sum(resample) for resample in itertools.product(units, repeat=len(units)))
    total = sum(ways.values())
    quantiles = []
    for level in levels:
        reached = 0
        for point in sorted(ways):
            reached += ways[point]
            if Fraction(reached, total) >= Fraction(str(level)):
                quantiles.append(point)
                break
    return quantiles


def enumerated_sign_p(units):
    sums = [
        abs(sum(s * u for s, u in zip(signs, units, strict=True)))
        for signs in itertools.product((-1, 1), repeat=len(units))
    ]
    return sum(s >= abs(sum(units)) for s in sums) / len(sums)


@given(SMALL)
@settings(max_examples=60, deadline=None)
def test_bootstrap_quantiles_are_those_of_all_resamples(units):
    assert lattice.bootstrap_quantiles(np.array(units), LEVELS) == enumerated_quantiles(units, LEVELS)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=11))
@settings(max_examples=60, deadline=None)
def test_the_sign_p_value_is_that_of_all_sign_assignments(units):
    assert lattice.sign_randomization_p(np.array(units)) == pytest.approx(enumerated_sign_p(units), rel=1e-12)


def test_a_level_reached_exactly_is_reached():
    # Four resamples of two problems: the sum is 0, 1, 1 or 2 with probability 1/4 each; 1/4 is met at 0.
    assert lattice.bootstrap_quantiles(np.array([0, 1]), (0.25, 0.75, 0.76)) == [0, 1, 2]


def test_a_tail_far_below_rounding_keeps_its_digits():
    # 200 wins and no loss: only the two unanimous assignments are as extreme.
    assert lattice.sign_randomization_p(np.ones(200, dtype=np.int64)) == pytest.approx(2.0**-199, rel=1e-12)


@pytest.mark.parametrize("ones", [3, 1500, 4400])
def test_the_bootstrap_of_zeros_and_ones_is_binomial(ones):
    units = np.array([1] * ones + [0] * (4499 - ones))
    expected = [int(quantile) for quantile in scipy.stats.binom.ppf(LEVELS, 4499, ones / 4499)]
    assert lattice.bootstrap_quantiles(units, LEVELS) == expected


def test_the_bootstrap_of_many_problems_has_the_standard_error_of_its_mean():
    units = np.array([-1] * 3000 + [0] * 12000 + [1] * 5000)
    low, high = lattice.bootstrap_quantiles(units, (0.025, 0.975))
    spread = units.std() * np.sqrt(len(units))
    assert low == pytest.approx(units.sum() - 1.96 * spread, abs=2)
    assert high == pytest.approx(units.sum() + 1.96 * spread, abs=2)


@pytest.mark.parametrize("draws", [1, lattice.CHUNK, lattice.CHUNK + 1])
def test_monte_carlo_makes_as_many_draws_as_asked(draws):
    # Every assignment of a single sign is as extreme as the observed one, so the p-value is (1 + R)/(R + 1).
    generator = np.random.default_rng(1)
    assert lattice.drawn_sign_randomization_p(np.array([2, 0]), draws, generator) == 1.0


@given(st.integers(0, 10))
@settings(max_examples=5, deadline=None)
def test_monte_carlo_lies_within_one_lattice_step_of_the_exact_interval(seed):
    units = np.array([-2] * 40 + [-1] * 90 + [0] * 700 + [1] * 120 + [2] * 50)
    exact = lattice.bootstrap_quantiles(units, LEVELS)
    drawn = lattice.drawn_bootstrap_quantiles(units, LEVELS, 100_000, np.random.default_rng(seed))
    assert np.abs(np.array(exact) - np.array(drawn)).max() <= 1


def test_the_monte_carlo_p_value_approaches_the_exact_one():
    units = np.array([-1] * 40 + [1] * 60 + [2] * 3)
    drawn = lattice.drawn_sign_randomization_p(units, 200_000, np.random.default_rng(3))
    assert drawn == pytest.approx(lattice.sign_randomization_p(units), rel=0.05)
