"""Exact resampling distributions of a mean of integers.

A seed-averaged difference in correctness is an integer multiple of one over the number of seeds, so every
bootstrap mean and every sign-randomised mean lies on a lattice and its distribution can be computed instead
of drawn (section VII-E). Each function takes the integers themselves, `units`, of shape (N,), and returns
lattice units too: dividing by N and by the number of units in a whole problem is the caller's.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Units = NDArray[np.int64]

ROUNDING = 1e-10  # above the FFT's absolute error on a distribution function, up to a million problems
CHUNK = 1 << 16  # Monte Carlo draws held in memory at once


def bootstrap_quantiles(units: Units, levels: tuple[float, ...]) -> list[int]:
    """Quantiles of the sum of N draws with replacement from `units`.

    The distribution of the sum is the N-th convolution power of the empirical one, taken as the N-th power of
    its Fourier transform; a quantile is the smallest lattice point whose distribution function reaches the
    level.
    """
    lowest, width = int(units.min()), int(units.max() - units.min())
    count = len(units)
    size = 1 << (count * width).bit_length()
    frequencies = np.bincount(units - lowest, minlength=width + 1) / count
    probabilities = np.fft.irfft(np.fft.rfft(frequencies, size) ** count, size) if width else np.ones(1)
    distribution = np.cumsum(probabilities)
    return [count * lowest + int(np.argmax(distribution >= level - ROUNDING)) for level in levels]


def sign_randomization_p(units: Units) -> float:
    """Two-sided p-value of the sum of `units` when every sign is flipped by a fair coin, all 2^N assignments
    counted.

    The flipped sum over the n values of magnitude w is w(2B - n) with B binomial(n, 1/2); magnitudes are
    convolved directly, not by FFT, whose absolute error would hide a small tail. Without a non-zero unit the
    p-value is 1. It is never 0: one that is too small for a float is the smallest float.
    """
    magnitudes, counts = _magnitudes(units)
    heads = np.ones(
        1
    )  # distribution of the sum of w over the heads, so that the flipped sum is 2 heads - total
    for magnitude, count in zip(magnitudes, counts, strict=True):
        steps = np.zeros(magnitude * count + 1)
        steps[::magnitude] = list(_fair_binomial(int(count)))
        heads = np.convolve(heads, steps)
    total = len(heads) - 1
    sums = 2 * np.arange(total + 1) - total
    p = float(heads[np.abs(sums) >= abs(int(units.sum()))].sum())
    return max(math.ulp(0.0), min(1.0, p))


def drawn_bootstrap_quantiles(
    units: Units, levels: tuple[float, ...], draws: int, generator: np.random.Generator
) -> list[int]:
    """The Monte Carlo counterpart of `bootstrap_quantiles`: empirical quantiles of `draws` resampled sums."""
    values, counts = np.unique(units, return_counts=True)
    sums = np.concatenate(
        [
            generator.multinomial(len(units), counts / len(units), size=chunk) @ values
            for chunk in _chunks(draws)
        ]
    )
    return [int(quantile) for quantile in np.quantile(sums, levels, method="inverted_cdf")]


def drawn_sign_randomization_p(units: Units, draws: int, generator: np.random.Generator) -> float:
    """The Monte Carlo counterpart of `sign_randomization_p`, (1 + hits) / (draws + 1)."""
    magnitudes, counts = _magnitudes(units)
    observed = abs(int(units.sum()))
    hits = 0
    for chunk in _chunks(draws):
        sums = (2 * generator.binomial(counts, 0.5, size=(chunk, len(counts))) - counts) @ magnitudes
        hits += int(np.count_nonzero(np.abs(sums) >= observed))
    return (1 + hits) / (draws + 1)


def _magnitudes(units: Units) -> tuple[Units, Units]:
    """The distinct non-zero magnitudes and how often each occurs."""
    values, counts = np.unique(np.abs(units[units != 0]), return_counts=True)
    return values, counts


def _fair_binomial(trials: int) -> Iterator[float]:
    """The probabilities of 0..trials heads, each correctly rounded, being a quotient of integers."""
    whole = 1 << trials
    ways = itertools.accumulate(range(trials), lambda way, k: way * (trials - k) // (k + 1), initial=1)
    return (way / whole for way in ways)


def _chunks(draws: int) -> Iterator[int]:
    """Sizes of at most CHUNK that add up to `draws`."""
    return (min(CHUNK, draws - start) for start in range(0, draws, CHUNK))
