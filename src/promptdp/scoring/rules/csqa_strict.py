"""CommonsenseQA, strict: the letter of the `Answer: X` declarations, which must all agree (VII-A)."""

import re

from promptdp.scoring.letters import DECLARATION, Choice, choice
from promptdp.scoring.limits import NEARBY_CHARACTERS, Budget
from promptdp.scoring.stance import disowned, withdrawn
from promptdp.scoring.verdict import Extraction, Judgement, Reason, found, judged, none

LABEL = re.compile(r"(?<![A-Za-z0-9])answer[*_`\"]{0,3}\s{0,3}[:：][*_`]{0,3}", re.IGNORECASE)


def extract(response: str, capped: bool, budget: Budget) -> Extraction:
    """The letter that all declarations give; if they differ, name several, or are withdrawn, none."""
    budget.read(response)
    declared: list[Choice] = []
    for label in LABEL.finditer(response):
        start = label.start()
        budget.spend(NEARBY_CHARACTERS + DECLARATION)
        option = choice(response, label.end())
        if option is not None and not disowned(response[max(0, start - NEARBY_CHARACTERS) : start]):
            declared.append(option)
    if not declared:
        return none(Reason.NO_ANSWER)
    letter = declared[-1].letter
    agree = all(option.letter == letter for option in declared)
    if letter is None or not agree or withdrawn(response, declared[-1].end, budget):
        return none(Reason.AMBIGUOUS)
    return found(letter)


def judge(answer: str, gold: str, budget: Budget) -> Judgement:
    """Identity of the letter."""
    return judged(answer == gold.strip().upper())
