"""CommonsenseQA, final answer: the last explicit declaration in any form, if unambiguous (Appendix E-B)."""

import re

from promptdp.scoring.letters import Choice, choice
from promptdp.scoring.limits import Budget
from promptdp.scoring.verdict import Extraction, Judgement, Reason, found, judged, none

NOUN = r"(?:answer|choice|option|pick|selection|conclusion)"
CUE = re.compile(
    rf"\b{NOUN}s?[*_`\"”]{{0,3}}(?:\s(?:to|for|that|which|here|in|of|from|among|would)\b[^.:\n]{{0,60}}?)?"
    r"\s{0,3}(?:[:：=]|(?:is|would be|should be|must be|will be|has to be|becomes)\b[*_`\s]{0,4}:?)[*_`]{0,3}"
    r"(?:\s{0,3}(?:therefore|thus|clearly|definitely|most likely|likely|indeed|then|so|simply|still))?"
    r"|\b(?:i|we)(?:['’]d|['’]ll)?(?:\s(?:would|will|should|must|therefore|thus))?"
    r"\s(?:choose|pick|select|chose|go with)\b"
    r"|\\(?:boxed|fbox)(?=\s?\{)"
    r"|^(?=[\s*_`(\[<\"]{0,8}[A-E][.)*_`\]>\"\s]{0,8}$)",
    re.IGNORECASE | re.MULTILINE,
)
REVERSED = re.compile(
    r"(?<![\w'])(?:option\s|choice\s|answer\s)?[(*_`\[]{0,4}(?P<letter>[A-E])[)*_`\]]{0,4}"
    rf"\sis\s(?:(?:therefore|thus|clearly)\s)?"
    rf"(?:the\s(?:(?:correct|best|right|final|most\s\w+)\s){{1,2}}{NOUN}|the\sanswer|correct\b)",
)


def extract(response: str, capped: bool, budget: Budget) -> Extraction:
    """The letter of the last declaration; a declaration that names several letters is no answer."""
    budget.read(response)
    declared: list[tuple[int, Choice]] = []
    for cue in CUE.finditer(response):
        if (option := choice(response, cue.end())) is not None:
            declared.append((cue.end(), option))
    budget.read(response)
    for match in REVERSED.finditer(response):
        declared.append((match.start("letter"), Choice(match["letter"])))
    if not declared:
        return none(Reason.NO_ANSWER)
    last = max(declared, key=lambda item: item[0])[1].letter
    return none(Reason.AMBIGUOUS) if last is None else found(last)


def judge(answer: str, gold: str, budget: Budget) -> Judgement:
    """Identity of the letter."""
    return judged(answer == gold.strip().upper())
