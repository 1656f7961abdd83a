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


WEAK = re.compile(
    r"\(?\s*(?:\\[A-Za-z]+\s*)?[A-Za-z]{0,8}(?:_\{?\w+\}?)?'*(?:\([a-zA-Z]\))?(?:\s*,\s*[a-zA-Z])*\s*\)?"
)
NUMERAL = re.compile(
    r"(?:\\?\$\s?|£|€)?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)?(?:\.[0-9]+|(?<=[0-9]))(?:\\?%)?"
)
COMMAND = re.compile(r"\\[A-Za-z]+|\\[{}%!,;: ]")
WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")
OPERATOR = re.compile(r"[-+−–/^=<>≤≥≠≈±√π∞∪∩°×÷·²³|!]|\*(?!\*)")
BULLET = re.compile(r"\n[ \t]*[-*•][ \t]+")
DECORATION = re.compile(r"\*\*|__|`|#")
ARTICLES = {"a", "I", "i"}
FUNCTION = re.compile(
    r"(?:(?:sqrt|sin|cos|tan|log|ln|abs|gcd|lcm)(?=\s?(?:\(|[0-9]|[a-z](?![A-Za-z])))|pi(?![A-Za-z]))"
)
LETTER_TERM = re.compile(r"[ai](?=\s?[-+*/^=<>−]\s?[\w\\($])")
EMPHASIS = re.compile(r"\A\s*\*(?=\s)|(?<![^\s:(])(?<![0-9)}\]$]\s)\*(?=[^\s*])([^*\n]*)(?<=\S)\*(?![\w*(])")
OPEN_LIST = re.compile(
    r"(?:(?<=,)\s*|(?<=, [0-9])\s?|(?<=, [0-9]{2})\s?)(?:\.{2,3}|…)"
    r"|(?:(?<=,)\s*|\s)(?:etc\b\.?|and so (?:on|forth)\b)"
)
"""What says that a list goes on; the end of a statement may have taken the last dot."""
LEAD = (
    r"((?:\A|[:,]|\b(?:is|are|was|be|equals?|gets?|gives?|obtain|have|has|find|yields?|becomes|and|or))\s*\$?"
)
SIGN = re.compile(LEAD + r")(?:minus|negative)\s+(\$?)(?=[0-9]|\.[0-9]|\\[dt]?frac|\\sqrt)", re.IGNORECASE)
RATIO = re.compile(LEAD + r"[0-9]+)((?:\$?\s:\s\$?[0-9]+)+)", re.IGNORECASE)
MIXED = re.compile(r"\b([0-9]+)(\$?) and (?:a|one) (half|third|quarter)\b")
PARTS = {"half": 2, "third": 3, "quarter": 4}
BASE = re.compile(r"\b([0-9]+)(\$?) (?:in )?base \$?([0-9]{1,2})\b\$?")
IMPLIES = re.compile(r"(?<=\s)(?:=>|==>|-->|->)(?=\s)")
REFERENCE = re.compile(
    r"(?:theorem|lemma|corollary|proposition|definition|equations?|eq|case|step|part|problem|question|exercise"
    r"|example|figure|fig|table|section|chapter|page|line|rule|property|method|solution|version|amc|aime|year)s?",
    re.IGNORECASE,
)
REFERRED = re.compile(r"\(?[0-9]{1,4}(?:\.[0-9]+)*\)?")


def _letter(text: str, at: int) -> bool:
    """Whether a one-letter word is mathematics: no article or pronoun, or a term (`3i`, `2 + i`, `a + b`)."""
    if text[at] not in ARTICLES:
        return True
    before = text[max(0, at - 3) : at].rstrip()[-1:]
    return text[at] != "I" and (
        LETTER_TERM.match(text, at) is not None
        or text[at - 1 : at].isdigit()
        or (at > 0 and text[at - 1] in ")}^")
        or (before != "" and before in "+-−*/=^")
    )


def _math_ahead(text: str, at: int) -> bool:
    """Whether mathematics goes on at a place, spaces aside."""
    at += len(text[at : at + 24]) - len(text[at : at + 24].lstrip())
    rest = text[at : at + 24]
    if FUNCTION.match(rest):
        return True
    word = WORD.match(rest)
    if word:
        return len(word[0]) == 1 and _letter(text, at)
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
        ahead = text.startswith("{", at + 1) or _math_ahead(text, at + 1)
        return after_math and text[at - 1] != " " and ahead
    return OPERATOR.match(text, at) is not None and (char in "!°π∞²³|%" or _math_ahead(text, at + 1))


def _opened(text: str) -> bool:
    """Whether a bracket opened in a text is still open."""
    return sum(char in "([" for char in text) > sum(char in ")]" for char in text)


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
        elif char in "])" and end > start and (text.endswith(r"\right", 0, at) or _opened(text[start:at])):
            at = end = at + 1
        elif (function := FUNCTION.match(text, at)) and not text[max(0, at - 1) : at].isalpha():
            at = end = function.end()
        elif (word := WORD.match(text, at)) is not None:
            if len(word[0]) > 1 or not _letter(text, at):
                break
            at = end = word.end()
        elif _operator(text, at, after_math=end > start):
            at = end = at + 1
        else:
            break
    return end


def _in_signs(text: str) -> str:
    """A text with quantities said in words in signs: "minus 5", "3 and a half", "12 in base 3", "3 : 4"."""
    text = SIGN.sub(r"\1\2-", text)
    text = RATIO.sub(lambda ratio: ratio[1] + re.sub(r"[\s$]", "", ratio[2]), text)
    text = MIXED.sub(lambda mixed: rf"{mixed[1]}\frac{{1}}{{{PARTS[mixed[3]]}}}{mixed[2]}", text)
    return BASE.sub(r"\1_{\3}\2", text)


def pieces(text: str) -> list[Piece]:
    """The pieces of a statement up to unfinished mathematics, without decoration and bracketed remarks."""
    text = EMPHASIS.sub(r"\1", DECORATION.sub("", BULLET.sub("\n", text)))
    text = _in_signs(OPEN_LIST.sub(r", \\ldots ", IMPLIES.sub("⇒", text)))
    found: list[Piece] = []
    at = 0
    touching = False
    while at < len(text):
        char = text[at]
        span = math_span(text, at) if char in "$\\" else None
        start = at
        if span is not None:
            content = text[span[0] : span[1]].strip().rstrip(".,;")
            at = span[2]
            if touching and found and found[-1].kind == "math":
                found[-1] = Piece("math", found[-1].text + content)
            else:
                found.append(Piece("math", content))
        elif char.isspace():
            at += 1
        elif text.startswith((r"\(", r"\[", "$$", r"\begin{", r"\end{"), at):
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
        touching = span is None and at > start and not text[at - 1].isspace()
    return _merged(found)


def _merged(found: list[Piece]) -> list[Piece]:
    """The pieces with an unfinished equality joined to what follows it; a reference ("Lemma 2") is a word."""
    merged: list[Piece] = []
    for piece in found:
        last = merged[-1] if merged else None
        if last and piece.kind == last.kind == "math" and last.text.endswith("="):
            merged[-1] = Piece("math", f"{last.text} {piece.text}")
        elif (
            last and last.kind == "word" and REFERENCE.fullmatch(last.text) and REFERRED.fullmatch(piece.text)
        ):
            merged[-1] = Piece("word", f"{last.text} {piece.text}")
        else:
            merged.append(piece)
    return merged
