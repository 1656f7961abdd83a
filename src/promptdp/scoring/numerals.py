r"""Numbers in running text: `1,250`, `$18.50`, `\frac{1}{2}`, `3 \times 10^4`, `5 dollars and 20 cents`."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log

from promptdp.scoring.limits import BITS, DIGITS
from promptdp.scoring.units import canonical_word
from promptdp.scoring.vocabulary import vocabulary

LETTERS = "A-Za-zÀ-ÖØ-öø-ɏͰ-ӿ"
"""Letters that make a digit beside them part of a word; in scripts without case, words touch numbers."""
PLAIN = str.maketrans(
    {"−": "-", "–": "-", "‐": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "×": "*", "·": "*", "⁄": "/"}
    | {"٫": ".", "٬": ",", "\u200b": "", "\u200e": "", "\u200f": "", "\ufeff": ""}
)
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
MARKUP = re.compile(
    r"(?P<digits>[^\D0-9]+)|(?P<powers>⁻?[⁰¹²³⁴-⁹]+)|(?P<vulgar>[¼-¾⅐-⅞])|(?P<wide>[！-～])"
    r"|(?P<gap>\\[;: ]|\\quad\b)"
    r"|<<[^<>\n]*>>|\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mbox|operatorname)(?![A-Za-z])"
    r"|(?<![0-9*])\*{2,3}|\*{2,3}(?![0-9*])|(?<![\w*)])\*(?=[^\s*][^*\n]{0,40}\*)|(?<=[^\s*])\*(?=[.,;:!?]|$)"
    r"|(?<![A-Za-z0-9_])_{1,3}(?=[^\s_])|(?<=[^\s_])_{1,3}(?![A-Za-z0-9_{])"
)
GROUPED = r"[0-9]{1,3}(?:(?:,|\s?\{\s?,\s?\}\s?|,\\!\s?|\\,| |['’])[0-9]{3})+(?![0-9])(?:\.[0-9]+)?"
DECIMAL = rf"(?:{GROUPED}|[0-9]+(?:\.[0-9]+)?|(?<![\w.])\.[0-9]+)"
WHOLE = r"[0-9]+"
POWER = r"\s?\^\s?\{?\s?(?P<NAME>-?[0-9]{1,4})\}?"
ONE = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?![.,:]?[0-9])"
COMPOUND = (
    rf"(?!{ONE})[0-9]+(?:[.,:][0-9]+)+|[0-9]+ : [0-9]+|[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}(?![0-9])"
    r"|[0-9]{1,2}/[0-9]{1,2}/[0-9]{2,4}(?![0-9])|[0-9]+['’′]\s?[0-9]{1,2}(?:[\"”″]|'')"
)
"""Digits that state no one number: a clock time, a ratio, a date, a list, a decimal comma, two units."""
NUMBER = re.compile(
    rf"(?<![{LETTERS}0-9])(?<!\^)(?<!\^\{{)(?<!\^-)(?<![A-Za-z]-)(?<![0-9][.,:])(?<![A-Za-z0-9)}}\]]_)(?<!_\{{)(?:"
    rf"(?P<compound>{COMPOUND})"
    rf"|(?P<dollars>{DECIMAL})(?:\sdollars?,?)?\sand\s(?P<cents>[0-9]{{1,2}})\scents?\b"
    rf"|(?:(?P<mixed>{WHOLE})\s?)?\\[dt]?frac\s?\{{(?P<top>-?{WHOLE})\}}\s?\{{(?P<bottom>{WHOLE})\}}"
    r"|(?:(?P<whole_digit>[0-9]+)\s?)?\\[dt]?frac\s?(?P<over_digit>[0-9])\s?(?P<under_digit>[0-9])(?![0-9])"
    rf"|(?P<whole>{WHOLE})[ \t](?:and[ \t])?(?P<over>{WHOLE})/(?P<under>{WHOLE})"
    rf"|(?P<slash>{DECIMAL})\s?/\s?(?P<divisor>[0-9]++(?:\.[0-9]++)?+)(?![\w(])"
    rf"|(?P<mantissa>{DECIMAL})\s?(?:\\times|\\cdot|\*|x)\s?10{POWER.replace('NAME', 'ten')}"
    rf"|(?P<base>{DECIMAL}){POWER.replace('NAME', 'power')}"
    rf"|(?P<scientific>{DECIMAL})[eE](?P<exponent>[+-]?[0-9]{{1,3}})(?!\w)"
    rf"|(?P<units>{WHOLE}) and (?:a|one)[ -](?P<part>half|third|quarter)\b"
    rf"|(?P<thousands>{DECIMAL})\s(?P<scale>thousand|million|billion)\b"
    rf"|(?<=[$£€])(?P<money>{DECIMAL})(?P<short>[kKMB]|mn|bn)(?!\w)"
    rf"|(?P<decimal>{DECIMAL}))"
)
SCALES = {"thousand": 3, "million": 6, "billion": 9, "k": 3, "K": 3, "M": 6, "mn": 6, "B": 9, "bn": 9}
PARTS = {"half": 2, "third": 3, "quarter": 4}
GLUED = re.compile(rf"[{LETTERS}]+")
SCALED = re.compile(r"k|K|M|B|bn|mn|mil")
SYMBOLS = vocabulary("c p f w v kw kwh gb mb tb cal kcal kph rpm pt hp")
"""Symbols of units written against a number, beside those that `units` knows."""
TITLE = re.compile(
    r"\b(?:steps?|parts?|theorem|lemma|equations?|eq\.|figure|fig\.|table|section|chapter|(?<!for )example"
    r"|questions?|problem|exercise|january|february|march|april|may|june|july|august|september|october|november"
    r"|december|method|option|note|reference|ref\.|appendix|footnote)\s?[#(]?$",
    re.IGNORECASE,
)
CURRENCY = re.compile(r"(?:\\?\$|£|€)?(?P<minus>-\s?)?(?:\\?\$|£|€)?\s?$")
ROOT = re.compile(r"(?:sqrt\s?(?:\[[^\]\n]{0,3}\]?)?|√)\s?[{(]?\s?$")
SPOKEN_MINUS = re.compile(
    r"(?:\bnegative|(?:(?:^|[=:(#]|\b(?:is|are|was|be|get|gets|gives|equals|at|to|answer))\s{0,2})minus)\s[$£€]?$",
    re.IGNORECASE,
)
COPULA = re.compile(r"\b(?:is|are|was|be|equals)$", re.IGNORECASE)


@dataclass(frozen=True)
class Number:
    """A number of a text: its place, and its value and canonical form, worked out when asked for."""

    source: str
    match: re.Match[str]
    readable: bool

    @property
    def start(self) -> int:
        """Where its digits start; a sign stands before them."""
        return self.match.start()

    @property
    def end(self) -> int:
        """Where its digits end."""
        return self.match.end()

    @cached_property
    def size(self) -> tuple[Fraction, bool] | None:
        """The value without its sign, and whether it is a decimal; None where digits state no one value."""
        return magnitude(self.match) if self.readable else None

    @cached_property
    def value(self) -> Fraction | None:
        """The value; None where the digits state no one value."""
        if self.size is None:
            return None
        return -self.size[0] if is_negative(self.source, self.start) else self.size[0]

    @cached_property
    def text(self) -> str:
        """The canonical form; empty where there is no value."""
        return "" if self.size is None or self.value is None else canonical(self.value, self.size[1])


def plain(text: str) -> str:
    """The text in plain signs: ASCII digits, `^` for superscripts, no emphasis, no calculator annotations."""
    return MARKUP.sub(_plain_sign, text.translate(PLAIN))


def _plain_sign(match: re.Match[str]) -> str:
    if match["digits"]:
        return "".join(str(unicodedata.decimal(digit)) for digit in match["digits"])
    if match["powers"]:
        return "^" + match["powers"].translate(SUPERSCRIPTS)
    if match["vulgar"]:
        return " " + unicodedata.normalize("NFKC", match["vulgar"]).replace("⁄", "/")
    if match["wide"]:
        return unicodedata.normalize("NFKC", match["wide"])
    return " " if match["gap"] else ""


def canonical(value: Fraction, decimal: bool) -> str:
    """An integer, else a decimal when `decimal` (it must then terminate), else numerator/denominator."""
    if value.denominator == 1 or not decimal:
        return str(value)
    after = places(value)
    digits = str(abs(value.numerator) * 10**after // value.denominator).zfill(after + 1)
    return f"{'-' if value < 0 else ''}{digits[:-after]}.{digits[-after:]}"


def places(value: Fraction) -> int:
    """How many decimal places a terminating decimal has: the larger exponent of its denominator's 2 and 5."""
    twos = (value.denominator & -value.denominator).bit_length() - 1
    return max(twos, round(log(value.denominator >> twos, 5)))


