"""Budgets by privacy-loss distributions: the values that are reported (Section VI-C).

dp_accounting composes them. Its discretisation rounds the privacy loss up, so that a returned epsilon is
never below that of the ideal mechanism, whatever the grid; the grid is chosen here, so that neither little
noise nor many rounds nor a large group needs much memory or time.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from promptdp.privacy.events import Event, by_round
from promptdp.privacy.group import GroupRound
from promptdp.privacy.neighbours import ONE_PROMPT, Neighbours
from promptdp.privacy.rdp import rdp_epsilon

if TYPE_CHECKING:
    from dp_accounting.pld import PLDAccountant

_FINE = 1e-4  # dp_accounting's default grid, on which the paper's budgets are stated
_POINTS = 4e5  # of one round, at most
_POINTS_OF_GROUP = 1e4  # the same for a group, whose loss dp_accounting inverts point by point
_POINTS_COMPOSED = 1e7  # of all rounds, at most: under 1 GiB
_DISCOUNTED = 600.0  # epsilon from which dp_accounting's own search is not used
_LARGEST = 1e300
_RARE = 1e-9  # the part of delta that pays for draws of a group too rare to follow

Round = tuple[int, int, float]


def pld_epsilon(
    events: Sequence[Event], delta: float, neighbours: Neighbours = ONE_PROMPT, coarsening: float = 1
) -> float:
    """The epsilon at delta; events and delta have been checked. Infinite if no finite value is certified.

    Args:
        events: the rounds that are composed.
        delta: for all of them together.
        neighbours: a group is accounted for by its mixture of Gaussians, a replaced prompt by the
            accountant's own replace-one pair, one prompt by the pair of equation (5).
        coarsening: the grid is so much coarser; the epsilon is then larger, never smaller.
    """
    rounds_of = by_round(events)
    groups: dict[Round, GroupRound] = {}
    if neighbours.group > 1:
        rare = _RARE * delta / sum(rounds_of.values())
        for slots, expected, noise_multiplier in rounds_of:
            group = GroupRound(neighbours.group, expected / slots, noise_multiplier, rare)
            groups[slots, expected, noise_multiplier] = group
        delta -= sum(groups[one].slack * rounds for one, rounds in rounds_of.items())
        if delta <= 0:
            return math.inf
    scale = min(1, rdp_epsilon(events, delta)[0])
    try:
        interval = coarsening * _interval(rounds_of, groups, neighbours, scale)
        return _composed(rounds_of, groups, neighbours, interval, delta)
    except OverflowError:
        return math.inf  # so little noise that one step of the grid leaves double precision


def _composed(
    rounds_of: Mapping[Round, int],
    groups: Mapping[Round, GroupRound],
    neighbours: Neighbours,
    interval: float,
    delta: float,
) -> float:
    from dp_accounting import GaussianDpEvent, NeighboringRelation, PoissonSampledDpEvent
    from dp_accounting.pld import PLDAccountant

    for group in groups.values():
        interval = group.clear_grid(interval)
    accountant = PLDAccountant(
        NeighboringRelation.REPLACE_ONE if neighbours.replace_one else NeighboringRelation.ADD_OR_REMOVE_ONE,
        interval,
    )
    for one, rounds in rounds_of.items():
        slots, expected, noise_multiplier = one
        sampled = PoissonSampledDpEvent(expected / slots, GaussianDpEvent(noise_multiplier))
        accountant.compose(groups[one].event if groups else sampled, rounds)
    return _epsilon(accountant, delta)


def _epsilon(accountant: "PLDAccountant", delta: float) -> float:
    """The accountant's epsilon at delta.

    Its own search discounts masses by e^-loss, which leaves double precision beyond 700: there it returns up
    to a few units more, or infinity. Its deltas are right at any epsilon, and are searched instead.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an overflow in what is not used
        epsilon = float(accountant.get_epsilon(delta))
    if epsilon < _DISCOUNTED:
        return epsilon
    low, high = _DISCOUNTED, epsilon
    if math.isinf(epsilon):
        if accountant.get_delta(_LARGEST) > delta:
            return math.inf
        high = 2 * low
        while accountant.get_delta(high) > delta:
            low, high = high, 2 * high
    elif accountant.get_delta(high - 100) > delta:
        low = high - 100
    while high - low > 1e-8 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if accountant.get_delta(middle) > delta else (low, middle)
    return high


def _interval(
    rounds_of: Mapping[Round, int], groups: Mapping[Round, GroupRound], neighbours: Neighbours, scale: float
) -> float:
    """The grid of the privacy loss: _FINE times the scale of epsilon, or what memory and time allow."""
    composed, widest = 0.0, 0.0
    for one, rounds in rounds_of.items():
        slots, expected, sigma = one
        q = expected / slots
        if groups:
            shift, mean, variance = groups[one].largest, neighbours.group * q, neighbours.group * q * (1 - q)
        else:  # replacing a prompt drawn moves the sum by 2C
            shift = 2 if neighbours.replace_one else 1
            mean, variance = shift * q, shift**2 * q * (1 - q)
        # The loss (2xs - s^2) / 2 sigma^2 of an unsampled round moved by s, at x = s + 10 sigma; the mass
        # beyond is below e^-50.
        extent = 10 * shift / sigma + shift**2 / (2 * sigma**2)
        # The variance of the loss, given the number of draws (Poincare's inequality) and of its means.
        spread = math.hypot(math.sqrt(variance + mean**2) / sigma, math.sqrt(variance) * shift / sigma**2)
        # The accountant keeps all but 1e-15 of the composed mass, by Chernoff bounds of the orders from
        # 1 to 20 over the length of a round.
        composed += 4 * extent + 17 * math.sqrt(rounds) * spread + rounds * spread**2 / extent
        widest = max(widest, extent)
    points = _POINTS_OF_GROUP if groups else _POINTS
    return max(_FINE * scale, widest / points, composed / _POINTS_COMPOSED)
