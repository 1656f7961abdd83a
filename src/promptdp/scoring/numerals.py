r"""Numbers in running text: `1,250`, `$18.50`, `\frac{1}{2}`, `3 \times 10^4`, `5 dollars and 20 cents`."""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from promptdp.scoring.limits import BITS, DIGITS

PLAIN = str.maketrans(
    {"−": "-", "–": "-", "‐": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "×": "*", "·": "*", "⁄": "/"}
    | {"½": " 1/2", "¼": " 1/4", "¾": " 3/4", "⅓": " 1/3", "⅔": " 2/3"}
)
DECIMAL = (
    r"(?:[0-9]{1,3}(?:(?:,|\s?\{\s?,\s?\}\s?|,\\!\s?|\\,| )[0-9]{3})+(?![0-9])(?:\.[0-9]+)?"
    r"|[0-9]+(?:\.[0-9]+)?"
    r"|(?<![\w.])\.[0-9]+)"
)
WHOLE = r"[0-9]+"
POWER = r"\s?\^\s?\{?\s?(?P<NAME>-?[0-9]{1,4})\}?"
NUMBER = re.compile(
    r"(?<!\w)(?<!\^)(?<!\^\{)(?<!\^-)(?<![A-Za-z]-)(?<![0-9]\.)(?:"
    rf"(?P<dollars>{DECIMAL})(?:\sdollars?,?)?\sand\s(?P<cents>[0-9]{{1,2}})\scents?\b"
    rf"|(?:(?P<mixed>{WHOLE})\s?)?\\[dt]?frac\s?\{{(?P<top>-?{WHOLE})\}}\s?\{{(?P<bottom>{WHOLE})\}}"
    rf"|(?P<whole>{WHOLE})\s(?P<over>{WHOLE})/(?P<under>{WHOLE})"
    rf"|(?P<slash>{DECIMAL})\s?/\s?(?P<divisor>{WHOLE}(?:\.[0-9]+)?)(?![0-9]*[\w(])"
    rf"|(?P<mantissa>{DECIMAL})\s?(?:\\times|\\cdot|\*|x)\s?10{POWER.replace('NAME', 'ten')}"
    rf"|(?P<base>{DECIMAL}){POWER.replace('NAME', 'power')}"
    rf"|(?P<scientific>{DECIMAL})[eE](?P<exponent>[+-]?[0-9]{{1,3}})(?!\w)"
    rf"|(?P<decimal>{DECIMAL}))"
)
CURRENCY = re.compile(r"(?:\\?\$|£|€)?(?P<minus>-\s?)?(?:\\?\$|£|€)?\s?$")


class Number(NamedTuple):
    """A number of a text: its place, its value, and its canonical form."""

    start: int
    end: int
    value: Fraction
    text: str


def plain(text: str) -> str:
    """The text with the typographic forms of minus, space, times and common fractions made plain."""
    return text.translate(PLAIN)


def canonical(value: Fraction, decimal: bool) -> str:
    """An integer, else a decimal when `decimal` (it must then terminate), else numerator/denominator."""
    if value.denominator == 1 or not decimal:
        return str(value)
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(abs(value.numerator) * 10**places // value.denominator).zfill(places + 1)
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def is_negative(text: str, start: int) -> bool:
    """Whether the number at `start` has a minus sign, rather than a subtraction or a bullet before it."""
    match = CURRENCY.search(text, max(0, start - 6), start)
    if match is None or match["minus"] is None:
        return False
    before = text[max(0, match.start() - 8) : match.start()]
    previous = before.rstrip(" ")[-1:]
    if before[-1:].isalnum() or previous.isdigit() or previous in tuple(")}%"):
        return False
    return not match["minus"][1:] or previous in tuple("=:(")


def magnitude(match: re.Match[str]) -> tuple[Fraction, bool] | None:
    """The unsigned value of a match and whether it is a decimal; None over a cap or over zero."""
    if match.end() - match.start() > DIGITS:
        return None
    groups = {
        name: re.sub(r"[^0-9.+-]", "", text) for name, text in match.groupdict().items() if text is not None
    }
    part = {name: Fraction(text) for name, text in groups.items()}
    if "cents" in part:
        return part["dollars"] + part["cents"] / 100, True
    for top, bottom, whole in (
        ("top", "bottom", "mixed"),
        ("over", "under", "whole"),
        ("slash", "divisor", ""),
    ):
        if bottom in part:
            return (part.get(whole, 0) + part[top] / part[bottom], False) if part[bottom] else None
    for base, power in (("mantissa", "ten"), ("scientific", "exponent")):
        if power in part:
            shift = Fraction(10 ** abs(int(part[power]))) if abs(part[power]) * 4 < BITS // 2 else None
            return (
                None
                if shift is None
                else (part[base] * shift if part[power] > 0 else part[base] / shift, True)
            )
    if "power" in part:
        value, times = part["base"], int(part["power"])
        size = max(value.numerator.bit_length(), value.denominator.bit_length())
        return (value**times, times >= 0) if (value or times > 0) and size * abs(times) < BITS else None
    return part["decimal"], True


def numbers(text: str) -> Iterator[Number]:
    """The numbers of a plain text in order; a digit inside a word, an index or an exponent is none."""
    for match in NUMBER.finditer(text):
        if (size := magnitude(match)) is not None:
            value = -size[0] if is_negative(text, match.start()) else size[0]
            yield Number(match.start(), match.end(), value, canonical(value, size[1]))
