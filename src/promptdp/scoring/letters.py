r"""Reading one option letter A-E in a declaration: `**B**`, `$\boxed{\text{E}}$`, `(C) library`, `b`, `<B>`.

A letter inside a word, or the article "a" before a word, is no choice. Two choices in one declaration
conflict.
"""

import re
from typing import NamedTuple

OPEN = r"(?:[\s*_`$\"'“‘(\[<{]|\\(?:boxed|fbox|text|textbf|mathbf|mathrm|mbox)(?![A-Za-z])|\\[(\[]){0,12}"
CLOSE = r"(?:[*_`$\"'”’)\]>}]|\\[)\]]){0,12}"
REASON = re.compile(r"because|since|as|is|for|which|due|given|based|although|but|while|or|and")
NOUN = r"(?:(?i:option|choice|letter)\s{1,3})?"
CHOICE = re.compile(
    rf"{OPEN}(?:(?i:either|both|between)\s)?{NOUN}{OPEN}"
    rf"(?:(?P<letter>[A-Ea-e])(?![\w'’])|(?P<other>[F-Zf-z])(?=\s*(?:[.)*]|$)))(?P<close>{CLOSE})"
)
LAST = r"(?:[B-E]|A(?!\s[a-z])|[a-e](?=\s*(?:[.,;*)]|$)))"
JOINED = rf"(?:,\s?)?(?:/|&|\||\bor\b|\band\b)\s{{0,3}}{NOUN}{OPEN}{LAST}"
LISTED = rf"[,; ]\s{{0,3}}{OPEN}[A-E](?!\s[a-z])"
FOLLOWING = re.compile(rf"\s{{0,3}}(?:{JOINED}|{LISTED})(?![\w'’])", re.MULTILINE)
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
    word = None if match["close"] else WORD.match(text, match.end())
    if word and letter in "Aabcde" and not REASON.fullmatch(word["word"]):
        return None
    following = FOLLOWING.match(text, match.end())
    if following and following[0].rstrip()[-1].upper() != letter.upper():
        return Choice(None)
    return Choice(letter.upper())
