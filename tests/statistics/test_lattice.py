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


def counted_sign_p(units):
    """The sign p-value of many units, counting assignments by whole numbers."""
    ways = Counter({0: 1})
    for unit in units:
        turned = Counter()
        for total, count in ways.items():
            turned[total + unit] += count
            turned[total - unit] += count
        ways = turned
    extreme = sum(count for total, count in ways.items() if abs(total) >= abs(sum(units)))
    return float(Fraction(extreme, 2 ** len(units)))


TAILS = {
    "a loss among wins of four sizes": [4] * 260 + [3] * 240 + [2] * 260 + [1] * 239 + [-2],  # 1e-296
    "losses of every size": [4] * 150 + [3] * 150 + [1] * 200 + [-1] * 3 + [-3] * 2 + [-4] * 2,
    "sizes without a common divisor": [6] * 90 + [-6] * 20 + [4] * 70 + [-4] * 30 + [3] * 40 + [-3] * 5,
    "near the middle": [3] * 60 + [-3] * 55 + [2] * 30 + [-2] * 31,
}


@pytest.mark.parametrize("units", TAILS.values(), ids=TAILS.keys())
def test_a_tail_far_below_rounding_keeps_its_digits(units):
    expected = counted_sign_p(units)
    assert lattice.sign_randomization_p(np.array(units)) == pytest.approx(expected, rel=1e-11, abs=0)


def test_a_p_value_below_the_smallest_float_is_not_zero():
    assert lattice.sign_randomization_p(np.ones(4499, dtype=np.int64)) == 5e-324


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=10))
@settings(max_examples=20, deadline=None)
def test_the_sign_p_value_is_the_exact_permutation_test_of_scipy(units):
    test = scipy.stats.permutation_test(
        (np.array(units),), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=False
    )
    if sum(units):  # scipy doubles the smaller side and caps it at 1
        assert lattice.sign_randomization_p(np.array(units)) == pytest.approx(test.pvalue)


@pytest.mark.parametrize("seed", [0, 1])
def test_bootstrap_quantiles_are_those_of_scipys_resampling(seed):
    generator = np.random.default_rng(seed)
    a, b = generator.random((2, 4, 400)) < [[[0.6]], [[0.5]]]
    units = a.sum(0).astype(int) - b.sum(0)
    drawn = scipy.stats.bootstrap(
        (a.mean(0), b.mean(0)),
        lambda x, y, axis: (x - y).mean(axis=axis),
        paired=True,
        method="percentile",
        n_resamples=50_000,
        batch=2_000,
        rng=generator,
    ).confidence_interval
    low, high = lattice.bootstrap_quantiles(units, (0.025, 0.975))
    assert np.array([low, high]) / (4 * 400) == pytest.approx([drawn.low, drawn.high], abs=1.01 * 4 / 1600)


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


def test_monte_carlo_quantiles_are_points_of_the_lattice():
    for seed in range(20):
        (edge,) = lattice.drawn_bootstrap_quantiles(
            np.array([0, 10, 20]), (0.3,), 4, np.random.default_rng(seed)
        )
        assert edge % 10 == 0


def test_a_monte_carlo_p_value_counts_the_observed_assignment():
    # One in 2^39 assignments is as extreme, so no draw is.
    wins = np.ones(40, dtype=np.int64)
    assert lattice.drawn_sign_randomization_p(wins, 99, np.random.default_rng(0)) == 0.01


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
