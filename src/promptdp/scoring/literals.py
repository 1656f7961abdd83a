"""Numbers as they are written: mixed numbers, repeating decimals, numerals in a base, times of day."""

import re
from fractions import Fraction
from math import prod

from promptdp.scoring.grammar import Grammar, ParseError
from promptdp.scoring.limits import DIGITS, LimitError
from promptdp.scoring.measures import unit_fraction
from promptdp.scoring.nodes import Node, call, number, quotient
from promptdp.scoring.tokens import Token
from promptdp.scoring.units import canonical_unit
from promptdp.scoring.words import cardinal

DOUBLE_FACTORIAL = 1_000
"""Largest argument of a double factorial."""
DIGIT_SIGNS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NUMERAL = re.compile(r"[A-Z]*[0-9][0-9A-Z]*(?:\.[0-9A-Z]+)?")


def literal(grammar: Grammar, text: str) -> Node:
    """The number that a numeral begins: a fraction of numerals after an integer is part of it."""
    whole = Fraction(text)
    if not text.isdigit():
        return number(whole)
    if not unit_fraction(grammar) and grammar.skip(r"\frac"):
        top, bottom = grammar.argument(), grammar.argument()
        return _mixed(whole, top, bottom) or Node("product", children=(number(whole), quotient(top, bottom)))
    if [grammar.kind(i) for i in range(3)] == ["number", "sign", "number"] and grammar.sees("/", ahead=1):
        top, bottom = (number(Fraction(grammar.tokens[grammar.at + i].text)) for i in (0, 2))
        mixed = _mixed(whole, top, bottom)
        for _ in range(3 if mixed else 0):
            grammar.take()
        return mixed or number(whole)
    return number(whole)


def _mixed(whole: Fraction, top: Node, bottom: Node) -> Node | None:
    """A mixed number; None when its fraction is no proper fraction of two naturals."""
    if top.value is None or bottom.value is None or top.kind != "number" or bottom.kind != "number":
        return None
    natural = top.value.denominator == bottom.value.denominator == 1
    return number(whole + top.value / bottom.value) if natural and 0 <= top.value < bottom.value else None


def repeating(text: str) -> Node:
    """The rational of a decimal with a repeating block."""
    before, _, block = text.partition("\\")
    block = "".join(char for char in block if char.isdigit())
    whole, _, fixed = before.partition(".")
    if len(text) > DIGITS:
        raise LimitError
    value = Fraction(int(whole or "0")) + (Fraction(int(fixed), 10 ** len(fixed)) if fixed else 0)
    return number(value + Fraction(int(block), (10 ** len(block) - 1) * 10 ** len(fixed)))


def in_base(grammar: Grammar) -> Node | None:
    r"""The numeral with its base as an index (`43_5`, `\text{A5}_{11}`) that comes next; None otherwise."""
    start = ahead = int(grammar.sees("("))
    if grammar.kind(start) == "letter":
        return None
    digits = ""
    while grammar.kind(ahead) in ("number", "letter", "text"):
        text = grammar.tokens[grammar.at + ahead].text
        if not re.fullmatch(r"[0-9A-Z.]+", text):
            break
        grammar.budget.spend()
        digits, ahead = digits + text, ahead + 1
    closed = not start or grammar.sees(")", ahead=ahead)
    if not closed or not NUMERAL.fullmatch(digits) or not grammar.sees("_", ahead=ahead + start):
        return None
    place = ahead + start + 1
    braced = grammar.sees("{", ahead=place)
    if braced and not grammar.sees("}", ahead=place + 2):
        return None
    base = _base(grammar.peek(place + braced))
    if base is None:
        return None
    if any(DIGIT_SIGNS.index(digit) >= base for digit in digits if digit != "."):
        # 2A_3 is a product, and 19_5 is nothing.
        if any(digit.isalpha() for digit in digits):
            return None
        raise ParseError
    for _ in range(place + 1 + 2 * braced):
        grammar.take()
    return number(Fraction(digits)) if base == 10 else Node("numeral", f"{_shortest(digits)}_{base}")


def _base(index: Token | None) -> int | None:
    """The base that an index says in digits or in words."""
    if index is None:
        return None
    digits = index.kind == "number" and index.text.isdigit()
    value = (
        int(index.text) if digits else cardinal(index.text.lower().split()) if index.kind == "text" else None
    )
    return value if value is not None and 2 <= value <= len(DIGIT_SIGNS) else None


def _shortest(digits: str) -> str:
    """The digits of a numeral without the zeros that say nothing."""
    whole, _, part = digits.partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if part else "")


def clock(grammar: Grammar) -> Node | None:
    """The time of day that comes next (`9 a.m.`, `8:34:05 pm`, `05:00`); None otherwise.

    Without a half of the day only a leading zero tells a time from a ratio.
    """
    parts: list[str] = []
    ahead = 0
    while len(parts) < 3 and grammar.kind(ahead) == "number":
        parts.append(grammar.tokens[grammar.at + ahead].text)
        ahead += 2
        if not grammar.sees(":", ahead=ahead - 1):
            break
    ahead = max(ahead - 1, 0)
    if not parts or not all(part.isdigit() and len(part) < 3 for part in parts):
        return None
    half = grammar.kind(ahead) == "text" and canonical_unit(grammar.tokens[grammar.at + ahead].text)
    zero = len(parts) > 1 and any(len(part) == 2 and part[0] == "0" for part in parts)
    if not (half in ("am", "pm") or zero) or any(len(part) != 2 for part in parts[1:]):
        return None
    hour, minute, second = (*map(int, parts), 0, 0)[:3]
    if hour > 24 or minute > 59 or second > 59:
        return None
    for _ in range(ahead):
        grammar.take()
    return Node("bracket", "clock", tuple(map(number, (hour, minute, second))))


def factorials(grammar: Grammar, node: Node) -> Node:
    """A node with the factorial signs that follow it; two together are the double factorial."""
    signs = 0
    while grammar.skip("!"):
        signs += 1
    if signs < 2:
        return call("factorial", node) if signs else node
    value = node.value
    if signs > 2 or value is None or value.denominator != 1 or value < 0:
        return Node("opaque", "!" * signs, (node,))
    if value > DOUBLE_FACTORIAL:
        raise LimitError
    grammar.budget.spend(int(value))
    return number(prod(range(int(value), 0, -2)))
