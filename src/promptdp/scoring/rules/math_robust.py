"""MATH, format-robust: a boxed answer as in the strict rule, else a completed unboxed one (Appendix E-A)."""

from promptdp.scoring.boxes import boxed
from promptdp.scoring.equality import equal
from promptdp.scoring.limits import Budget
from promptdp.scoring.unboxed import unboxed
from promptdp.scoring.verdict import Extraction, Judgement, Reason, none


def extract(response: str, capped: bool, budget: Budget) -> Extraction:
    """The last box, else the stated answer unless the token cap stopped the response."""
    extraction = boxed(response, budget)
    if extraction is not None and extraction.answer is not None:
        return extraction
    return none(Reason.CAPPED) if capped else unboxed(response, budget)


def judge(answer: str, gold: str, budget: Budget) -> Judgement:
    """Exact mathematical equality, the same as the strict rule's."""
    return equal(answer, gold, budget)
