"""CommonsenseQA, final answer: the last explicit declaration in any form, abstaining on conflicts (Appendix E-B)."""

import re

from promptdp.scoring.letters import Choice, choice
from promptdp.scoring.verdict import Extraction, Judgement, Reason, found, judged, none

NOUN = r"(?:answer|choice|option|pick|selection|conclusion)"
CUE = re.compile(
    rf"\b{NOUN}s?[*_`\"”]{{0,3}}(?:\s(?:to|for)\b[^.:\n]{{0,60}}?)?\s{{0,3}}"
    r"(?:[:：=]|(?:is|would be|should be|must be|will be|has to be|becomes)\b[*_`\s]{0,4}:?)[*_`]{0,3}"
    r"(?:\s{1,3}(?:therefore|thus|clearly|definitely|most likely|likely|indeed|then|so|simply|still))?"
    r"|\b(?:i|we)(?:\s(?:would|will|should|must|therefore|thus))?\s(?:choose|pick|select|chose)\b"
    r"|\\(?:boxed|fbox)(?=\s?\{)"
    r"|^(?=[\s*_`(\[<\"]{0,8}[A-E][.)*_`\]>\"\s]{0,8}$)",
    re.IGNORECASE | re.MULTILINE,
)
HEDGE = re.compile(
    rf"\b{NOUN}\s(?:might|may|could|can)\s(?:well\s)?be\b|\b(?:either|between|probably|maybe|perhaps)\b", re.IGNORECASE
)
REVERSED = re.compile(
    r"(?<![\w'])(?:option\s|choice\s|answer\s)?[(*_`\[]{0,4}(?P<letter>[A-E])[)*_`\]]{0,4}"
    rf"\sis\s(?:(?:therefore|thus|clearly)\s)?(?:the\s(?:(?:correct|best|right|final|most\s\w+)\s){{1,2}}{NOUN}|the\sanswer|correct\b)",
)


def extract(response: str, capped: bool) -> Extraction:
    """The letter of the last declaration; a declaration that names several letters is no answer."""
    declared: list[tuple[int, Choice]] = []
    for cue in CUE.finditer(response):
        if (letter := choice(response, cue.end())) is not None:
            declared.append((cue.end(), letter))
    for match in REVERSED.finditer(response):
        declared.append((match.start("letter"), Choice(match["letter"])))
    if not declared:
        return none(Reason.NO_ANSWER)
    letter = max(declared, key=lambda item: item[0])[1].letter
    return none(Reason.AMBIGUOUS) if letter is None else found(letter)


def judge(answer: str, gold: str) -> Judgement:
    """Identity of the letter."""
    return judged(answer == gold.strip().upper())
