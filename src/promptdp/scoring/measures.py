"""Units of measure and other words after the factors of a product."""

import re

from promptdp.scoring.grammar import Grammar, ParseError
from promptdp.scoring.nodes import Node, nary, number, symbol
from promptdp.scoring.phrases import NO_EFFECT, Effect, effect
from promptdp.scoring.units import LETTERS, canonical_unit

CURRENCIES = {
    r"\$": "dollar",
    r"\pounds": "pound sterling",
    r"\euro": "euro",
    r"\yen": "yen",
    r"\cent": "cent",
}
POWER = re.compile(r"\^(?:n|\{-?n\})")
FRACTION = re.compile(r"\.\{t(?:\^(?:n|\{n\}))?\}\{t(?:\^(?:n|\{n\}))?\}")


def starts_unit(grammar: Grammar) -> bool:
    """Whether a unit comes next: words, a currency, or a rate (`/s`, a fraction of two units)."""
    rate = grammar.sees("/") and grammar.kind(1) == "text"
    return grammar.kind() == "text" or rate or grammar.sees(*CURRENCIES) or unit_fraction(grammar) > 0


def measured(grammar: Grammar, factors: list[Node]) -> list[Node]:
    """The factors after the words or signs of a unit that may follow them.

    Raises:
        ParseError: the words change the value, or another factor follows them.
    """
    if grammar.sees(*CURRENCIES):
        grammar.units.append(CURRENCIES[grammar.take().text])
    elif phrase := _phrase(grammar):
        if len(phrase) == 1 and phrase not in LETTERS:
            return [*factors, symbol(phrase)]
        meant = effect(phrase)
        if meant is None:
            raise ParseError
        grammar.units.append(phrase)
        factors = _affected(factors, meant)
    if grammar.starts_factor():
        raise ParseError
    return factors


def _phrase(grammar: Grammar) -> str:
    """The words of a unit, its rates and powers with them; empty when none comes next."""
    if length := unit_fraction(grammar):
        signs = [grammar.take().text for _ in range(length)][1:]
        return "".join(signs).replace("}{", "/").strip("{}")
    words: list[str] = []
    while grammar.kind() == "text" or (grammar.sees("/", r"\cdot") and grammar.kind(1) == "text"):
        token = grammar.take()
        words.append(" " if token.text == r"\cdot" else token.text)
        if token.kind == "text":
            words += [grammar.take().text for _ in range(_power(grammar))]
    return " ".join(words).replace("^ ", "^").replace("{ ", "").replace(" }", "")


def unit_fraction(grammar: Grammar) -> int:
    """How many tokens a fraction of two units takes; 0 when none comes next."""
    match = FRACTION.match(grammar.shape(14)) if grammar.sees(r"\frac") else None
    return match.end() if match else 0


def _power(grammar: Grammar) -> int:
    """How many tokens the power of a unit takes; 0 when none comes next."""
    match = POWER.match(grammar.shape(5))
    return match.end() if match else 0


def _affected(factors: list[Node], meant: Effect) -> list[Node]:
    """The factors with what a phrase after them does to their value."""
    node = nary("product", factors)
    if meant.addend:
        node = Node("sum", children=(node, number(meant.addend)))
    if meant.factor != 1:
        node = Node("product", children=(node, number(meant.factor)))
    return [Node("percent", children=(node,)) if meant.percent else node] if meant != NO_EFFECT else factors


def unlike(units: list[str]) -> bool:
    """Whether terms in different known units are added."""
    return len({canonical_unit(unit) for unit in units} - {None}) > 1
