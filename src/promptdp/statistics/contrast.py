"""The paired contrast of two arms (section VII-E): how far apart they are, and how well that is known."""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from promptdp.errors import InputError
from promptdp.statistics import lattice
from promptdp.statistics.pairing import (
    SeedPair,
    common_problems,
    correctness,
    differences,
    required_pairs,
    shared_seeds,
)
from promptdp.statistics.scores import Scores

CONFIDENCE = (0.025, 0.975)
DETECTABLE = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.80)  # two-sided 5% test with 80% power


def contrast(
    a: Scores,
    b: Scores,
    pairs: str = "paired",
    family_p: Sequence[float] | None = None,
    draws: int | None = None,
    seed: int | None = None,
) -> dict[str, Any]:
    """The paired difference in accuracy, arm `a` minus arm `b`, in percentage points (pp).

    A problem's difference averages each arm's seeds: with `pairs="paired"` the seeds both arms share (a
    seedless arm, whose only seed is 0, shares all), with `pairs="pooled"` all seeds of each arm. Problems are
    resampled whole.

    Returns:
        `n_problems`; `accuracy_pp` and `versus_accuracy_pp` of `a` and `b` over the seeds used;
        `difference_pp`; `ci95_pp`, the percentile interval of the exact bootstrap over problems; `mde_pp`,
        the minimum detectable effect (z_.975 + z_.80) SE with the bootstrap's SE; `sign_randomization_p`,
        exact, the observed assignment counted. By shared seed: `per_seed_pp`, their standard deviation
        `seed_sd_pp` (n - 1) and t interval `seed_t_ci95_pp`, and `mcnemar`, exact tests of `b` wins against
        `c` losses with p and Holm-adjusted `p_holm`. With `draws`, the Monte Carlo of the paper stands beside
        the exact values in `monte_carlo`.

        | case | value |
        |---|---|
        | identical arms, or one problem | interval of no width, `mde_pp` 0 |
        | no discordant problem | `sign_randomization_p` 1, McNemar p 1 |
        | one shared seed, or none (pooled) | `seed_sd_pp` and `seed_t_ci95_pp` null |

    Args:
        a: scores of the arm, 0 or 1 by seed and problem.
        b: scores of the arm it is compared with, on the same problems.
        pairs: "paired" or "pooled".
        family_p: unadjusted p-values of the other tests in the same Holm family.
        draws: Monte Carlo draws, with `seed`.
        seed: seed of the Monte Carlo generator.

    Raises:
        InputError: an arm without scores, problems that differ, a score that is not 0 or 1, no shared seed,
            seed 0 beside others, a family p-value outside [0, 1], or draws without a seed.
    """
    generator = _generator(draws, seed)
    family = _probabilities(family_p or ())
    if pairs == "paired":
        shared = required_pairs(a, b)
        a_seeds, b_seeds = sorted({s[1] for s in shared}), sorted({s[2] for s in shared})
    elif pairs == "pooled":
        shared = shared_seeds(a, b)
        a_seeds, b_seeds = sorted(a), sorted(b)
    else:
        raise InputError(f"--pairs: is '{pairs}'; say paired or pooled")

    problems = common_problems(a, b)
    first, second = correctness(a, a_seeds, problems), correctness(b, b_seeds, problems)
    whole = math.lcm(len(a_seeds), len(b_seeds))  # lattice units in one problem
    units = first.sum(0) * (whole // len(a_seeds)) - second.sum(0) * (whole // len(b_seeds))
    scale = len(problems) * whole
    result = {
        "n_problems": len(problems),
        "pairs": pairs,
        "accuracy_pp": 100 * float(first.mean()),
        "versus_accuracy_pp": 100 * float(second.mean()),
        "difference_pp": 100 * int(units.sum()) / scale,
        "ci95_pp": [100 * edge / scale for edge in lattice.bootstrap_quantiles(units, CONFIDENCE)],
        "mde_pp": DETECTABLE * 100 * float(units.std()) * math.sqrt(len(problems)) / scale,
        "sign_randomization_p": lattice.sign_randomization_p(units),
        **_by_seed(a, b, shared, problems, family),
    }
    if draws is not None and generator is not None:
        edges = lattice.drawn_bootstrap_quantiles(units, CONFIDENCE, draws, generator)
        result["monte_carlo"] = {
            "draws": draws,
            "seed": seed,
            "ci95_pp": [100 * edge / scale for edge in edges],
            "sign_randomization_p": lattice.drawn_sign_randomization_p(units, draws, generator),
        }
    return result


def mcnemar_p_values(a: Scores, b: Scores) -> list[float]:
    """The unadjusted exact McNemar p-value of every shared seed: what a contrast brings to its Holm family.

    Raises:
        InputError: as `contrast`.
    """
    return [test["p"] for test in _mcnemar(a, b, shared_seeds(a, b), common_problems(a, b))]


def _by_seed(
    a: Scores, b: Scores, shared: Sequence[SeedPair], problems: list[str], family: list[float]
) -> dict[str, Any]:
    tests = _mcnemar(a, b, shared, problems)
    for test, adjusted in zip(tests, _holm([test["p"] for test in tests], family), strict=True):
        test["p_holm"] = adjusted
    wins = np.array([test["b"] - test["c"] for test in tests])
    per_seed = [100 * int(net) / len(problems) for net in wins]
    spread = 100 * float(wins.std(ddof=1)) / len(problems) if len(wins) > 1 else None
    return {
        "per_seed_pp": per_seed,
        "seed_sd_pp": spread,
        "seed_t_ci95_pp": None
        if spread is None
        else _t_interval(float(np.mean(per_seed)), spread, len(wins)),
        "mcnemar": tests,
    }


def _mcnemar(a: Scores, b: Scores, shared: Sequence[SeedPair], problems: list[str]) -> list[dict[str, Any]]:
    """McNemar's exact test of each pair of seeds: the sign randomisation of one pair's differences."""
    return [
        {
            "seed": seed,
            "b": int((difference == 1).sum()),
            "c": int((difference == -1).sum()),
            "p": lattice.sign_randomization_p(difference),
        }
        for (seed, _, _), difference in zip(shared, differences(a, b, shared, problems), strict=True)
    ]


def _holm(own: list[float], family: list[float]) -> list[float]:
    """Holm's step-down adjustment of `own` p-values within the family they form with `family`.

    Written out, since the library that has it takes a second to import, for every contrast of a study.
    """
    p = np.array([*own, *family])
    order = p.argsort(kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted[: len(own)].tolist()


def _t_interval(mean: float, spread: float, seeds: int) -> list[float]:
    from scipy.special import stdtrit

    half = float(stdtrit(seeds - 1, CONFIDENCE[1])) * spread / math.sqrt(seeds)
    return [mean - half, mean + half]


def _generator(draws: int | None, seed: int | None) -> np.random.Generator | None:
    if (draws is None) != (seed is None):
        raise InputError(
            "--draws: draws and seed go together; give both, or neither for the exact values alone"
        )
    if draws is None or seed is None:
        return None
    if draws < 1 or seed < 0:
        raise InputError("--draws: draws start at 1 and seed at 0; give whole numbers from there")
    return np.random.default_rng(seed)


def _probabilities(values: Sequence[float]) -> list[float]:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise InputError("--family-p: a p-value is not a number in [0, 1]; give unadjusted p-values")
    return [float(value) for value in values]
