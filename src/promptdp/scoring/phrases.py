"""Words beside a number: what they do to its value, as far as that is certain.

A known unit or a counted noun leaves a value alone, a multiplier has its factor. A word that changes,
limits, negates or doubts a value makes the answer one that no number equals.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from promptdp.scoring.units import canonical_word
from promptdp.scoring.vocabulary import vocabulary
from promptdp.scoring.words import MULTIPLIERS, NUMBER_WORDS


class Effect(NamedTuple):
    """What a phrase after a value makes of it: (value + addend) * factor, perhaps as a percentage."""

    factor: int = 1
    addend: Fraction = Fraction(0)
    percent: bool = False


NO_EFFECT = Effect()
DOUBTING = vocabulary(
    "no not non never neither nor none without cannot isn wasn doesn don didn won can t wrong "
    "incorrect incorrectly false falsely invalid error mistake mistaken mistakenly impossible "
    "undefined unknown unsure uncertain maybe perhaps probably possibly likely unlikely guess "
    "guessed estimate estimated approximate approximately approx roughly nearly almost about around "
    "circa rounded ish excluded excluding rejected extraneous unless instead rather actually "
    "otherwise nope oops sorry wait hmm correction cancel cancelled canceled scratch ignore "
    "disregard discard discarded reject wrongly untrue contradiction bad"
)
"""Words of negation and doubt."""
CHANGING = (
    DOUBTING
    | NUMBER_WORDS
    | MULTIPLIERS.keys()
    | vocabulary(
        # verbs
        "is are was were be been being am does do did has have had could may might must shall should "
        "will would seem seems seemed look looks equal equals works work fails fail failed give gives "
        "makes become becomes mean means exist exists hold holds say says think try tried "
        # comparison
        "more less few fewer greater smaller larger bigger lower higher least most maximum minimum over "
        "under above below beyond between within up down upto exceeding than to through until till from "
        "off versus vs at short "
        # operators
        "plus minus time multiplied multiply divided divide added add subtracted subtract take mod "
        "modulo modulus remainder remaining squared cubed root sqrt factorial power exponent exponential "
        "raised choose chosen reciprocal inverse opposite negative negated double doubled triple tripled "
        "quadruple twice thrice halved repeating recurring repeated bar base binary octal hexadecimal "
        "hex log ln sin cos tan pi infinity infinite imaginary conjugate transpose complement fold kilo "
        "mega giga milli micro nano "
        # parts
        "half halves third thirds quarter quarters fourth fourths fifth fifths sixth sixths seventh "
        "sevenths eighth eighths ninth ninths tenth tenths hundredth hundredths thousandth thousandths "
        "millionth percent percentage percents tens hundreds thousands millions billions trillions "
        "dozens gross score mille permille basis "
        # conditions and joints
        "and or but if except excepting when whenever where while because since for as whereas"
    )
)
"""Words after which a value is no more the number before them."""
PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "tenth": 10}
ORDINALS = vocabulary("st nd rd th")
SHORT = vocabulary("a an of on sq cu per the by its")
LABELS = vocabulary(
    "answer answers ans solution solutions result value total area volume perimeter length width height "
    "radius distance speed angle slope probability ratio sum product difference quotient cost price age "
    "count number remainder maximum minimum"
)
"""Nouns that end a name of the value after them."""
EXTREMES = vocabulary("maximum minimum least most greatest smallest largest")
"""Words that change a value after it but not in its name."""
NEGATING = vocabulary("negative minus")
EXACT = vocabulary("exactly precisely only just")
EXPONENT = re.compile(r"(?<=[A-Za-z.])\s?\$?\^?\{?-?[1-4]\}?\$?(?![0-9])")
SPACE = re.compile(r"\\[,;:! ]|[~$]")
LEADING = re.compile(r"(?:\s*:|(?:^|\s)(?:is|are|equals)\s*:?)\s*$")


def _words(phrase: str) -> list[str] | None:
    """The words of a phrase; None when it has more than words, stops and powers of units."""
    plain = EXPONENT.sub("", SPACE.sub(" ", phrase.lower()))
    return None if re.search(r"[^a-z\s.,'/()*·-]", plain) else re.findall(r"[a-z]+", plain)


def effect(phrase: str) -> Effect | None:
    """What a phrase after a value does to it; None when that is no value."""
    words = _words(re.sub(r"\bper cent\b", "percent", phrase, flags=re.IGNORECASE))
    if not words:
        return None
    if phrase.strip() in ORDINALS:
        return NO_EFFECT
    addend, factor = Fraction(0), 1
    if len(words) > 2 and words[0] == "and" and words[1] in ("a", "an", "one") and words[2] in PARTS:
        addend = Fraction(1, PARTS[words[2]])
        words = words[3:]
    while words and words[0] in MULTIPLIERS:
        factor *= MULTIPLIERS[words[0]]
        words = words[1:]
    percent = words == ["percentage", "points"] or (len(words) == 1 and canonical_word(words[0]) == "percent")
    if percent or not words:
        return Effect(factor, addend, percent)
    if (
        words[-1] == "of"
        or SHORT.issuperset(words)
        or not all(_counted(words, place) for place in range(len(words)))
    ):
        return None
    return Effect(factor, addend)


def _counted(words: list[str], place: int) -> bool:
    """Whether a word of a phrase is part of a unit or of the name of counted things."""
    word = words[place]
    if word in ("squared", "cubed"):
        return place > 0 and (canonical_word(words[place - 1]) is not None or words[place - 1] == "units")
    if word == "times" or (word == "am" and len(words) == 1):
        return place == len(words) - 1
    if word in CHANGING:
        return False
    return canonical_word(word) is not None or word in SHORT or len(word) > 2


def is_label(phrase: str, colon: bool) -> bool:
    """Whether a phrase before a value names it (`Answer:`, `The area is`) and says no more."""
    match = LEADING.search(phrase.lower())
    if not match and not colon:
        return False
    words = _words(phrase[: match.start()] if match else phrase)
    if not words:
        return False
    return words[-1] in LABELS and not any(word in CHANGING - EXTREMES for word in words[:-1])


def doubts(phrase: str) -> bool:
    """Whether a phrase negates or doubts what is named by it."""
    return any(word in DOUBTING for word in re.findall(r"[a-z]+", phrase.lower()))
