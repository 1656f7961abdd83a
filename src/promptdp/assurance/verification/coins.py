"""Poisson sampling: how often slots are drawn, and that they are drawn independently."""

from collections.abc import Callable, Iterable

import numpy as np

from promptdp.assurance.verification.chance import LEVEL, adjusted, binomial_p
from promptdp.assurance.verification.row import Claim, Row
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Randomness, Stream
from promptdp.privacy.sampler import poisson_draw

Draw = Callable[[Mechanism, Stream], list[int]]
SIX_OF = Mechanism(slots=10, expected=2, rounds=1, noise_multiplier=1.0, clipping_norm=1.0, delta=1e-6)
TRIALS, OWN_TRIALS = 20_000, 4_000
FREQUENCY_TOLERANCE, CORRELATION_TOLERANCE = 0.012, 0.035
FREQUENCY = Claim(
    id="coins-frequency",
    title="Poisson frequency",
    source="Appendix B; Algorithm 1, line 2",
    claim="Each slot is drawn with probability q.",
    method="Six slots of ten at q = 2/10 over 20,000 draws of the production sampler from a fixed "
    "source. Value: the largest error of a slot's frequency.",
)
CORRELATION = Claim(
    id="coins-independence",
    title="Poisson independence",
    source="Appendix B; Algorithm 1, line 2",
    claim="Slots are drawn independently of each other.",
    method="The same draws. Value: the largest absolute correlation of two slots.",
)
OWN = Claim(
    id="coins-own",
    title="Coins at the study's own n and m",
    source="Assumption (A3); Algorithm 1, line 2",
    claim="Coins are independent, with probability exactly m/n, across slots and rounds.",
    method="4,000 draws of the production sampler from the operating system's randomness at every n "
    "and m of the study and at the paper's. Exact binomial tests: each slot's count; the count of "
    "all; how many rounds draw a number of slots near m (a fixed batch size fails it); how often a "
    "slot is drawn in two rounds running; how often two neighbouring slots are drawn together. Value: "
    "the smallest p-value, adjusted for their number.",
)


def check_six_slots(draw: Draw = poisson_draw) -> list[Row]:
    """The paper's test, with its tolerances."""
    drawn = _drawn(SIX_OF, TRIALS, Randomness.seeded(1), draw)[:, :6]
    frequencies = drawn.mean(axis=0)
    with np.errstate(invalid="ignore"):  # a slot that never changes has no correlation: NaN, which fails
        correlations = np.corrcoef(drawn.T.astype(float))[np.triu_indices(6, 1)]
    return [
        FREQUENCY.at_most(float(np.abs(frequencies - 0.2).max()), FREQUENCY_TOLERANCE),
        CORRELATION.at_most(float(np.abs(correlations).max()), CORRELATION_TOLERANCE),
    ]


def check_own_coins(mechanisms: Iterable[Mechanism], draw: Draw = poisson_draw) -> Row:
    """Exact tests at the (n, m) of each mechanism."""
    settings = {(mechanism.slots, mechanism.expected): mechanism for mechanism in mechanisms}
    p_values = [
        p
        for mechanism in settings.values()
        for p in _p_values(_drawn(mechanism, OWN_TRIALS, Randomness.from_os(), draw), mechanism)
    ]
    return OWN.at_least(adjusted(p_values), LEVEL)


def _drawn(mechanism: Mechanism, trials: int, randomness: Randomness, draw: Draw) -> np.ndarray:
    """Which slots each of the trials drew, bool (trials, n)."""
    drawn = np.zeros((trials, mechanism.slots), dtype=bool)
    for t, row in enumerate(drawn, start=1):
        row[draw(mechanism, randomness.stream(t, "coins"))] = True
    return drawn


def _p_values(drawn: np.ndarray, mechanism: Mechanism) -> Iterable[float]:
    trials, slots = drawn.shape
    q = float(mechanism.sampling_rate)
    yield from binomial_p(drawn.sum(axis=0), trials, q)
    yield float(binomial_p(drawn.sum(), trials * slots, q))
    sizes, low, high = drawn.sum(axis=1), *_central(slots, q)
    share = float(_below(high, slots, q) - _below(low - 1, slots, q))
    yield float(binomial_p(((sizes >= low) & (sizes <= high)).sum(), trials, share))
    even = trials // 2 * 2
    twice = (drawn[:even:2] & drawn[1:even:2]).sum()
    yield float(binomial_p(twice, even // 2 * slots, q * q))
    pairs = slots // 2
    together = (drawn[:, : 2 * pairs : 2] & drawn[:, 1 : 2 * pairs : 2]).sum()
    yield float(binomial_p(together, trials * pairs, q * q))


def _central(slots: int, q: float) -> tuple[int, int]:
    """Batch sizes within two thirds of a standard deviation of m: about half of all."""
    reach = 0.67 * (slots * q * (1 - q)) ** 0.5
    return int(np.ceil(slots * q - reach)), int(np.floor(slots * q + reach))


def _below(size: int, slots: int, q: float) -> float:
    from scipy.stats import binom

    return binom.cdf(size, slots, q)
