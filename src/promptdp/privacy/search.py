"""Searches for the smallest noise multiplier whose budget is at most a target.

A search asks `spent(noise_multiplier, coarsening)` for the epsilon of a noise multiplier; a larger
`coarsening` is quicker and states more. What it returns has been asked for on the finest grid and met the
target.
"""

import math
from collections.abc import Callable

from promptdp.errors import InputError

_WITHIN = 1e-8  # the fast search ends this close below its target, relatively


def fast(spent: Callable[..., float], target: float) -> float:
    """Solve on a hundredfold coarser grid, then step to the target on the fine one with the slope found."""
    from scipy.optimize import brentq

    def coarse_gap(log_sigma: float) -> float:
        return math.log(max(spent(math.exp(log_sigma), 100), 1e-300) / target)

    low, high = 0.5, 1.0
    while coarse_gap(math.log(high)) > 0:
        low, high = high, 2 * high
    while coarse_gap(math.log(low)) < 0:
        low, high = low / 2, low
        if low < 1e-2:
            raise InputError(
                f"epsilon: {target!r} asks for almost no noise; lower it, or run a non-private arm"
            )
    log_sigma = brentq(coarse_gap, math.log(low), math.log(high), xtol=1e-9)
    slope = (coarse_gap(log_sigma + 1e-3) - coarse_gap(log_sigma)) / 1e-3

    met: list[float] = []
    last: tuple[float, float] | None = None
    for step in range(8):  # more would follow the rounding of a very small delta
        epsilon = spent(math.exp(log_sigma))
        if epsilon <= target:
            met.append(math.exp(log_sigma))
            if epsilon >= target * (1 - _WITHIN):
                break
        gap = math.log(epsilon / (target * (1 - _WITHIN / 2)))
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
    while spent(high) > target:
        low, high = high, 2 * high
    for _ in range(halvings):
        middle = (low + high) / 2
        if spent(middle) > target:
            low = middle
        else:
            high = middle
    return high


SEARCHES: dict[str, Callable[..., float]] = {"fast": fast, "paper-bisection": paper_bisection}
