"""Brackets: groups, tuples, intervals, sets, set-builders, floors and absolute values."""

from promptdp.scoring.grammar import Grammar, ParseError
from promptdp.scoring.nodes import Node, call, nary
from promptdp.scoring.tokens import Token

CLOSING = {
    "(": (")", "]"),
    "[": ("]", ")"),
    r"\{": (r"\}",),
    "{": ("}",),
    r"\lfloor": (r"\rfloor",),
    r"\lceil": (r"\rceil",),
}
CLOSERS = {")", "]", "}", r"\}", r"\rfloor", r"\rceil"}
BRACKETS = {Token("sign", sign) for sign in "()[]"}
INWARD = {"]": "(", "[": ")"}


def inward(tokens: list[Token]) -> list[Token]:
    """The tokens with intervals such as `]0, 1[` written with round brackets.

    Nothing is changed where the brackets don't come in pairs, or a pair turned outward hasn't two ends.
    """
    written = list(tokens)
    opening: int | None = None
    inner = 0
    for place, token in enumerate(tokens):
        if token not in BRACKETS:
            continue
        if opening is None:
            opening = place
        elif token.text == "(" or (inner and token.text == ")"):
            inner += 1 if token.text == "(" else -1
        elif not inner:
            turned = [i for i, sign in ((opening, "]"), (place, "[")) if tokens[i].text == sign]
            ends = sum(between.kind == "separator" for between in tokens[opening:place])
            if turned and ends != 1:
                return tokens
            for i in turned:
                written[i] = Token("sign", INWARD[tokens[i].text])
            opening = None
    return tokens if opening is not None else written


def bracketed(grammar: Grammar, opening: str) -> Node:
    """What an opening bracket begins."""
    if opening == r"\{":
        return _braces(grammar)
    items, _, closing = _content(grammar, opening)
    if opening in (r"\lfloor", r"\lceil"):
        if len(items) != 1:
            raise ParseError
        return call(opening[1:], items[0])
    if opening == "{" and len(items) > 1:
        return Node("set", children=tuple(items))
    if len(items) == 1 and (opening, closing) in (("(", ")"), ("[", "]"), ("{", "}")):
        return items[0]
    if not items:
        raise ParseError
    return Node("bracket", opening + closing, tuple(items))


def _content(grammar: Grammar, opening: str) -> tuple[list[Node], str, str]:
    """The items of a bracket, the word that joins them, and the sign that closes it."""
    outer, grammar.bars, grammar.builder = (grammar.bars, grammar.builder), 0, False
    items, joined = grammar.items()
    grammar.bars, grammar.builder = outer
    if items and grammar.tokens[grammar.at - 1].kind == "separator":
        raise ParseError
    return items, joined, grammar.expect(*CLOSING[opening])


def _braces(grammar: Grammar) -> Node:
    """A set by its members, or by a condition: then the condition itself, where the set is of reals."""
    outer, grammar.bars, grammar.builder = (grammar.bars, grammar.builder), 1, _names_member(grammar)
    items, _ = grammar.items()
    grammar.bars, grammar.builder = outer
    if not grammar.skip("|", ":"):
        grammar.expect(r"\}")
        return Node("set", children=tuple(items))
    conditions, joined, _ = _content(grammar, r"\{")
    if len(items) != 1 or not conditions:
        raise ParseError
    return _built(items[0], nary("list", conditions, "or" if joined == "or" else "and"))


def _names_member(grammar: Grammar) -> bool:
    """Whether a set begins with a letter, perhaps with its domain, so that a colon may follow the name."""
    return grammar.kind() == "letter" and grammar.sees(":", r"\in", ahead=1)


def _built(member: Node, condition: Node) -> Node:
    """The set of the members that meet a condition."""
    domain = member.children[1] if member.kind == "relation" and member.name == "in" else Node("reals")
    name = member.children[0] if member.kind == "relation" and member.name == "in" else member
    if name.kind not in ("symbol", "bracket"):
        return Node("opaque", "set of", (member, condition))
    return condition if domain.kind == "reals" else Node("intersection", children=(domain, condition))


def absolute(grammar: Grammar) -> Node:
    """The absolute value that a bar begins."""
    grammar.bars += 1
    inner = grammar.sum()
    grammar.expect("|")
    grammar.bars -= 1
    return call("abs", inner)


def holds_several(grammar: Grammar) -> bool:
    """Whether the bracket that opens next holds several items."""
    level = 0
    for token in grammar.tokens[grammar.at :]:
        grammar.budget.spend()
        if token.text in CLOSING:
            level += 1
        elif token.text in CLOSERS:
            level -= 1
        elif token.kind == "separator" and level == 1:
            return True
        if level == 0:
            return False
    return False
