"""The cells of tables: each is a text for reading and the numbers behind it at full precision."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Number = int | float | str | None
ABSENT = "–"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Cell:
    """A cell; `values` are its numbers by the ending of their CSV column ("" is the column's own)."""

    text: str
    values: Mapping[str, Number]


def label(text: str) -> Cell:
    """A cell of words."""
    return Cell(text, {"": text})


def absent(*endings: str) -> Cell:
    """A cell for a value, or the values of some endings, that do not exist."""
    return Cell(ABSENT, dict.fromkeys(endings or ("",)))


def count(value: int) -> Cell:
    """A whole number with thousands separated."""
    return Cell(f"{value:,}", {"": value})


def number(value: float, decimals: int) -> Cell:
    """A number with fixed decimals."""
    return Cell(fixed(value, decimals), {"": value})


def exact(value: float | None) -> Cell:
    """A number in the fewest digits that give the same float."""
    return absent() if value is None else Cell(repr(value), {"": value})


def gain(contrast: Mapping[str, Any] | None) -> Cell:
    """A contrast as `+2.65 [1.79, 3.51]`, with its minimum detectable effect if that includes zero."""
    if contrast is None:
        return absent("", "low", "high", "MDE")
    low, high = contrast["ci95_pp"]
    shown = includes_zero(contrast)
    text = f"{signed(contrast['difference_pp'])} {interval(contrast['ci95_pp'])}"
    return Cell(
        f"{text}, MDE {fixed(contrast['mde_pp'], 2)}" if shown else text,
        {
            "": contrast["difference_pp"],
            "low": low,
            "high": high,
            "MDE": contrast["mde_pp"] if shown else None,
        },
    )


def includes_zero(contrast: Mapping[str, Any]) -> bool:
    """Whether a contrast's interval leaves its sign open."""
    low, high = contrast["ci95_pp"]
    return bool(low <= 0 <= high)


def p_value(value: float) -> Cell:
    """A p-value to two digits, as a power of ten where it is small."""
    return Cell(scientific(value), {"": value})


def fixed(value: float, decimals: int) -> str:
    """Fixed decimals, never a negative zero."""
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def signed(value: float) -> str:
    """Two decimals with a sign, except for zero."""
    text = f"{value:+.2f}"
    return text[1:] if float(text) == 0 else text


def interval(ends: tuple[float, float] | list[float]) -> str:
    """An interval as `[1.79, 3.51]`."""
    return f"[{fixed(ends[0], 2)}, {fixed(ends[1], 2)}]"


def scientific(value: float) -> str:
    """Two significant digits: `0.013`, or `6.4×10⁻⁵` below a thousandth."""
    if value == 0:
        return "<10⁻³⁰⁰"
    if value >= 1e-3:
        return f"{value:.2g}"
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits}×10{str(int(exponent)).translate(_RAISED)}"


def one_over(delta: float) -> str:
    """A delta as `1/69,880` where it is one over a whole number."""
    inverse = round(1 / delta)
    return f"1/{inverse:,}" if abs(inverse * delta - 1) < 1e-12 else scientific(delta)
