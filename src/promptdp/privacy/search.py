"""Searches for the smallest noise multiplier whose budget is at most a target.

A search asks `spent(noise_multiplier, coarsening)` for the epsilon of a noise multiplier; a larger
`coarsening` is quicker and states more. What it returns has been asked for on the finest grid and met the
target.
"""

import math
from collections.abc import Callable

from promptdp.errors import InputError
from promptdp.privacy.events import LEAST_NOISE, MOST_NOISE

_WITHIN = 1e-8  # the fast search ends this close below its target, relatively
_STEPS, _NEARLY = 4, 1e-6  # or, after so many steps on the finest grid, that close: the rest is rounding


def fast(spent: Callable[..., float], target: float) -> float:
    """Solve on a hundredfold coarser grid, then step to the target on the fine one with the slope found."""
    from scipy.optimize import brentq

    def coarse_gap(log_sigma: float) -> float:
        return math.log(max(spent(math.exp(log_sigma), 100), 1e-300) / target)

    low, high = 0.5, 1.0
    while coarse_gap(math.log(high)) > 0:
        low, high = high, _doubled(high, target)
    while coarse_gap(math.log(low)) < 0:
        low, high = low / 2, low
        if low < LEAST_NOISE:
            raise _almost_none(target)
    log_sigma = brentq(coarse_gap, math.log(low), math.log(high), xtol=1e-9)
    slope = min((coarse_gap(log_sigma + 1e-3) - coarse_gap(log_sigma)) / 1e-3, -0.1)  # never flat or rising

    met: list[float] = []
    last: tuple[float, float] | None = None
    for step in range(2 * _STEPS):
        epsilon = spent(math.exp(log_sigma))
        if epsilon <= target:
            met.append(math.exp(log_sigma))
            if epsilon >= target * (1 - (_WITHIN if step < _STEPS else _NEARLY)):
                break
        aim = target * (1 - _WITHIN / 2)  # an epsilon may be 0 or infinite, so the step is bounded
        gap = math.log(min(max(epsilon, aim / 1e3), aim * 1e3) / aim)
        if last is not None and step >= 3:  # the slope of the coarse grid is off
            secant = (gap - last[1]) / (log_sigma - last[0])
            slope = secant if 0.5 < secant / slope < 2 else slope
        last = log_sigma, gap
        log_sigma -= gap / slope
    return min(met) if met else _safe_end(spent, target, math.exp(log_sigma))


def _safe_end(spent: Callable[..., float], target: float, noise_multiplier: float) -> float:
    """Add noise in growing steps until the target is met."""
    step = 1e-9
    while spent(noise_multiplier) > target:
        noise_multiplier *= 1 + step
        step *= 2
    return noise_multiplier


def paper_bisection(spent: Callable[..., float], target: float, halvings: int = 30) -> float:
    """The rule behind the digits of Table VII: double to bracket, halve 30 times, keep the upper end."""
    low, high = 0.05, 1.0
    if spent(low, 100) <= target:
        raise _almost_none(target)
    while spent(high) > target:
        low, high = high, _doubled(high, target)
    for _ in range(halvings):
        middle = (low + high) / 2
        if spent(middle) > target:
            low = middle
        else:
            high = middle
    return high


def _doubled(noise_multiplier: float, target: float) -> float:
    if 2 * noise_multiplier > MOST_NOISE:
        raise InputError(f"epsilon: {target!r} asks for more noise than an accountant can tell; raise it")
    return 2 * noise_multiplier


def _almost_none(target: float) -> InputError:
    return InputError(f"epsilon: {target!r} asks for almost no noise; lower it, or run a non-private arm")


SEARCHES: dict[str, Callable[..., float]] = {"fast": fast, "paper-bisection": paper_bisection}
