r"""Reading one option letter A-E in a declaration: `**B**`, `$\boxed{\text{E}}$`, `(C) library`, `b`, `<B>`.

A letter inside a word, or the article "a" before a word, is no choice. Two choices in one declaration conflict.
"""

import re
from typing import NamedTuple

OPEN = r"(?:[\s*_`$\"'“‘(\[<{]|\\(?:boxed|fbox|text|textbf|mathbf|mathrm|mbox)(?![A-Za-z])|\\[(\[]){0,12}"
CLOSE = r"(?:[*_`$\"'”’)\]>}]|\\[)\]]){0,12}"
REASON = r"(?:because|since|as|is|for|which|due|given|due|based|although|but|while|\()"
CHOICE = re.compile(
    rf"{OPEN}(?:(?:option|choice|letter)\s{{1,3}}{OPEN})?"
    rf"(?:(?P<letter>[A-Ea-e])(?![\w'’])|(?P<other>[F-Zf-z])(?=\s*(?:[.)*]|$)))(?P<close>{CLOSE})"
)
FOLLOWING = re.compile(rf"\s{{0,3}}(?:,|/|&|\||;|\bor\b|\band\b|,\s?or\b|,\s?and\b)\s{{0,3}}(?:(?:option|choice)\s)?{OPEN}"
                       rf"(?P<letter>[A-E]|[a-e](?=\s*(?:[.,;*)]|$)))(?![\w'’])(?!\s[a-z])", re.MULTILINE)
WORD = re.compile(r"[ \t]+(?P<word>[A-Za-z]+)")


class Choice(NamedTuple):
    """What a declaration chooses: an upper-case letter, or None when it names several or none of A-E."""

    letter: str | None


def choice(text: str, start: int) -> Choice | None:
    """The choice declared at `start`; None when what stands there is no declaration."""
    match = CHOICE.match(text, start)
    if match is None:
        return None
    if match["other"]:
        return Choice(None)
    letter = match["letter"]
    word = WORD.match(text, match.end())
    bare = not match["close"]
    if word and bare and (letter.islower() or letter == "A") and not re.fullmatch(REASON + "|or|and", word["word"]):
        return None
    following = FOLLOWING.match(text, match.end())
    if following and following["letter"].upper() != letter.upper():
        return Choice(None)
    return Choice(letter.upper())
