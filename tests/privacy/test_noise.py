"""Line 8 at the paper's size: its scale, its law, and that no part leans on another or comes twice."""

import math
import random
from itertools import accumulate

import numpy as np
import pytest
import torch
from scipy import stats

from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.noise import gaussian_noise
from promptdp.privacy.randomness import Randomness

FALSE_ALARM = 1e-6
COORDINATES = 4_616_192  # rank-4 LoRA on Qwen2.5-1.5B-Instruct
HIDDEN, KEY_VALUE, INTERMEDIATE, LAYERS, RANK = 1536, 256, 8960, 28, 4
MAPS = {
    "q_proj": (HIDDEN, HIDDEN),
    "k_proj": (HIDDEN, KEY_VALUE),
    "v_proj": (HIDDEN, KEY_VALUE),
    "o_proj": (HIDDEN, HIDDEN),
    "gate_proj": (HIDDEN, INTERMEDIATE),
    "up_proj": (HIDDEN, INTERMEDIATE),
    "down_proj": (INTERMEDIATE, HIDDEN),
}
"""Inputs and outputs of each matrix that the paper's adapter updates."""
TENSORS = {
    f"layers.{layer}.{name}.lora_{matrix}": RANK * size
    for layer in range(LAYERS)
    for name, sizes in MAPS.items()
    for matrix, size in zip("AB", sizes, strict=True)
}
"""The coordinates of each tensor of the adapter."""
MATH = Mechanism(6988, 128, 50, 0.4842404738068581, 0.05536, 1 / 69880)


@pytest.fixture(scope="module")
def noise():
    return gaussian_noise(MATH, COORDINATES, Randomness.from_os().stream(1, "noise"))


def scale_is_right(sample, std):
    """Two-sided chi-square test of a known standard deviation."""
    statistic = float(np.sum((sample / std) ** 2))
    tails = stats.chi2.sf(statistic, len(sample)), stats.chi2.cdf(statistic, len(sample))
    return 2 * min(tails) > FALSE_ALARM


def is_normal(sample, std):
    return stats.kstest(sample, stats.norm(scale=std).cdf, method="asymp").pvalue > FALSE_ALARM


def by_tensor(noise):
    """The noise of each tensor, in the order of its coordinates."""
    ends = list(accumulate(TENSORS[name] for name in sorted(TENSORS)))
    return np.split(noise, ends[:-1])


def test_every_coordinate_gets_float64_noise(noise):
    assert noise.shape == (COORDINATES,) and noise.dtype == torch.float64
    assert torch.isfinite(noise).all()


def test_the_noise_has_standard_deviation_sigma_times_c(noise):
    std = 0.4842404738068581 * 0.05536
    sample = noise.numpy()
    assert scale_is_right(sample, std)
    assert abs(sample.mean()) * math.sqrt(COORDINATES) / std < stats.norm.isf(FALSE_ALARM / 2)
    for wrong in (0.995, 1.005, 2 / 3, 3 / 2, 1 / 0.05536, 1 / 128):
        assert not scale_is_right(sample, wrong * std)


def test_the_noise_is_normal(noise):
    sample = noise.numpy()[:1_000_000]
    assert is_normal(sample, MATH.noise_std)
    for wrong in (0.98, 1.02, 2 / 3, 3 / 2):
        assert not is_normal(sample, wrong * MATH.noise_std)
    assert not is_normal(
        np.random.default_rng(0).laplace(scale=MATH.noise_std / math.sqrt(2), size=10**6), MATH.noise_std
    )


def test_the_papers_adapter_has_392_tensors_of_4616192_coordinates():
    assert (len(TENSORS), sum(TENSORS.values())) == (392, COORDINATES)


def wrong_tensors(noise):
    """How many tensors fail the chi-square test of their scale, family-wise."""
    squares = [(float(np.sum((part / MATH.noise_std) ** 2)), len(part)) for part in by_tensor(noise)]
    level = FALSE_ALARM / len(TENSORS)
    tails = [2 * min(stats.chi2.sf(value, size), stats.chi2.cdf(value, size)) for value, size in squares]
    return sum(tail <= level for tail in tails)


def test_every_tensor_has_the_scale_on_its_own(noise):
    assert wrong_tensors(noise.numpy()) == 0
    # The double forgets the noise of one of the smallest tensors, or draws it at two thirds of the scale.
    for factor in (0.0, 2 / 3):
        broken = noise.numpy().copy()
        by_tensor(broken)[sorted(TENSORS).index("layers.0.k_proj.lora_B")] *= factor
        assert wrong_tensors(broken) == 1


def test_tensors_are_independent(noise):
    def largest_correlation(parts):
        pairs = np.corrcoef(np.stack(parts))[np.triu_indices(len(parts), k=1)]
        limit = stats.norm.isf(FALSE_ALARM / 2 / len(pairs)) / math.sqrt(len(parts[0]))
        return np.abs(pairs).max() / limit

    parts = [part[: RANK * KEY_VALUE] for part in by_tensor(noise.numpy())]
    assert largest_correlation(parts) < 1
    parts[17] = parts[16] + 3 * parts[17]  # the double: two tensors of which one leans on the other
    assert largest_correlation(parts) > 1


def test_three_rounds_of_two_runs_share_nothing():
    """Each run starts as a process does whose user and engine seed everything alike."""
    drawn = []
    for _ in range(2):
        random.seed(0), np.random.seed(0), torch.manual_seed(0)
        run = Randomness.from_os()
        drawn += [gaussian_noise(MATH, COORDINATES, run.stream(t, "noise")).numpy() for t in (1, 2, 3)]
    assert all(scale_is_right(sample, MATH.noise_std) for sample in drawn)
    correlations = np.corrcoef(np.stack(drawn))[np.triu_indices(6, k=1)]
    assert np.abs(correlations).max() * math.sqrt(COORDINATES) < stats.norm.isf(FALSE_ALARM / 2 / 15)
    values = np.concatenate(drawn)
    values.sort()
    # float64 has about 2^54 values to draw from: one chance repeat in 60 such tests, three in a million.
    assert np.count_nonzero(values[1:] == values[:-1]) < 3


@pytest.mark.parametrize(
    ("clipping_norm", "noise_multiplier"), [(1.0, 2.0), (0.1143670583, 0.7), (1e6, 1e-3)]
)
def test_the_scale_follows_the_mechanism(clipping_norm, noise_multiplier):
    mechanism = Mechanism(100, 10, 5, noise_multiplier, clipping_norm, 1e-3)
    sample = gaussian_noise(mechanism, 200_000, Randomness.from_os().stream(1, "noise")).numpy()
    assert scale_is_right(sample, clipping_norm * noise_multiplier)


def test_a_non_private_arm_gets_zeros():
    mechanism = Mechanism(100, 10, 5, 0, math.inf, 1e-3)
    noise = gaussian_noise(mechanism, 7, Randomness.from_os().stream(1, "noise"))
    assert noise.dtype == torch.float64 and noise.tolist() == [0.0] * 7
