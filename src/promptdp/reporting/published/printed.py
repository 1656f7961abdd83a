"""Printed numbers as what they can stand for: every value that rounds to them, in exact arithmetic."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

_POWER = re.compile(r"(?:(?P<mantissa>[0-9]+(?:\.[0-9]+)?)×)?(?P<base>10|2)\^(?P<exponent>-?[0-9]{1,3})")
_RATIO = re.compile(r"1/(?P<below>[1-9][0-9,]*)")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.(?P<decimals>[0-9]+))?")


@dataclass(frozen=True)
class Span:
    """An interval of numbers, its ends included."""

    low: Fraction
    high: Fraction

    def __add__(self, other: "Span") -> "Span":
        """All sums of a number of each."""
        return Span(self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Span") -> "Span":
        """All differences of a number of each."""
        return Span(self.low - other.high, self.high - other.low)

    def __neg__(self) -> "Span":
        """All numbers with the sign turned."""
        return Span(-self.high, -self.low)

    def __mul__(self, factor: "Span | int | float | Fraction") -> "Span":
        """All products of a number of each."""
        other = factor if isinstance(factor, Span) else point(factor)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Span(min(ends), max(ends))

    def __truediv__(self, divisor: "Span | int | float | Fraction") -> "Span":
        """All quotients of a number of each; the divisors are positive."""
        other = divisor if isinstance(divisor, Span) else point(divisor)
        assert other.low > 0, "only what is positive is divided by"
        return self * Span(1 / other.high, 1 / other.low)

    def widened(self, by: "float | Fraction") -> "Span":
        """The interval with `by` more at both ends."""
        return Span(self.low - exact(by), self.high + exact(by))

    def meets(self, other: "Span") -> bool:
        """Whether a number lies in both."""
        return self.low <= other.high and other.low <= self.high

    def overlaps(self, other: "Span") -> bool:
        """Whether both can stand for one number that is rounded in one way: they share more than an end."""
        return self == other or (self.low < other.high and other.low < self.high)

    def distance(self, other: "Span") -> Fraction:
        """How far apart two intervals are; 0 where they meet."""
        return max(self.low - other.high, other.low - self.high, Fraction(0))


def exact(value: "int | float | Fraction") -> Fraction:
    """A number as a fraction; a float stands for its shortest decimal, as it is printed."""
    return value if isinstance(value, Fraction) else Fraction(str(value))


def point(value: "int | float | Fraction") -> Span:
    """The interval of one number."""
    return Span(exact(value), exact(value))


def middle(span: Span) -> Fraction:
    """The number as it is printed."""
    return (span.low + span.high) / 2


def mean(spans: Iterable[Span]) -> Span:
    """The mean of numbers known to within intervals."""
    of = list(spans)
    return sum(of[1:], of[0]) / len(of)


def printed(text: str, whole: bool) -> Span:
    """All numbers that a printed one can stand for.

    Args:
        text: such as `+2.65`, `6,988`, `6.4×10^-5`, `2^-12` or `1/69,880`; the last two, and powers of ten
            without a factor, are exact.
        whole: a number without decimals is exact; otherwise it was rounded to the next whole one.

    Raises:
        ValueError: the text is no such number.
    """
    if match := _POWER.fullmatch(text):
        unit = Fraction(int(match["base"])) ** int(match["exponent"])
        factor = printed(match["mantissa"] or "1", whole or not match["mantissa"])
        return Span(factor.low * unit, factor.high * unit)
    if match := _RATIO.fullmatch(text):
        return point(Fraction(1, int(match["below"].replace(",", ""))))
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise ValueError("is no number as the paper prints them")
    centre = Fraction(text.replace(",", ""))
    decimals = len(match["decimals"] or "")
    half = Fraction(0) if whole and not decimals else Fraction(1, 2 * 10**decimals)
    return Span(centre - half, centre + half)
