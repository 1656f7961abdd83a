"""The mechanism's privacy budget, and the noise multiplier a budget needs (Section VI-C, Appendix A-F).

Budgets are privacy-loss-distribution (PLD) values of dp_accounting under the add-or-remove-one relation: the
discretisation rounds the privacy loss up, so a returned epsilon is never below that of the ideal mechanism,
whatever the grid. The Renyi value beside each is computed by Opacus, whose fractional orders are exact; those
of dp_accounting, since release 0.4.4, are loose by up to 0.02. Nothing here depends on C, G, the loss or the
verifier (Theorem 1).
"""

import importlib.util
import math
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from promptdp.errors import InputError
from promptdp.privacy.mechanism import (
    RELATION,
    Mechanism,
    check_delta,
    check_positive,
    check_rounds,
    check_sampling,
)

SCHEMA = "promptdp/calibration/1"
RDP_ORDERS = [*(i / 10 for i in range(11, 110)), *range(11, 64), 128, 256, 512, 1024]

Event = tuple[int, int, int, float]
"""Rounds of one run: (slots n, expected m, rounds T, noise multiplier sigma)."""

_FINE = 1e-4  # dp_accounting's default grid, on which the paper's budgets are stated
_LARGEST_GRID = 1e6  # points per round; bounds memory when sigma or epsilon is tiny
_WITHIN = 1e-8  # the fast search ends this close below its target, relatively


@dataclass(frozen=True)
class Calibration:
    """A mechanism's parameters with the budget they certify.

    Attributes:
        slots, expected, rounds, noise_multiplier, delta: n, m, T, sigma, delta.
        epsilon_target: the budget sigma was searched for, or None if sigma was given.
        epsilon_pld: the certified epsilon at delta, at most the target.
        epsilon_rdp: the looser Renyi value, reached at order `rdp_order`.
        method: how sigma was found: "fast", "paper-bisection" or "given".
    """

    slots: int
    expected: int
    rounds: int
    noise_multiplier: float
    delta: float
    epsilon_target: float | None
    epsilon_pld: float
    epsilon_rdp: float
    rdp_order: float
    method: str

    def as_json(self) -> dict[str, Any]:
        """The content of a calibration file; q both as a float and as the exact fraction m/n."""
        return {
            "schema": SCHEMA,
            "slots": self.slots,
            "expected": self.expected,
            "rounds": self.rounds,
            "sigma": self.noise_multiplier,
            "delta": self.delta,
            "epsilon_target": self.epsilon_target,
            "epsilon_pld": self.epsilon_pld,
            "epsilon_rdp": self.epsilon_rdp,
            "rdp_order": self.rdp_order,
            "q": self.expected / self.slots,
            "q_fraction": f"{self.expected}/{self.slots}",
            "relation": RELATION,
            "method": self.method,
            "versions": {package: version(package) for package in ("dp-accounting", "opacus")},
        }


def calibrate(
    slots: int,
    expected: int,
    rounds: int,
    epsilon: float,
    delta: float | None = None,
    method: str = "fast",
) -> Calibration:
    """The smallest noise multiplier whose certified budget is at most epsilon.

    Args:
        slots: n.
        expected: m.
        rounds: T.
        epsilon: the target, never exceeded.
        delta: 1/(10 n) if not given, as in the paper.
        method: "fast" ends within 1e-8 of the target from below, or as near as the accountant's rounding at
            a very small delta allows; "paper-bisection" reproduces the digits of Table VII.

    Raises:
        InputError: a value is out of its range, or no noise multiplier meets the target.
    """
    delta = _delta(delta, slots, expected)
    check_rounds(rounds)
    check_positive("epsilon", epsilon)
    if method not in _SEARCHES:
        raise InputError(f"method: must be one of {', '.join(_SEARCHES)}, not {method!r}")

    def spent(noise_multiplier: float, coarsening: float = 1) -> float:
        return _pld([(slots, expected, rounds, noise_multiplier)], delta, coarsening)

    noise_multiplier = _SEARCHES[method](spent, float(epsilon))
    return _certify(slots, expected, rounds, noise_multiplier, delta, float(epsilon), method)


