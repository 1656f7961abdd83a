"""Equality of two answers."""

from promptdp.scoring.final_number import same_number
from promptdp.scoring.verdict import Judgement, judged


def equal(answer: str, gold: str) -> Judgement:
    """Whether an answer equals the reference."""
    return judged(True) if answer.strip() == gold.strip() else same_number(answer, gold)
