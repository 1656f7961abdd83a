"""What two arms share: pairs of seeds, and one set of problems (section VII-E)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from promptdp.errors import InputError
from promptdp.files import shown
from promptdp.statistics.scores import Scores, require_same_problems

SEEDLESS = 0
SIDES = ("the first arm", "the second arm")
SeedPair = tuple[int, int, int]  # the pair's seed, the seed of the first arm, the seed of the second


def shared_seeds(a: Scores, b: Scores) -> list[SeedPair]:
    """The pairs (seed, seed of `a`, seed of `b`) that both arms have; a seedless arm joins every seed of the
    other.

    Raises:
        InputError: an arm has no seed, or has seed 0 beside others.
    """
    for side, arm in zip(SIDES, (a, b), strict=True):
        if not arm:
            raise InputError(f"{side}: has no scores; score it first")
        if SEEDLESS in arm and len(arm) > 1:
            raise InputError(
                f"{side}: seed 0, which means seedless, stands beside others; number seeds from 1"
            )
    if SEEDLESS in b:
        return [(seed, seed, SEEDLESS) for seed in sorted(a)]
    if SEEDLESS in a:
        return [(seed, SEEDLESS, seed) for seed in sorted(b)]
    return [(seed, seed, seed) for seed in sorted(a.keys() & b.keys())]


def required_pairs(a: Scores, b: Scores) -> list[SeedPair]:
    """The shared seeds, of which there must be one.

    Raises:
        InputError: as `shared_seeds`, or the arms share no seed.
    """
    pairs = shared_seeds(a, b)
    if not pairs:
        raise InputError(
            f"{SIDES[0]}: shares no seed with the second ({_listed(a)} against {_listed(b)}); evaluate seeds "
            "that both have, or contrast all of them with --pairs pooled"
        )
    return pairs


def common_problems(a: Scores, b: Scores) -> list[str]:
    """The problems, sorted, that every seed of both arms covers.

    Raises:
        InputError: two seeds cover different problems, or none.
    """
    require_same_problems(
        (side, seed, scores)
        for side, arm in zip(SIDES, (a, b), strict=True)
        for seed, scores in sorted(arm.items())
    )
    problems = sorted(next(iter(a.values())))
    if not problems:
        raise InputError(f"{SIDES[0]}: has no problem; score an evaluation set first")
    return problems


def correctness(arm: Scores, seeds: Sequence[int], problems: Sequence[str]) -> NDArray[np.int64]:
    """Correctness, 0 or 1, of shape (seeds, problems).

    Raises:
        InputError: a score is not 0 or 1.
    """
    values = np.array([[arm[seed][problem] for problem in problems] for seed in seeds])
    binary = np.isin(values, (0, 1)).all(axis=0)
    if not binary.all():
        wrong = shown(problems[int(np.argmin(binary))])
        raise InputError(f"the arms: correct is not 0 or 1 for problem {wrong}; score it again")
    return values.astype(np.int64)


def differences(
    a: Scores, b: Scores, pairs: Sequence[SeedPair], problems: Sequence[str]
) -> NDArray[np.int64]:
    """Correctness of `a` minus that of `b`, -1, 0 or 1, of shape (pairs, problems).

    Raises:
        InputError: as `correctness`.
    """
    if not pairs:
        return np.zeros((0, len(problems)), dtype=np.int64)
    first = correctness(a, [seed for _, seed, _ in pairs], problems)
    second = correctness(b, [seed for _, _, seed in pairs], problems)
    return first - second


def _listed(arm: Scores) -> str:
    return "seeds " + ", ".join(map(str, sorted(arm)))
