"""Exact tests of random draws, and how often all of them together raise a false alarm."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import stats

FAMILY_WISE = 1e-6
"""The probability that a true implementation fails any statistical row of one record."""
STATISTICAL_ROWS = 6
"""How many rows judge fresh draws; a test counts them."""
LEVEL = FAMILY_WISE / STATISTICAL_ROWS
"""A statistical row fails where its adjusted p-value is below this."""


def binomial_p(successes: Any, trials: Any, probability: float) -> np.ndarray:
    """Two-sided exact binomial p-values: twice the smaller tail, at most 1."""
    law = stats.binom(trials, probability)
    return _two_sided(law.cdf(successes), law.sf(np.asarray(successes) - 1))


def scale_p(values: np.ndarray) -> float:
    """The two-sided exact p-value of the sum of squares of standard normals."""
    law = stats.chi2(len(values))
    total = float(np.square(values).sum())
    return float(_two_sided(law.cdf(total), law.sf(total)))


def normal_p(values: np.ndarray) -> float:
    """Kolmogorov and Smirnov's p-value against the standard normal law."""
    return float(stats.kstest(values, "norm").pvalue)


def correlation_p(first: np.ndarray, second: np.ndarray) -> float:
    """The p-value of the correlation of two samples that are independent and normal if all is right."""
    return float(stats.pearsonr(first, second).pvalue)


def adjusted(p_values: Iterable[float]) -> float:
    """Bonferroni's p-value of a family: its smallest times their number, at most 1; NaN if one is NaN."""
    values = list(p_values)
    return float(np.minimum(1.0, len(values) * np.min(values)))


def _two_sided(lower: Any, upper: Any) -> np.ndarray:
    return np.minimum(1.0, 2 * np.minimum(lower, upper))