def is_negative(text: str, start: int) -> bool:
    """Whether the number at `start` has a minus sign, rather than a subtraction or a bullet before it."""
    if SPOKEN_MINUS.search(text, max(0, start - 20), start):
        return True
    match = CURRENCY.search(text, max(0, start - 6), start)
    if match is None or match["minus"] is None:
        return False
    before = text[max(0, match.start() - 8) : match.start()]
    previous = before.rstrip(" ")[-1:]
    if before[-1:].isalnum() or previous.isdigit() or previous in tuple(")}%"):
        return False
    spaced = bool(match["minus"][1:])
    return not spaced or previous in tuple("=:(#") or COPULA.search(before.rstrip(" ")) is not None


def magnitude(match: re.Match[str]) -> tuple[Fraction, bool] | None:
    """The unsigned value of a match and whether it is a decimal; None if none, over a cap or over zero."""
    if match["compound"] or match.end() - match.start() > DIGITS:
        return None
    if match["part"]:
        return int(match["units"]) + Fraction(1, PARTS[match["part"]]), False
    for scaled, scale in (("thousands", "scale"), ("money", "short")):
        if match[scale]:
            return Fraction(_digits(match[scaled])) * 10 ** SCALES[match[scale]], True
    groups = {name: _digits(text) for name, text in match.groupdict().items() if text is not None}
    part = {name: Fraction(text) for name, text in groups.items()}
    if "cents" in part:
        return part["dollars"] + part["cents"] / 100, True
    for top, bottom, whole in (
        ("top", "bottom", "mixed"),
        ("over", "under", "whole"),
        ("over_digit", "under_digit", "whole_digit"),
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
        size = (value * 10 ** places(value)).numerator.bit_length()
        return (value**times, times >= 0) if (value or times > 0) and size * abs(times) < BITS else None
    return part["decimal"], True


def _digits(text: str) -> str:
    return re.sub(r"[^0-9.+-]", "", text)


def numbers(text: str) -> Iterator[Number]:
    """The numbers of a plain text in order.

    A digit inside a word, an index, an exponent, an ordinal or the number of a step is none; a number under a
    root has no value.
    """
    for match in NUMBER.finditer(text):
        start, end = match.span()
        if TITLE.search(text, max(0, start - 14), start):
            continue
        letters = GLUED.match(text, end)
        readable = ROOT.search(text, max(0, start - 16), start) is None
        if letters is not None:
            word = letters[0]
            times = word in ("x", "X") and text[letters.end() : letters.end() + 2].strip()[:1].isdigit()
            scaled = SCALED.fullmatch(word) is not None
            readable = readable and not scaled
            if not scaled and not (times or word.lower() in SYMBOLS or canonical_word(word)):
                continue
        yield Number(text, match, readable)