def account(
    slots: int, expected: int, rounds: int, noise_multiplier: float, delta: float | None = None
) -> Calibration:
    """The certified budget of a given noise multiplier; delta is 1/(10 n) if not given.

    Raises:
        InputError: a value is out of its range, or no finite budget can be certified.
    """
    delta = _delta(delta, slots, expected)
    return _certify(slots, expected, rounds, noise_multiplier, delta, None, "given")


def epsilon_pld(slots: int, expected: int, rounds: int, noise_multiplier: float, delta: float) -> float:
    """The epsilon at delta by privacy-loss distributions: what is reported (Definition 2, equation (6)).

    Infinite if the accountant certifies no finite value.

    Raises:
        InputError: a value is out of its range.
    """
    return composed_epsilon([(slots, expected, rounds, noise_multiplier)], delta)


def epsilon_rdp(
    slots: int, expected: int, rounds: int, noise_multiplier: float, delta: float
) -> tuple[float, float]:
    """The epsilon at delta by Renyi differential privacy, with its order (the RDP column of Table VI).

    The conversion is that of Balle et al. [54], the orders those of dp_accounting's default grid.

    Raises:
        InputError: a value is out of its range.
    """
    events = [(slots, expected, rounds, noise_multiplier)]
    _check(events, delta)
    return _rdp(events, delta)


def composed_epsilon(events: Sequence[Event], delta: float) -> float:
    """The epsilon at delta of several runs on the same slots, by composing their privacy-loss distributions.

    Args:
        events: (slots, expected, rounds, noise multiplier) of each run.
        delta: for all of them together.

    Raises:
        InputError: there is no run, the runs have different slots, or a value is out of its range.
    """
    _check(events, delta)
    return _pld(events, delta)


def epsilon_retained(mechanism: Mechanism) -> float:
    """The epsilon of the T rounds the released weights retain; infinite for a non-private arm.

    Right if what interrupted a run did not depend on its data or its private draws.
    """
    return epsilon_all(mechanism, mechanism.rounds)


def epsilon_all(mechanism: Mechanism, begun_attempts: int) -> float:
    """The epsilon with every begun attempt charged as a round, abandoned ones too; infinite if non-private.

    Raises:
        InputError: `begun_attempts` is not an integer of at least 1.
    """
    check_rounds(begun_attempts)
    if not mechanism.private:
        return math.inf
    return epsilon_pld(
        mechanism.slots,
        mechanism.expected,
        begun_attempts,
        mechanism.noise_multiplier,
        mechanism.delta,
    )


def epsilon_bound(mechanism: Mechanism) -> float:
    """An upper bound on `epsilon_retained`, at most 1e-4 above it relatively, in a fraction of its time.

    The discretisation rounds the privacy loss up, so that a coarser grid states more, never less.
    """
    if not mechanism.private:
        return math.inf
    event = (mechanism.slots, mechanism.expected, mechanism.rounds, mechanism.noise_multiplier)
    return _pld([event], mechanism.delta, coarsening=10)


def _certify(
    slots: int,
    expected: int,
    rounds: int,
    noise_multiplier: float,
    delta: float,
    target: float | None,
    method: str,
) -> Calibration:
    certified = epsilon_pld(slots, expected, rounds, noise_multiplier, delta)
    if not math.isfinite(certified):
        raise InputError(
            f"sigma: {noise_multiplier!r} certifies no finite epsilon at delta {delta!r}; raise either"
        )
    renyi, order = epsilon_rdp(slots, expected, rounds, noise_multiplier, delta)
    return Calibration(
        int(slots),
        int(expected),
        int(rounds),
        float(noise_multiplier),
        float(delta),
        target,
        certified,
        renyi,
        order,
        method,
    )


def _delta(delta: float | None, slots: int, expected: int) -> float:
    check_sampling(slots, expected)
    delta = 1 / (10 * slots) if delta is None else delta
    check_delta(delta, slots)
    return delta


def _check(events: Sequence[Event], delta: float) -> None:
    if len({slots for slots, *_ in events}) != 1:
        raise InputError(
            "events: budgets compose over runs on the same slots; give at least one, all with one n"
        )
    for slots, expected, rounds, noise_multiplier in events:
        check_sampling(slots, expected)
        check_rounds(rounds)
        check_positive("sigma", noise_multiplier)
        check_delta(delta, slots)


