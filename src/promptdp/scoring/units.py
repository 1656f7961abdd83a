"""Units of measure in words: dropped from a value, and compared only where both answers name a known one."""

import re

NAMES = """
millimeter millimetre mm
centimeter centimetre cm
decimeter decimetre dm
kilometer kilometre km
meter metre m
inch in
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
pint pt
quart qt
gallon gal
acre
hectare
degree deg
celsius
fahrenheit
radian rad
percent pct percentage
dollar usd buck
cent
euro eur
yuan
yen
rupee
am
pm
mph
kph
newton
joule
watt
volt
"""
CANONICAL = {name: line.split()[0] for line in NAMES.strip().splitlines() for name in line.split()}
LETTERS = frozenset("mgshL")
"""Letters that alone are units after a number; any other is a factor."""
POWERS = {"square": "2", "sq": "2", "squared": "2", "cubic": "3", "cu": "3", "cubed": "3"}
RATES = {"mph": "mile/hour", "kph": "kilometer/hour"}
WORD = re.compile(r"[a-z.]+|\^\{?-?[0-9]\}?")


def canonical_word(word: str) -> str | None:
    """The unit that a word names, plurals included; None when it is no known unit."""
    word = word.lower().replace(".", "")
    for form in (word, word.removesuffix("s"), word.removesuffix("es")):
        if form in CANONICAL:
            return CANONICAL[form]
    return None


def canonical_unit(text: str) -> str | None:
    """The known unit of a phrase; None when unknown.

    Powers and rates are part of it: `square feet` and `ft^2` are `foot2`, `km/h` is `kilometer/hour`.
    """
    parts = [_measure(part) for part in re.split(r"/|\bper\b", text.lower())]
    unit = "/".join(part for part in parts if part is not None)
    return RATES.get(unit, unit) if None not in parts else None


def _measure(text: str) -> str | None:
    """The one known unit of a phrase without a rate, with its power."""
    words = WORD.findall(text)
    # "in" and "am" are units only at the end: "8 units in length".
    names = [word for word in words if word[0] != "^"]
    named = [word for i, word in enumerate(names) if word not in ("in", "am") or i == len(names) - 1]
    known = {unit for word in named if (unit := canonical_word(word)) is not None}
    if known & {"celsius", "fahrenheit"}:
        known.discard("degree")
    if len(known) != 1:
        return None
    exponents = [word.strip("^{}") for word in words if word[0] == "^"]
    powers = exponents or [POWERS[word.strip(".")] for word in words if word.strip(".") in POWERS]
    return known.pop() + (powers[0] if powers else "")
