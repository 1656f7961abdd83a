"""The budget that a certificate states, computed from a ledger and held against a second accountant.

The privacy-loss-distribution value is stated; Renyi's and a bracket by an accountant of our own, which shares
no code with the first, stand beside it. The conversions to other relations are the paper's.
"""

import math
from collections.abc import Sequence
from decimal import ROUND_UP, Context
from pathlib import Path
from typing import Any

from promptdp.errors import InputError, PrivacyRefusal
from promptdp.privacy.accounting import Event, composed_epsilon, epsilon_all, epsilon_rdp, epsilon_retained
from promptdp.privacy.bracket import bracket
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.neighbours import Neighbours

NUMBERS = (
    "epsilon",
    "epsilon_all",
    "epsilon_retained",
    "epsilon_rdp",
    "rdp_order",
    "bracket",
    "epsilon_composed",
)
"""What an accountant computes for a certificate; the first is its headline."""
UNDERSTATED = 1e-6
"""How far a recomputed epsilon may exceed a stated one: versions of an accountant differ by less."""
OTHERWISE = 1e-3
"""How far two computations of one number may differ at all."""


def budget(mechanism: Mechanism, begun_attempts: int, looks: Sequence[Event], path: Path) -> dict[str, Any]:
    """Every number of a certificate that an accountant computes: NUMBERS.

    Args:
        mechanism: of the run, with noise.
        begun_attempts: of its ledger; each is charged as a round.
        looks: what each look with noise at the same slots is charged, the run's own among them.
        path: the file that says so, for errors.

    Raises:
        InputError: a value is out of its range, or no finite budget can be stated.
        PrivacyRefusal: the second accountant contradicts the first.
    """
    event = (mechanism.slots, mechanism.expected, begun_attempts, mechanism.noise_multiplier)
    delta = mechanism.delta
    try:
        epsilon = epsilon_all(mechanism, begun_attempts)
        composed = epsilon if list(looks) == [event] else composed_epsilon(looks, delta)
        renyi, order = epsilon_rdp(*event, delta)
        low, high = bracket([event], delta)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except ArithmeticError:  # so little noise, or so many rounds, that a step leaves double precision
        composed = renyi = high = math.inf
    if not all(map(math.isfinite, (composed, renyi, high))):
        raise InputError(f"{path}: so little noise certifies no finite epsilon; there is no budget to state")
    if not low <= epsilon <= high:
        raise PrivacyRefusal(
            f"{path}: the accountants disagree: epsilon {epsilon!r} lies outside the bracket "
            f"[{low!r}, {high!r}]; state neither, and report this mechanism"
        )
    return {
        "epsilon": epsilon,
        "epsilon_all": epsilon,
        "epsilon_retained": epsilon_retained(mechanism) if begun_attempts > mechanism.rounds else epsilon,
        "epsilon_rdp": renyi,
        "rdp_order": order,
        "bracket": [low, high],
        "epsilon_composed": composed,
    }


def check_budget(stated: dict[str, Any], recomputed: dict[str, Any], path: Path) -> None:
    """Hold the numbers that a file states to recomputed ones.

    Raises:
        InputError: a number is not the one that follows.
        PrivacyRefusal: an epsilon is smaller than what was spent.
    """
    for key, value in recomputed.items():
        for claimed, true in zip(_numbers(stated[key]), _numbers(value), strict=True):
            if key.startswith("epsilon") and true > claimed + UNDERSTATED:
                raise PrivacyRefusal(
                    f"{path}: states {key} = {claimed!r}, but {true!r} was spent; don't rely on it"
                )
            if abs(true - claimed) > OTHERWISE:
                raise InputError(
                    f"{path}: states {key} = {claimed!r}, but {true!r} follows from its files; "
                    "don't rely on it"
                )
    low, high = recomputed["bracket"]
    if not low <= stated["epsilon"] <= high:
        raise PrivacyRefusal(
            f"{path}: states epsilon = {stated['epsilon']!r}, outside the bracket [{low!r}, {high!r}] of the "
            "second accountant; don't rely on it"
        )


def two_steps(epsilon: float, delta: float) -> dict[str, Any]:
    """What holds for datasets two add-or-remove steps apart: Corollary 1, and Proposition 1 with k = 2.

    The delta is rounded up to six digits, so that it is the same on every machine; one of 1 says nothing.
    """
    twice, exact = Neighbours(replace_one=True).converted(epsilon, delta)
    rounded = float(Context(prec=6, rounding=ROUND_UP).create_decimal_from_float(min(1.0, exact)))
    return {"epsilon": twice, "delta": rounded, "vacuous": rounded >= 1}


def _numbers(value: float | list[float]) -> list[float]:
    return value if isinstance(value, list) else [value]
