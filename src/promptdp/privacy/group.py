"""One round as a group of K prompts meets it: the mixture of Gaussians that dominates it.

A round draws J ~ Binom(K, q) of the group's prompts, each of norm at most C, so that the sum moves by at most
JC: N(J, sigma^2) against N(0, sigma^2) in units of C dominates it (Choquette-Choo et al., arXiv 2310.15526;
Ganesh, arXiv 2401.10294). dp_accounting has this event; where its approximations round down, that is charged.
"""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dp_accounting.dp_event import DpEvent

_LEAST_RATE = 1e-7  # below this the accountant would take the group's lowest loss for zero; more is safe
_ALWAYS = 1e-9  # a largest number drawn with all but this probability counts as drawn always
_STANDARD_DEVIATION = 100.0  # the unit of the noise given to dp_accounting, which inverts the loss ...
_PRECISION = 1e-6  # ... to this absolute precision


class GroupRound:
    """One round of a group.

    Args:
        group: K.
        rate: q.
        noise_multiplier: sigma.
        rare: numbers of draws beyond a quantile of this probability, on either side, are not followed.

    Attributes:
        largest: the largest number of draws followed.
        slack: by how much a round's delta may be understated, in either direction: the probability not
            followed, and where the accountant's inverse misses the best threshold, to second order.
        event: the event of dp_accounting.
    """

    def __init__(self, group: int, rate: float, noise_multiplier: float, rare: float) -> None:
        import numpy as np
        from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
        from dp_accounting.dp_event import MixtureOfGaussiansDpEvent
        from scipy.stats import binom

        rate = max(rate, _LEAST_RATE)
        fewest = int(binom.ppf(rare, group, rate))
        self.largest = max(1, group - int(binom.ppf(rare, group, 1 - rate)))
        draws = np.arange(fewest, self.largest + 1)
        weights = binom.pmf(draws, group, rate)
        weights /= weights.sum()
        density = 0.4 / _STANDARD_DEVIATION
        slope = self.largest / (noise_multiplier * _STANDARD_DEVIATION)
        self.slack = 3 * rare + density * slope * _PRECISION**2
        self.event: DpEvent
        if weights[-1] > 1 - _ALWAYS:  # more draws than there are, which is safe
            self.event = PoissonSampledDpEvent(1, GaussianDpEvent(noise_multiplier / self.largest))
        else:
            unit = _STANDARD_DEVIATION / noise_multiplier
            self.event = MixtureOfGaussiansDpEvent(_STANDARD_DEVIATION, draws * unit, weights)
        self._lowest_loss = -math.log(weights[draws == 0].sum()) if draws[0] == 0 else math.inf

    def clear_grid(self, interval: float) -> float:
        """The grid, a little coarser where a point of it nearly meets the loss of drawing nobody.

        The accountant takes a loss within 1e-5 of that one, relatively, for it, which rounds down.
        """
        if not math.isfinite(self._lowest_loss):
            return interval
        while self._nearest(interval) < 2e-5 * self._lowest_loss:
            interval *= 1.001
        return interval

    def _nearest(self, interval: float) -> float:
        place = self._lowest_loss / interval
        return abs(place - round(place)) * interval
