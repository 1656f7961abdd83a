"""A second accountant, from first principles: epsilon between two bounds, with no library for privacy.

Discrete pairs above and below that of equation (5) stay so under composition (equation (6)), which is a
convolution of privacy losses. It is done by FFT after exponential tilting, which puts the mass where the
losses are near epsilon. Rounding, wrap-around and cut tails are bounded and charged, up for the upper bound,
down for the lower one.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import minimize_scalar
from scipy.signal import lfilter

from promptdp.privacy.cells import ROUNDING, Array, Points, cells, extent
from promptdp.privacy.events import Event, by_round, check_events

_CELLS = tuple(2**power for power in range(8, 19))  # of one round, from coarse to fine
_WIDTH = 3e-4  # bounds so near to each other, relatively, are near enough
_ROUNDED_UP = 3e-4, 2e-4  # what another accountant may round up: of epsilon, and in any case
_LONGEST = 2**23  # of an FFT: well under 1 GiB
_CUT = 1e-9  # the part of delta that the cut tails of all rounds may cost
_LOG_OUTSIDE = math.log(1e-20)  # tilted mass outside the window of an FFT, on either side

Composition = Sequence[tuple[Points, int]]
"""Rounds on one grid, each with its number."""


def bracket(events: Sequence[Event], delta: float) -> tuple[float, float]:
    """A lower and an upper bound of the epsilon at delta of several runs on the same slots.

    They bound the ideal mechanism under the add-or-remove-one relation, both directions of equation (6). The
    grid is refined until they are 3e-4 apart, relatively, or as far as memory allows. Then the upper one is
    raised by 3e-4 of itself and 2e-4, for an accountant that rounds up on a grid of its own to lie below it.

    Args:
        events: (slots, expected, rounds, noise multiplier) of each run.
        delta: for all of them together.

    Returns:
        (lower, upper); upper is infinite if no finite bound was found.

    Raises:
        InputError: there is no run, the runs have different slots, or a value is out of its range.
    """
    check_events(events, delta)
    laws = [
        (expected / slots, sigma, rounds) for (slots, expected, sigma), rounds in by_round(events).items()
    ]
    tail = _CUT * delta / sum(rounds for *_, rounds in laws)
    extents = [extent(q, sigma, tail) for q, sigma, _ in laws]
    span = max(last - first for first, last in extents)
    low, high = 0.0, math.inf
    for count in _CELLS:
        step = span / count
        cut = [(cells(q, sigma, step, tail), rounds) for q, sigma, rounds in laws]
        above, below = [], []
        for direction in (0, 1):
            above.append(_Composed([(both[direction].spread(), rounds) for both, rounds in cut], delta))
            below.append(_Composed([(both[direction].merged(), rounds) for both, rounds in cut], delta))
        if math.isfinite(high) and max(one.length for one in above + below) > _LONGEST:
            break
        high = min(high, max(one.epsilon(delta, +1) for one in above))
        low = max(low, max(one.epsilon(delta, -1) for one in below))
        if high - low <= _WIDTH * high:
            break
    return low, high * (1 + _ROUNDED_UP[0]) + _ROUNDED_UP[1]


class _Composed:
    """The composed law of the privacy loss in one direction, tilted to where epsilon is.

    Places are numbers of steps above the least composed loss. The tilt is that of Chernoff's bound on
    epsilon, so that the tilted mean is that bound.

    Attributes:
        length: points of the window that holds the tilted law.
    """

    def __init__(self, composition: Composition, delta: float) -> None:
        self.composition, self.step = composition, composition[0][0].step
        self.first = math.fsum(points.first * rounds for points, rounds in composition)

        def chernoff(log_tilt: float) -> float:
            return (self._log_moment(math.exp(log_tilt)) - math.log(delta)) / math.exp(log_tilt)

        around = math.log(self.step)
        bounds = around - 12, around + 9
        self.tilt = math.exp(minimize_scalar(chernoff, bounds=bounds, method="bounded").x)
        self.log_moment = self._log_moment(self.tilt)
        self.tilted = [_tilted(points.masses, self.tilt)[0] for points, _ in composition]
        self.begin, end = self._window()
        widest = max(len(points.masses) for points, _ in composition)
        self.length = next_fast_len(max(end - self.begin + 1, widest), real=True)

    def epsilon(self, delta: float, side: int) -> float:
        """The epsilon at delta: never less than it if `side` is +1, never more if `side` is -1."""
        tilted, rounding = self._convolved()
        place = self.begin + np.arange(self.length)
        centre = float(place @ tilted)
        start = max(0, math.ceil(centre - 600 / self.tilt) - self.begin)  # below, doubles would overflow
        place = place[start:]
        masses = tilted[start:] * np.exp(-self.tilt * (place - centre))
        # Above each place, the mass, and the mass discounted by e^-(loss - loss at the place).
        fall = math.exp(-self.step)
        mass = np.append(np.cumsum(masses[:0:-1])[::-1], 0.0)
        discounted = np.append(lfilter([fall], [1, -fall], masses[:0:-1])[::-1], 0.0)
        scale = math.exp(self.log_moment - self.tilt * centre)
        rounds = sum(rounds for _, rounds in self.composition)
        exponents = abs(self.log_moment) + self.tilt * abs(centre)
        relative = ROUNDING * (64 * (exponents + rounds) + 4 * self.length)
        infinite = sum(points.infinite * rounds for points, rounds in self.composition)

        def bound(index: NDArray[np.intp] | int, beyond: float) -> Array:
            """The bound on delta at epsilons `beyond` places above those of an index, less than one."""
            charge = rounding * np.exp(-self.tilt * (place[index] + beyond - centre))
            divergence = mass[index] - np.exp(self.step * beyond) * discounted[index]
            return (1 + side * relative) * scale * (divergence + side * charge) + infinite

        over = np.flatnonzero(bound(np.arange(len(place)), 0.0) > delta)
        if side > 0 and len(over) and over[-1] == len(place) - 1:
            return math.inf
        if not len(over):
            return max(0.0, self.first + self.step * float(place[0])) if side > 0 else 0.0
        index, low, high = int(over[-1]), 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if bound(index, middle) > delta else (low, middle)
        steps = self.step * (float(place[index]) + (high if side > 0 else low))
        slack = 64 * ROUNDING * (abs(self.first) + abs(steps))
        return max(0.0, self.first + steps + side * slack)

    def _convolved(self) -> tuple[Array, float]:
        """The composed tilted masses in the window, and a bound on what they add wrongly to any delta.

        The error of an FFT is c u log2(N) times the norm of its result, in the 2-norm, with c below 8 for the
        algorithm used; a spectrum is at most 1, so that T factors add T such errors.
        """
        spectrum = np.ones(self.length // 2 + 1, dtype=complex)
        for tilted, (_, rounds) in zip(self.tilted, self.composition, strict=True):
            spectrum *= rfft(tilted, self.length) ** rounds
        window = np.roll(irfft(spectrum, self.length), -(self.begin % self.length))
        norm = max(float(np.linalg.norm(tilted)) for tilted in self.tilted)
        total = sum(rounds for _, rounds in self.composition)
        error = (total + 1) * 8 * ROUNDING * (math.log2(self.length) + 1) * norm
        return window, math.sqrt(self.length) * error + 2 * math.exp(_LOG_OUTSIDE)

    def _window(self) -> tuple[int, int]:
        """The places between which the tilted mass lies, but for e^_LOG_OUTSIDE on either side (Chernoff)."""
        laws = [(law, rounds) for law, (_, rounds) in zip(self.tilted, self.composition, strict=True)]
        variance = 0.0
        for law, rounds in laws:
            place = np.arange(len(law)) - np.arange(len(law)) @ law
            variance += rounds * float(place**2 @ law)

        def end(tilt: float) -> float:
            moment = math.fsum(rounds * _tilted(law, tilt)[1] for law, rounds in laws)
            return (moment - _LOG_OUTSIDE) / tilt

        tilts = np.geomspace(0.1, 30, 15) / max(1.0, math.sqrt(variance))
        longest = sum(rounds * (len(law) - 1) for law, rounds in laws)
        begin = max(0, math.floor(max(end(-tilt) for tilt in tilts)))
        return begin, min(longest, math.ceil(min(end(tilt) for tilt in tilts)))

    def _log_moment(self, tilt: float) -> float:
        """The log of the composed law's moment of e^(tilt place)."""
        return math.fsum(rounds * _tilted(points.masses, tilt)[1] for points, rounds in self.composition)


def _tilted(masses: Array, tilt: float) -> tuple[Array, float]:
    """Masses tilted by e^(tilt place) and scaled to a sum of 1, and the log of their sum before that."""
    with np.errstate(divide="ignore"):
        terms = np.log(masses) + tilt * np.arange(len(masses))
    largest = terms.max()
    tilted = np.exp(terms - largest)
    total = tilted.sum()
    return tilted / total, float(largest + math.log(total))
