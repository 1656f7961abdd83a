"""Before a study: the contrast that its problems and seeds can detect (the MDE of section VII-E, planned).

The model has two numbers. On one pair of seeds a problem differs with probability D, the discordance, so
that for a contrast x its difference (-1, 0 or 1) has variance D - x^2. The differences of one problem on two
pairs of seeds correlate by R, since problems are not equally open to change. A problem's difference averaged
over S pairs then has variance (D - x^2) V with V = (1 + (S - 1) R) / S, and x is detected with 80% power by a
two-sided 5% test when it is k = 2.80159 standard errors of the mean over N problems:

    x = k sqrt((D - x^2) V / N),  hence  x = k sqrt(D V / (N + k^2 V)).
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from promptdp.errors import InputError
from promptdp.statistics.contrast import DETECTABLE
from promptdp.statistics.pairing import common_problems, differences, required_pairs
from promptdp.statistics.scores import Scores, read_two_arms

MOST = 10**9  # problems or seeds; beyond, a number is a slip
SEEDS_ADD_NOTHING = 1.0  # the seed correlation that is assumed where none is known


def planned_contrast(
    problems: int, seeds: int, discordance: float, seed_correlation: float = SEEDS_ADD_NOTHING
) -> dict[str, Any]:
    """The contrast that a study of so many problems and seeds detects with 80% power, two-sided 5%.

    Detected means that the interval of `contrast` excludes zero. Problems are the sampled units, as there:
    what other training runs would give is not in it. The normal approximation wants about 25 discordant
    problems on a pair of seeds (`problems` times `discordance`); at so few the exact sign randomisation,
    whose p-values come in steps, has up to 5 points less power.

    Args:
        problems: N, of the evaluation set.
        seeds: S, that both arms will have.
        discordance: the share of problems that one arm of a pair of seeds answers correctly and the other
            not.
        seed_correlation: the correlation, from 0 to 1, of a problem's difference between two pairs of seeds;
            1, the cautious assumption, lets more seeds add nothing.

    Returns:
        The four numbers as `n_problems`, `seeds`, `discordance`, `seed_correlation`, and `mde_pp` in
        percentage points: null where it would exceed the discordance, so that no contrast is detected.

    Raises:
        InputError: there is no problem or no seed, the discordance is not above 0 and at most 1, or the
            correlation not in [0, 1].
    """
    for option, count in (("--problems", problems), ("--seeds", seeds)):
        if not 1 <= count <= MOST:
            raise InputError(f"{option}: is not from 1 to {MOST}; say how many the study will have")
    if not 0 < discordance <= 1:
        raise InputError(
            "--discordance: is not above 0 and at most 1; give the share of problems that only one arm "
            "answers correctly"
        )
    if not 0 <= seed_correlation <= 1:
        raise InputError("--seed-correlation: is not in [0, 1]; leave it out, or give a number from there")
    spread = DETECTABLE**2 * (1 + (seeds - 1) * seed_correlation) / seeds
    detectable = math.sqrt(discordance * spread / (problems + spread))
    return {
        "n_problems": problems,
        "seeds": seeds,
        "discordance": discordance,
        "seed_correlation": seed_correlation,
        "mde_pp": 100 * detectable if detectable <= discordance else None,
    }


def pilot_variation(a: Scores, b: Scores) -> tuple[float, float]:
    """The discordance and seed correlation of two arms that were tried already, on problems like the study's.

    The discordance is its mean over the shared seeds. The correlation is the mean covariance of two pairs of
    seeds over the problems divided by the mean variance, and 0 if that is negative. One pair of seeds can't
    tell it: then it is 1.

    Raises:
        InputError: the arms can't be paired (as in `contrast`), or no problem is discordant.
    """
    pairs = required_pairs(a, b)
    by_seed = differences(a, b, pairs, common_problems(a, b))
    discordance = float(np.abs(by_seed).mean())
    if discordance == 0:
        raise InputError(
            "--pilot: answers no problem otherwise than --versus, which does not tell how much arms vary; "
            "give a larger pilot, or --discordance"
        )
    return discordance, _correlation(by_seed)


def planned_contrast_from_files(
    problems: int,
    seeds: int,
    pilot: Sequence[str | Path],
    versus: Sequence[str | Path],
    seed_correlation: float | None = None,
) -> dict[str, Any]:
    """The `planned_contrast` under the variation of a pilot's files of scores (Parquet or CSV).

    A `seed_correlation` that is given stands before the pilot's.

    Raises:
        InputError: as `planned_contrast`, `pilot_variation` and `read_two_arms`.
    """
    discordance, estimated = pilot_variation(*read_two_arms(pilot, versus))
    return planned_contrast(
        problems, seeds, discordance, estimated if seed_correlation is None else seed_correlation
    )


def _correlation(by_seed: NDArray[np.int64]) -> float:
    count, variances = len(by_seed), float(by_seed.var(axis=1).sum())
    if count < 2 or variances == 0:
        return SEEDS_ADD_NOTHING
    covariances = count**2 * float(by_seed.mean(axis=0).var()) - variances
    return min(1.0, max(0.0, covariances / ((count - 1) * variances)))
