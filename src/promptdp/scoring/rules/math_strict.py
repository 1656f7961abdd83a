r"""MATH, strict: the content of the last \boxed equals the reference answer (VII-D)."""

from promptdp.scoring.boxes import boxed
from promptdp.scoring.equality import equal
from promptdp.scoring.limits import Budget
from promptdp.scoring.verdict import Extraction, Judgement, Reason, none


def extract(response: str, capped: bool, budget: Budget) -> Extraction:
    """The content of the last box; a box that is empty or never closes is no answer."""
    return boxed(response, budget) or none(Reason.NO_ANSWER)


def judge(answer: str, gold: str, budget: Budget) -> Judgement:
    """Exact mathematical equality."""
    return equal(answer, gold, budget)
