"""The mechanism of a run, from its settings and a calibration file that is checked, never trusted."""

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptdp.errors import InputError
from promptdp.files import read_object
from promptdp.privacy.accounting import epsilon_bound, epsilon_retained
from promptdp.privacy.mechanism import Mechanism

if TYPE_CHECKING:
    from promptdp.study import RunSettings

TOLERANCE = 1e-3
"""How far the bound may exceed the stated epsilon, relatively; the quick grid is off by less than a tenth."""


def calibrated_mechanism(
    settings: "RunSettings", calibration: str | Path | None
) -> tuple[Mechanism, float | None]:
    """The mechanism of a run and the epsilon of its rounds; None for a non-private arm.

    The noise multiplier comes from the calibration. A wrong one would void the guarantee, so that its epsilon
    is bounded afresh. With a replay reserve the calibration is of more rounds than the mechanism has.

    Raises:
        InputError: the calibration is missing, malformed, of another mechanism or budget, or its noise
            doesn't meet the budget it states.
    """
    sigma, epsilon = _checked(settings, calibration) if settings.private else (0.0, None)
    mechanism = Mechanism(
        slots=settings.slots,
        expected=settings.expected,
        rounds=settings.rounds,
        noise_multiplier=sigma,
        clipping_norm=math.inf if settings.clipping_norm is None else settings.clipping_norm,
        delta=settings.delta,
    )
    if epsilon is None:
        return mechanism, None
    calibrated = replace(mechanism, rounds=settings.calibrated_rounds)
    if not epsilon_bound(calibrated) <= epsilon * (1 + TOLERANCE):
        raise InputError(f"{calibration}: sigma spends more than the stated epsilon_pld; calibrate again")
    return mechanism, epsilon_retained(mechanism) if settings.replay_reserve else epsilon


def _checked(settings: "RunSettings", calibration: str | Path | None) -> tuple[float, float]:
    """The noise multiplier and the epsilon that a calibration states for these settings."""
    if calibration is None:
        raise InputError(f"{settings.arm}: a private arm needs its calibration; make it with `calibrate`")
    found = read_object(calibration)
    for key in ("sigma", "epsilon_pld"):
        if not _is_positive(found.get(key)):
            raise InputError(f"{calibration}: {key} is not a positive number; calibrate again")
    required = {key: getattr(settings, key) for key in ("slots", "expected", "delta")}
    required["rounds"] = settings.calibrated_rounds
    if settings.noise_multiplier is None:
        required["epsilon_target"] = settings.epsilon
        if settings.epsilon is None or found["epsilon_pld"] > settings.epsilon:
            raise InputError(f"{calibration}: epsilon_pld is above the target of arm {settings.arm}")
    else:
        required["sigma"] = settings.noise_multiplier
    for key, value in required.items():
        if found.get(key) != value:
            raise InputError(f"{calibration}: {key} is not that of arm {settings.arm}; calibrate again")
    return float(found["sigma"]), float(found["epsilon_pld"])


def _is_positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf
