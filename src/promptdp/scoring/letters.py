r"""Reading one option letter A-E in a declaration: `**B**`, `$\boxed{\text{E}}$`, `(C) library`, `b`, `<B>`.

A letter inside a word, or the article "a" before a word, is no choice. Two choices in one declaration
conflict, and a choice that is denied or doubted is none.
"""

import re
from typing import NamedTuple

from promptdp.scoring.stance import REFUSAL

DECLARATION = 200
"""How many characters after a letter are read as part of its declaration."""
OPEN = (
    r"(?:[\s*_`$\"'“‘(\[<{]|\\(?:boxed|fbox|text|textbf|textit|mathbf|mathrm|mbox|mathbb)(?![A-Za-z])"
    r"|\\[(\[]){0,12}"
)
CLOSE = r"(?:[*_`$\"'”’)\]>}]|\\[)\]]){0,12}"
DENIAL = (
    r"(?P<denial>(?:definitely\s|clearly\s|certainly\s)?(?:not|never|cannot be|can['’]t be|none of"
    r"|(?:any|every)thing (?:but|except|other than)|all (?:but|except))\s)"
)
DOUBT = r"(?P<doubt>(?:maybe|perhaps|possibly|either|neither|both|between)\s(?:of\s)?)"
NOUN = r"(?i:(?:the\s)?(?:option|choice|letter|answer)\s{1,3})?"
EDGE = r"(?![\w'’+#]|[-‐‑–.&]\w|\s?=|/(?![A-Ea-e]\b)\w|(?<=b)/c\s[a-z]|<\w|:[\\/])"
CHOICE = re.compile(
    rf"{OPEN}(?i:{DENIAL}|{DOUBT})?{NOUN}{OPEN}"
    rf"(?:(?P<letter>[A-Ea-e])(?![A-Za-z0-9])(?P<close>{CLOSE}){EDGE}"
    r"|(?P<other>[F-WYZf-wyz](?=\s*(?:[.)*]|$))|(?i:none|n/a|unclear|unknown|uncertain|unsure|undetermined"
    r"|undecided|inconclusive|it depends)\b))"
)
TEXT_FIRST = re.compile(
    r"[\s*_]{0,4}(?!(?:not|never)\b)(?:[a-z][a-z'’-]{0,20}\s){1,4}[*_]{0,2}[(\[](?P<letter>[A-E])[)\]]"
    r"[*_. \t]{0,6}$",
    re.MULTILINE,
)
REASON = (
    r"because|since|as|is|for|which|due|given|based|although|but|while|or|and|not|it|they|cannot|rather"
    r"|instead|unlike|than|neither|nor|whereas|though|unless|if|so|with|over|except|whose|where|when|that"
    r"|this|these|those"
)
ARTICLE = re.compile(rf"[ \t]+(?!(?:{REASON})\b)[A-Za-z]+")
REFUSED = re.compile(rf"\s{REFUSAL}|\s?\?", re.IGNORECASE)
CORRECTED = re.compile(r"[,;.—–]?\s(?:but(?: rather)?|rather|it is|it['’]s)\s", re.IGNORECASE)
CONDITION = re.compile(r"\s(?:only )?(?:if|unless|when|provided|assuming)\b", re.IGNORECASE)
HEDGES = (
    r"(?:(?:maybe|perhaps|possibly|probably|potentially|also|even|else|arguably|less|more|likely|it"
    r"|(?:could|might|may) (?:also )?be),?\s)"
)
LETTER = rf"(?<![\w'’-]){NOUN}{OPEN}(?P<joined>[B-E]|A(?!\s[a-z])|[a-e](?=\s*(?:[.,;*)\]]|$))){EDGE}"
CLAIM = r"(?!\s(?:is|are|was|were|has|does|do|cannot|can|seems?|makes?|would|will|could)\b)"
JOINT = (
    rf"(?:[\s,;(—–-]{{0,4}}\b(?:or|and|and/or|as well as|alternatively|otherwise)\b,?\s{HEDGES}{{0,3}}"
    rf"|[ ,;(—–-]{{1,4}}(?:\b(?:but|though)\s)?{HEDGES}{{1,3}}|\s?(?:[/&|+]|-+>|[→⇒])\s?|[,;]?\s?"
    r"|\.(?=\S|\s\(?[A-E]\)?\.?\s*$))\s?"
)
OPTION_TEXT = (
    rf"(?:[ \t]?[.:,)—–-]?[ \t]{{1,3}}(?!\(?(?:{REASON}|also|maybe|perhaps|possibly|even|probably)\b)"
    r"\(?[a-z][a-z'’-]{0,20}(?![\w'’-])\)?){0,5}"
)
ALLOWED = (
    r"[ ,;(—–-]{1,4}(?:\b(?:but|and|though|although)\s)?(?P<allowed>[A-E])\s(?:also\b|too\b"
    r"|(?:is|are|could|would|might|may|can|works?|fits?|seems?)"
    r"\b[^.\n]{0,30}?\b(?:also|too|equally|just as|as well|possible|fine|plausible|acceptable|work)\b)"
)
SECOND = re.compile(rf"(?:{OPTION_TEXT}{JOINT}{LETTER}{CLAIM}|{OPTION_TEXT}{ALLOWED})", re.MULTILINE)
NEXT_LINE = re.compile(r"\n(?!\s{0,3}(?:or|and)\s)", re.IGNORECASE)
LABEL = re.compile(r"(?:^|[\s(\[*])([A-E])[)\].:]")


class Choice(NamedTuple):
    """What a declaration chooses: an upper-case letter, or None when it names several or none of A-E.

    `denied` is the letter that it says is not the answer; `end` is where the declaration's letter ends.
    """

    letter: str | None
    denied: str | None
    end: int


def choice(text: str, start: int, denied: bool = False) -> Choice | None:
    """The choice declared at `start`; None when what stands there is no declaration.

    Args:
        text: the response.
        start: where the cue of the declaration ends.
        denied: the cue denies what follows it ("the answer is not").
    """
    match = CHOICE.match(text, start)
    if match is None:
        match = TEXT_FIRST.match(text, start, start + DECLARATION)
        return Choice(match["letter"], None, match.end("letter")) if match else None
    if match["other"]:
        return Choice(None, None, match.end())
    letter, end = match["letter"].upper(), match.end()
    if match["letter"] in "Aabcde" and not match["close"] and ARTICLE.match(text, end):
        return None
    rest = text[end : end + DECLARATION]
    if _lists_options(letter, rest):
        return None
    denied = denied or match["denial"] is not None
    corrected = CORRECTED.match(rest) if denied else None
    if corrected:
        return choice(text, end + corrected.end())
    if denied or REFUSED.match(rest):
        return Choice(None, letter, end)
    second = SECOND.match(NEXT_LINE.split(rest, maxsplit=1)[0])
    several = second and (second["joined"] or second["allowed"]).upper() != letter
    unsettled = match["doubt"] or several or CONDITION.match(rest)
    return Choice(None if unsettled else letter, None, end)


def _lists_options(letter: str, rest: str) -> bool:
    """Whether the next two letters follow as labels, so that the question's options are repeated here."""
    following = [chr(ord(letter) + 1), chr(ord(letter) + 2)]
    return LABEL.findall(rest)[:2] == following