def _pld(events: Sequence[Event], delta: float, coarsening: float = 1) -> float:
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.pld import PLDAccountant

    interval = coarsening * _interval(events, delta)
    accountant = PLDAccountant(value_discretization_interval=interval)
    try:
        for (slots, expected, noise_multiplier), rounds in _by_round(events).items():
            event = PoissonSampledDpEvent(expected / slots, GaussianDpEvent(noise_multiplier))
            accountant.compose(event, rounds)
        return float(accountant.get_epsilon(delta))
    except OverflowError:
        return math.inf  # so little noise that one step of the grid leaves double precision


def _interval(events: Sequence[Event], delta: float) -> float:
    """The grid of the privacy loss: finer than _FINE if epsilon < 1, at most _LARGEST_GRID points a round."""
    epsilon, _ = _rdp(events, delta)
    sigma = min(noise_multiplier for *_, noise_multiplier in events)
    # The loss (2x + 1) / 2 sigma^2 of an unsampled round at x = 10 sigma; the mass beyond is below e^-50.
    range_of_loss = 10 / sigma + 1 / (2 * sigma**2)
    return max(_FINE * min(1, epsilon), range_of_loss / _LARGEST_GRID)


def _rdp(events: Sequence[Event], delta: float) -> tuple[float, float]:
    curves = [
        [rounds * _renyi_divergence(expected / slots, noise_multiplier, order) for order in RDP_ORDERS]
        for (slots, expected, noise_multiplier), rounds in _by_round(events).items()
    ]
    with warnings.catch_warnings():  # the minimum may sit at an end of the grid: looser, still a bound
        warnings.simplefilter("ignore")
        epsilon, order = _opacus_rdp().get_privacy_spent(
            orders=RDP_ORDERS, rdp=[sum(terms) for terms in zip(*curves, strict=True)], delta=delta
        )
    return max(0.0, float(epsilon)), float(order)


def _renyi_divergence(q: float, noise_multiplier: float, order: float) -> float:
    try:
        return float(
            _opacus_rdp().compute_rdp(q=q, noise_multiplier=noise_multiplier, steps=1, orders=float(order))
        )
    except (ValueError, OverflowError):
        return math.inf  # the series left double precision: the other orders still give a bound


def _by_round(events: Sequence[Event]) -> Counter[tuple[int, int, float]]:
    """The number of rounds of each (slots, expected, noise multiplier); equal rounds compose at once."""
    rounds_of: Counter[tuple[int, int, float]] = Counter()
    for slots, expected, rounds, noise_multiplier in events:
        rounds_of[int(slots), int(expected), float(noise_multiplier)] += int(rounds)
    return rounds_of


@cache
def _opacus_rdp() -> ModuleType:
    """Opacus' Renyi analysis by itself: importing the package around it would load torch."""
    package = importlib.util.find_spec("opacus")
    assert package is not None and package.submodule_search_locations
    path = Path(package.submodule_search_locations[0], "accountants", "analysis", "rdp.py")
    spec = importlib.util.spec_from_file_location("opacus_rdp", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _fast(spent: Callable[..., float], target: float) -> float:
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

    met = []
    for _ in range(8):  # more would follow the rounding of a very small delta
        epsilon = spent(math.exp(log_sigma))
        if epsilon <= target:
            met.append(math.exp(log_sigma))
            if epsilon >= target * (1 - _WITHIN):
                break
        log_sigma -= math.log(epsilon / (target * (1 - _WITHIN / 2))) / slope
    return min(met) if met else _safe_end(spent, target, math.exp(log_sigma))


def _safe_end(spent: Callable[..., float], target: float, noise_multiplier: float) -> float:
    """Add noise in growing steps until the target is met."""
    step = 1e-9
    while spent(noise_multiplier) > target:
        noise_multiplier *= 1 + step
        step *= 2
    return noise_multiplier


def _paper_bisection(spent: Callable[..., float], target: float, halvings: int = 30) -> float:
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


_SEARCHES: dict[str, Callable[..., float]] = {"fast": _fast, "paper-bisection": _paper_bisection}
