"""The mechanism's public parameters: the one place where q, sigma, C, T, delta and the divisor qn are set.

The sampler, the noise, the divisor of line 8 and the accountant all read the same frozen `Mechanism`
(Algorithm 1; Definitions 2 and 3). Nothing here depends on a record.
"""

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from promptdp.errors import InputError

RELATION = "add-or-remove-one"
DELTA_FLOOR = 1e-11  # below this the accountant's double-precision convolutions are rounding noise


@dataclass(frozen=True)
class Mechanism:
    """The Poisson-subsampled Gaussian mechanism, composed over a fixed number of rounds.

    Attributes:
        slots: n, the public number of places; each holds at most one record.
        expected: m, the expected number of slots drawn per round; q = m / n exactly.
        rounds: T.
        noise_multiplier: sigma, in units of the clipping norm; 0 for a non-private arm.
        clipping_norm: C, the largest L2 norm of one record's contribution; infinity only when sigma is 0.
        delta: the delta at which epsilon is stated, below 1/n.
        relation: the neighbouring relation of Definition 3: one presence bit differs.

    Raises:
        InputError: a value is not of the stated kind or range.
    """

    slots: int
    expected: int
    rounds: int
    noise_multiplier: float
    clipping_norm: float
    delta: float
    relation: str = RELATION

    def __post_init__(self) -> None:
        """Refuse a mechanism outside the theorem, or one no accountant can state."""
        check_sampling(self.slots, self.expected)
        check_rounds(self.rounds)
        check_delta(self.delta, self.slots)
        if not _is_real(self.noise_multiplier) or not 0 <= self.noise_multiplier < math.inf:
            raise InputError(
                f"noise_multiplier: must be 0 (non-private) or positive and finite, not "
                f"{self.noise_multiplier!r}"
            )
        if not _is_real(self.clipping_norm) or not self.clipping_norm > 0:
            raise InputError(f"clipping_norm: must be positive, not {self.clipping_norm!r}")
        if self.private and math.isinf(self.clipping_norm):
            raise InputError(
                "clipping_norm: an unclipped record has unbounded sensitivity; "
                "give a finite norm, or noise_multiplier 0 for a non-private arm"
            )
        if self.relation != RELATION:
            raise InputError(f"relation: only {RELATION!r} is supported, not {self.relation!r}")

    @property
    def sampling_rate(self) -> Fraction:
        """The sampling rate q = m / n, exactly."""
        return Fraction(self.expected, self.slots)

    @property
    def divisor(self) -> int:
        """The public divisor qn = m of line 8; never the realised batch size."""
        return self.expected

    @property
    def noise_std(self) -> float:
        """The standard deviation sigma * C of each coordinate of z_t (line 8); 0 for a non-private arm."""
        return self.noise_multiplier * self.clipping_norm if self.private else 0.0

    @property
    def private(self) -> bool:
        """Whether noise is added at all."""
        return self.noise_multiplier > 0

    def as_json(self) -> dict[str, Any]:
        """The fields as JSON values; a missing clipping (C infinite) is null."""
        fields = asdict(self)
        return fields | {"clipping_norm": self.clipping_norm if math.isfinite(self.clipping_norm) else None}


def check_sampling(slots: int, expected: int) -> None:
    """Refuse anything but integers 1 <= m <= n (InputError)."""
    check_count("slots", slots)
    check_count("expected", expected)
    if expected > slots:
        raise InputError(f"expected: {expected} of {slots} slots is a sampling rate above 1; lower expected")


def check_rounds(rounds: int) -> None:
    """Refuse anything but an integer T >= 1 (InputError)."""
    check_count("rounds", rounds)


def check_count(name: str, count: int) -> None:
    """Refuse anything but an integer of at least 1 (InputError naming `name`)."""
    if not _is_integer(count) or count < 1:
        raise InputError(f"{name}: must be an integer of at least 1, not {count!r}")


def check_delta(delta: float, slots: int) -> None:
    """Refuse anything but DELTA_FLOOR <= delta < 1/n (InputError).

    At delta = 1/n a mechanism that publishes one record outright would pass.
    """
    if not _is_real(delta) or not 0 < delta < 1 / slots:
        raise InputError(f"delta: must lie above 0 and below 1/slots = {1 / slots:.3g}, not {delta!r}")
    if delta < DELTA_FLOOR:
        raise InputError(f"delta: {delta!r} is below the accountant's floor {DELTA_FLOOR}; raise it")


def check_positive(name: str, value: float) -> None:
    """Refuse anything but a positive finite number (InputError naming `name`)."""
    if not _is_real(value) or not 0 < value < math.inf:
        raise InputError(f"{name}: must be positive and finite, not {value!r}")


def _is_integer(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
