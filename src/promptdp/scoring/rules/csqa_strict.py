"""CommonsenseQA, strict: the letter of the `Answer: X` declarations, which must all agree (VII-A)."""

import re

from promptdp.scoring.letters import choice
from promptdp.scoring.limits import Budget
from promptdp.scoring.verdict import Extraction, Judgement, Reason, found, judged, none

LABEL = re.compile(r"\banswer[*_`]{0,3}\s{0,3}[:：][*_`]{0,3}", re.IGNORECASE)


def extract(response: str, capped: bool, budget: Budget) -> Extraction:
    """The letter that all declarations give; declarations that differ, or name several, are no answer."""
    budget.read(response)
    choices = [choice(response, label.end()) for label in LABEL.finditer(response)]
    letters = {declared.letter for declared in choices if declared is not None}
    if not letters:
        return none(Reason.NO_ANSWER)
    letter = letters.pop()
    return none(Reason.AMBIGUOUS) if letters or letter is None else found(letter)


def judge(answer: str, gold: str, budget: Budget) -> Judgement:
    """Identity of the letter."""
    return judged(answer == gold.strip().upper())
