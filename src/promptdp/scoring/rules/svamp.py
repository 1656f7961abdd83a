"""SVAMP: the final number of the response equals the reference, written there as a decimal (D-D)."""

from promptdp.scoring.final_number import final_number, same_number
from promptdp.scoring.limits import Budget
from promptdp.scoring.verdict import Extraction, Judgement


def extract(response: str, capped: bool, budget: Budget) -> Extraction:
    """The final number; a response stopped by the cap keeps whatever number it ended on."""
    return final_number(response, budget)


def judge(answer: str, gold: str, budget: Budget) -> Judgement:
    """Exact equality of rational numbers."""
    return same_number(answer, gold, budget)
