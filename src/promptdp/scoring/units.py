"""Units of measure in words: dropped from a value, and compared only where both answers name a known one."""

import re

NAMES = """
millimeter millimetre mm
centimeter centimetre cm
kilometer kilometre km
meter metre m
inch inches in
foot feet ft
yard yd
mile mi
second sec s
minute min
hour hr h
day
week
month
year yr
milligram mg
kilogram kg
gram gm g
ounce oz
pound lb
ton
milliliter millilitre ml
liter litre l
gallon gal
degree deg
percent pct percentage
dollar usd buck
cent
euro eur
yuan
am
pm
mph
"""
CANONICAL = {name: line.split()[0] for line in NAMES.strip().splitlines() for name in line.split()}
SQUARE = re.compile(r"\b(?:square|sq|cubic|cu)\b")
POWERS = {"square": "2", "sq": "2", "cubic": "3", "cu": "3"}


def canonical_word(word: str) -> str | None:
    """The unit that a word names, plurals included; None when it is no known unit."""
    word = word.lower().replace(".", "")
    for form in (word, word.removesuffix("s"), word.removesuffix("es")):
        if form in CANONICAL:
            return CANONICAL[form]
    return None


def canonical_unit(text: str) -> str | None:
    """The known unit of a phrase with its power (`square feet` and `ft^2` are `foot2`); None when unknown."""
    words = re.findall(r"[a-z.]+", text.lower())
    known = {unit for word in words if (unit := canonical_word(word)) is not None}
    if len(known) != 1:
        return None
    prefix = SQUARE.search(text.lower())
    exponent = re.search(r"\^\{?([23])", text)
    return known.pop() + (exponent[1] if exponent else POWERS[prefix[0]] if prefix else "")
