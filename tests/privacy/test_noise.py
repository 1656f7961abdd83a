import math

import numpy as np
import pytest
import torch
from scipy import stats

from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.noise import gaussian_noise
from promptdp.privacy.randomness import Randomness

FALSE_ALARM = 1e-6
COORDINATES = 4_616_192  # rank-4 LoRA on Qwen2.5-1.5B-Instruct
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


def test_every_coordinate_gets_float64_noise(noise):
    assert noise.shape == (COORDINATES,) and noise.dtype == torch.float64
    assert torch.isfinite(noise).all()
    assert (
        len(torch.unique(noise)) > COORDINATES - 4
    )  # a chance repeat among 2^54 values: once in 1,000 draws


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


@pytest.mark.parametrize("part", [slice(0, 10**5), slice(-(10**5), None), slice(0, None, 46)])
def test_no_part_of_the_coordinates_has_less_noise(noise, part):
    assert scale_is_right(noise.numpy()[part], MATH.noise_std)


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
