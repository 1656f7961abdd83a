"""One round on a grid of its privacy loss: two discrete pairs that enclose the pair of equation (5).

The outputs are cut into cells where the loss of A = (1-q) N(0, sigma^2) + q N(1, sigma^2) against
B = N(0, sigma^2) crosses the grid. A cell's masses under both laws are known, and so is its likelihood ratio
on average; since in the cell the ratio varies, the pair is

- spread: each cell goes to its two ends, both masses kept. The likelihood ratio grows in the convex order, so
  that no hockey-stick divergence falls;
- merged: parts of neighbouring cells join at the grid point between them. Merging outputs is post-processing,
  so that no hockey-stick divergence grows.

Rounding is bounded cell by cell, and charged up in the first, down in the second.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Array = NDArray[np.float64]

ROUNDING = 2.0**-53
"""The relative rounding of a double."""

_TINY = 1e-300  # doubles near 1e-308 have fewer digits


@dataclass(frozen=True)
class Points:
    """A discrete law of the privacy loss, under the first law of its pair.

    Attributes:
        first: the loss at the first point.
        step: the loss from point to point.
        masses: (n + 1,) the mass at `first` + k steps.
        infinite: the mass at infinity.
    """

    first: float
    step: float
    masses: Array
    infinite: float


@dataclass(frozen=True)
class Cells:
    """One direction of one round, cut into n cells; P is the first law of the pair, Q the second.

    Attributes:
        first: the loss at the lower end of the first cell.
        step: the loss from end to end of a cell.
        masses: (n,) P's mass of each cell.
        errors: (n,) a bound on their rounding.
        excess: (n,) log of P's over Q's mass, less the loss at the cell's lower end: between 0 and `step`.
        doubt: (n,) a bound on its rounding.
        below: P's mass where the loss is less than `first`.
        above: P's mass where the loss is more than that of the last cell.
    """

    first: float
    step: float
    masses: Array
    errors: Array
    excess: Array
    doubt: Array
    below: float
    above: float

    def spread(self) -> Points:
        """The pair above: no smaller hockey-stick divergence at any epsilon."""
        excess = np.clip(self.excess + self.doubt, 0, self.step)
        masses = self.masses + self.errors
        # Q's mass is kept if the lower end takes this part of P's.
        lower = masses * np.expm1(self.step - excess) / math.expm1(self.step)
        points = np.zeros(len(masses) + 1)
        points[:-1] += lower
        points[1:] += masses - lower
        points[0] += self.below
        return Points(self.first, self.step, points, self.above)

    def merged(self) -> Points:
        """The pair below: no larger hockey-stick divergence at any epsilon.

        From the top down, what is left of a cell lifts as much of the next one as its likelihood ratio allows
        to the grid point between them.
        """
        excess = np.clip(self.excess - self.doubt, 0, self.step)
        surplus = (masses := np.maximum(self.masses - self.errors, 0)) * -np.expm1(-excess)
        lack = (self.masses + self.errors) * np.expm1(self.step - excess)
        points = [0.0] * (len(masses) + 1)
        points[-1] = self.above
        mass, gain, cost = masses.tolist(), surplus.tolist(), lack.tolist()
        left = 1.0
        for k in range(len(mass) - 1, 0, -1):
            lifted = min(1.0, left * gain[k] / cost[k - 1]) if cost[k - 1] > 0 else 1.0
            points[k] = left * mass[k] + lifted * mass[k - 1]
            left = 1 - lifted
        points[0] = left * mass[0]
        return Points(self.first, self.step, np.array(points), 0.0)


def cells(q: float, sigma: float, step: float, tail: float) -> tuple[Cells, Cells]:
    """A round's remove direction (P = A, Q = B) and add direction (P = B, Q = A).

    Args:
        q, sigma: the sampling rate and the noise multiplier.
        step: of the grid of the loss.
        tail: the mass that may lie outside the cells on either side, under each law.
    """
    first, last = extent(q, sigma, tail)
    count = math.ceil((last - first) / step)
    above_first = step * np.arange(count + 1, dtype=np.float64)
    losses = first + above_first
    edges = _output(q, sigma, first, above_first)
    b, b_error = _normal_masses(edges / sigma)
    drawn, drawn_error = _normal_masses((edges - 1) / sigma)
    a, a_error = (1 - q) * b + q * drawn, (1 - q) * b_error + q * drawn_error
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.log(a) - np.log(b) - losses[:-1]
        doubt = a_error / a + b_error / b + 64 * ROUNDING * (1 + np.abs(losses[:-1]))
    unknown = ~np.isfinite(excess + doubt)
    excess[unknown], doubt[unknown] = step / 2, step
    left = ndtr(edges[0] / sigma), ndtr((edges[0] - 1) / sigma)
    right = ndtr(-edges[-1] / sigma), ndtr((1 - edges[-1]) / sigma)
    a_left, a_right = ((1 - q) * none + q * one for none, one in (left, right))
    remove = Cells(first, step, a, a_error, excess, doubt, float(a_left), float(a_right))
    add = Cells(
        -float(losses[-1]),
        step,
        b[::-1],
        b_error[::-1],
        (step - excess)[::-1],
        doubt[::-1],
        float(right[0]),
        float(left[0]),
    )
    return remove, add


def extent(q: float, sigma: float, tail: float) -> tuple[float, float]:
    """The losses of A against B between which all but `tail` of both laws lies, on either side."""
    reach = -sigma * float(ndtri(tail))
    last = _loss(q, sigma, 1 + reach)
    return (math.log1p(-q) if q < 1 else _loss(q, sigma, -reach)), last


def _loss(q: float, sigma: float, x: float) -> float:
    """log(A(x) / B(x))."""
    drawn = (2 * x - 1) / (2 * sigma**2)
    return float(np.logaddexp(math.log1p(-q), math.log(q) + drawn)) if q < 1 else drawn


def _output(q: float, sigma: float, first: float, above_first: Array) -> Array:
    """The outputs x with these losses, given above the first; minus infinity at the least loss there is."""
    if q == 1:
        drawn = first + above_first
    else:
        with np.errstate(divide="ignore"):
            drawn = math.log1p(-q) - math.log(q) + above_first + np.log(-np.expm1(-above_first))
    return 0.5 + sigma**2 * drawn


def _normal_masses(edges: Array) -> tuple[Array, Array]:
    """The standard normal mass between neighbouring edges, with a bound on its rounding.

    Both tails are taken on the side where they are small. A relative rounding u of an edge z moves a tail by
    at most (1 + z^2) u, relatively.
    """
    left, right = edges[:-1], edges[1:]
    high = left > 0
    outer = np.where(high, ndtr(-left), ndtr(right))
    inner = np.where(high, ndtr(-right), ndtr(left))
    farthest = np.where(np.isfinite(left), np.maximum(np.abs(left), np.abs(right)), np.abs(right))
    return np.maximum(outer - inner, 0), 8 * ROUNDING * (2 + farthest**2) * outer + _TINY
