"""The paired contrast of two arms (section VII-E): how far apart they are, and how well that is known."""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from promptdp.errors import InputError
from promptdp.statistics import lattice
from promptdp.statistics.scores import Scores, require_same_problems

CONFIDENCE = (0.025, 0.975)
DETECTABLE = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.80)  # two-sided 5% test with 80% power
SEEDLESS = 0


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
    shared = shared_seeds(a, b)
    if pairs == "paired":
        if not shared:
            raise InputError(
                f"--versus: shares no seed with --scores ({_listed(b)} against {_listed(a)}); "
                "evaluate common seeds, or compare all seeds with --pairs pooled"
            )
        a_seeds, b_seeds = sorted({s[1] for s in shared}), sorted({s[2] for s in shared})
    elif pairs == "pooled":
        a_seeds, b_seeds = sorted(a), sorted(b)
    else:
        raise InputError(f"--pairs: is '{pairs}'; say paired or pooled")

    problems = _problems(a, b)
    first, second = _matrix(a, a_seeds, problems), _matrix(b, b_seeds, problems)
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
    problems = _problems(a, b)
    return [test["p"] for test in _mcnemar(a, b, shared_seeds(a, b), problems)]


def shared_seeds(a: Scores, b: Scores) -> list[tuple[int, int, int]]:
    """The pairs (seed, seed of `a`, seed of `b`) that both arms have; a seedless arm joins every seed of the
    other.

    Raises:
        InputError: an arm has no seed, or has seed 0 beside others.
    """
    for side, arm in (("--scores", a), ("--versus", b)):
        if not arm:
            raise InputError(f"{side}: the arm has no scores; score it first")
        if SEEDLESS in arm and len(arm) > 1:
            raise InputError(
                f"{side}: seed 0, which means seedless, stands beside others; number seeds from 1"
            )
    if SEEDLESS in b:
        return [(seed, seed, SEEDLESS) for seed in sorted(a)]
    if SEEDLESS in a:
        return [(seed, SEEDLESS, seed) for seed in sorted(b)]
    return [(seed, seed, seed) for seed in sorted(a.keys() & b.keys())]


Shared = Sequence[tuple[int, int, int]]


def _by_seed(
    a: Scores, b: Scores, shared: Shared, problems: list[str], family: list[float]
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


def _mcnemar(a: Scores, b: Scores, shared: Shared, problems: list[str]) -> list[dict[str, Any]]:
    from scipy.stats import binomtest

    tests = []
    for seed, a_seed, b_seed in shared:
        difference = _matrix(a, [a_seed], problems) - _matrix(b, [b_seed], problems)
        wins, losses = int((difference == 1).sum()), int((difference == -1).sum())
        p = float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
        tests.append({"seed": seed, "b": wins, "c": losses, "p": p})
    return tests


def _holm(own: list[float], family: list[float]) -> list[float]:
    """Holm's step-down adjustment of `own` p-values within the family they form with `family`."""
    from statsmodels.stats.multitest import multipletests

    if not own:
        return []
    adjusted = multipletests([*own, *family], method="holm")[1]
    return [float(p) for p in adjusted[: len(own)]]


def _t_interval(mean: float, spread: float, seeds: int) -> list[float]:
    from scipy.special import stdtrit

    half = float(stdtrit(seeds - 1, CONFIDENCE[1])) * spread / math.sqrt(seeds)
    return [mean - half, mean + half]


def _problems(a: Scores, b: Scores) -> list[str]:
    require_same_problems(
        (side, seed, scores)
        for side, arm in (("--scores", a), ("--versus", b))
        for seed, scores in sorted(arm.items())
    )
    problems = sorted(next(iter(a.values())))
    if not problems:
        raise InputError("--scores: the arms have no problem; score an evaluation set first")
    return problems


def _matrix(arm: Scores, seeds: Sequence[int], problems: Sequence[str]) -> NDArray[np.int64]:
    """Correctness of shape (seeds, problems)."""
    values = np.array([[arm[seed][problem] for problem in problems] for seed in seeds])
    if not np.isin(values, (0, 1)).all():
        wrong = problems[int(np.argmin(np.isin(values, (0, 1)).all(axis=0)))]
        raise InputError(f"--scores, --versus: correct is not 0 or 1 for problem {wrong}; score it again")
    return values.astype(np.int64)


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


def _listed(arm: Scores) -> str:
    return "seeds " + ", ".join(map(str, sorted(arm)))
