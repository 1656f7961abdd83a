"""The pieces of a statement in prose: mathematics (marked or in plain signs), words, and punctuation."""

import re
from typing import NamedTuple

from promptdp.scoring.boxes import closing_brace
from promptdp.scoring.statements import math_span


class Piece(NamedTuple):
    """A piece of a statement; kind is math, word or punctuation."""

    kind: str
    text: str

    @property
    def weak(self) -> bool:
        """Whether mathematics only names something (`n`, `f(x)`, `\\triangle ABC`) and states no value."""
        return self.kind == "math" and WEAK.fullmatch(self.text) is not None


WEAK = re.compile(r"\(?\s*(?:\\[A-Za-z]+\s*)?[A-Za-z]{0,4}(?:_\{?\w+\}?)?'*(?:\([a-zA-Z]\))?\s*\)?")
NUMERAL = re.compile(
    r"(?:\\?\$\s?|£|€)?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)?(?:\.[0-9]+|(?<=[0-9]))(?:\\?%)?"
)
COMMAND = re.compile(r"\\[A-Za-z]+|\\[{}%!,;: ]")
WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")
OPERATOR = re.compile(r"[-+−–/^=<>≤≥≠≈±√π∞∪∩°×÷·²³|!]|\*(?!\*)")
DECORATION = re.compile(r"\*\*|__|`|#")
ARTICLES = {"a", "I", "i"}


def _math_ahead(text: str, at: int) -> bool:
    """Whether mathematics goes on at a place, spaces aside."""
    rest = text[at : at + 24].lstrip()
    word = WORD.match(rest)
    if word:
        return len(word[0]) == 1 and word[0] not in ARTICLES
    return bool(rest) and (
        rest[0].isdigit() or rest[0] in "\\([-−+.$√π∞|" or OPERATOR.match(rest) is not None
    )


def _bracket(text: str, at: int) -> int | None:
    """Where a bracket of mathematics ends; None when it holds prose or never closes."""
    end = at + 1
    level = 1
    while end < len(text) and level:
        level += (text[end] in "([{") - (text[end] in ")]}")
        end += 1
    inside = re.sub(r"\\[A-Za-z]+|\\text\{[^{}]*\}", "", text[at:end])
    return (
        None
        if level or re.search(r"[A-Za-z]{3,}|[A-Za-z]{2,}\s+[A-Za-z]{2,}", inside) or len(inside) < 3
        else end
    )


def _operator(text: str, at: int, after_math: bool) -> bool:
    """Whether a sign belongs to mathematics: a postfix sign, or one with mathematics after it."""
    char = text[at]
    if char in ":_":
        return after_math and text[at - 1] != " " and _math_ahead(text, at + 1)
    return OPERATOR.match(text, at) is not None and (char in "!°π∞²³|%" or _math_ahead(text, at + 1))


def _run(text: str, at: int) -> int:
    """Where the plain mathematics that starts at a place ends; the place itself when there is none."""
    start = end = at
    while at < len(text):
        char = text[at]
        numeral = NUMERAL.match(text, at)
        if char == " " and end > start:
            at += 1
        elif numeral and numeral[0]:
            at = end = numeral.end()
        elif text.startswith(r"\begin{", at):
            environment = math_span(text, at)
            if environment is None:
                break
            at = end = environment[2]
        elif command := COMMAND.match(text, at):
            at = end = command.end()
        elif char == "{":
            brace = closing_brace(text, at)
            if brace is None:
                break
            at = end = brace + 1
        elif char in "([":
            close = _bracket(text, at)
            if close is None:
                break
            at = end = close
        elif char in "])" and end > start:
            at = end = at + 1
        elif (word := WORD.match(text, at)) is not None:
            if len(word[0]) > 1 or word[0] in ARTICLES:
                break
            at = end = word.end()
        elif _operator(text, at, after_math=end > start):
            at = end = at + 1
        else:
            break
    return end


def pieces(text: str) -> list[Piece]:
    """The pieces of a statement up to unfinished mathematics, without decoration and bracketed remarks."""
    text = DECORATION.sub("", text)
    found: list[Piece] = []
    at = 0
    while at < len(text):
        char = text[at]
        span = math_span(text, at) if char in "$\\" else None
        if span is not None:
            found.append(Piece("math", text[span[0] : span[1]].strip().rstrip(".,;")))
            at = span[2]
        elif char.isspace():
            at += 1
        elif text.startswith((r"\(", r"\[", "$$", r"\begin{"), at):
            break
        elif (end := _run(text, at)) > at and not (char in ":=" and end == at + 1):
            found.append(Piece("math", text[at:end].strip()))
            at = end
        elif word := WORD.match(text, at):
            found.append(Piece("word", word[0]))
            at = word.end()
        elif char == "(":
            close = text.find(")", at)
            at = close + 1 if close >= 0 else at + 1
        else:
            found.append(Piece("punctuation", char))
            at += 1
    return _merged(found)


def _merged(found: list[Piece]) -> list[Piece]:
    """The pieces with an unfinished equality joined to the mathematics that follows it."""
    merged: list[Piece] = []
    for piece in found:
        if merged and piece.kind == "math" and merged[-1].kind == "math" and merged[-1].text.endswith("="):
            merged[-1] = Piece("math", f"{merged[-1].text} {piece.text}")
        else:
            merged.append(piece)
    return merged
