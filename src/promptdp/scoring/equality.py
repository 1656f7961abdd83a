"""Exact equality of two answers: by structure, by exact rationals, by values at fixed points (VII-D).

Both answers are parsed under caps by this package's own parser; nothing of either reaches an evaluator of
code. An answer over a cap, or in no known notation, equals only an answer that is written the same.
Equality is symmetric: the two texts are put in order before anything is read. It is not transitive where
notation is not: 16% is both 16 and 0.16, and these differ.
"""

import re

from promptdp.scoring import words
from promptdp.scoring.comparison import Comparison
from promptdp.scoring.limits import ANSWER_CHARACTERS, Budget, LimitError
from promptdp.scoring.nodes import Node
from promptdp.scoring.parser import Answer, ParseError, parse
from promptdp.scoring.stated import assignment, assignments_agree, statement, statements_agree
from promptdp.scoring.tokens import Token, tokenize
from promptdp.scoring.units import canonical_unit
from promptdp.scoring.verdict import Judgement, Reason, judged

BASE_NUMERAL = re.compile(
    r"(?:\\(?:text|mathrm)\{)?\(?([0-9A-Z.]+)\)?\}?_\{?(?:\\text\{)?([0-9]{1,2})\}{0,2}"
)


def equal(answer: str, gold: str, budget: Budget | None = None) -> Judgement:
    """Whether an answer equals the reference; not when one, or the work of comparing them, is over a cap."""
    try:
        return _equal(min(answer, gold), max(answer, gold), budget or Budget())
    except LimitError:
        return Judgement(False, Reason.LIMIT)


def _equal(answer: str, gold: str, budget: Budget) -> Judgement:
    if max(len(answer), len(gold)) > ANSWER_CHARACTERS:
        raise LimitError
    budget.read(answer + gold)
    ours, theirs = tokenize(answer), tokenize(gold)
    if ours == theirs:
        return judged(bool(ours) or answer.strip() == gold.strip())
    if _is_text(ours) or _is_text(theirs):
        if words.items(answer) == words.items(gold):
            return judged(True)
        answer, gold = words.in_symbols(answer), words.in_symbols(gold)
    numerals = [BASE_NUMERAL.fullmatch(re.sub(r"[\s$]", "", text)) for text in (answer, gold)]
    if all(numerals):
        (digits, base), (other_digits, other_base) = (match.groups() for match in numerals if match)
        return judged(digits.lstrip("0") == other_digits.lstrip("0") and int(base) == int(other_base))
    try:
        left, right = (parse(text, budget) for text in (answer, gold))
    except ParseError:
        return Judgement(False, Reason.UNREADABLE)
    if _units_conflict(left, right):
        return Judgement(False, Reason.UNIT)
    return judged(answers_equal(left.value, right.value, budget))


def _is_text(tokens: list[Token]) -> bool:
    """Whether an answer has words and no mathematics."""
    kinds = {token.kind for token in tokens if not (token.kind == "sign" and token.text in "().:-'!?")}
    return "text" in kinds and kinds <= {"text", "letter", "separator"}


def _units_conflict(ours: Answer, theirs: Answer) -> bool:
    """Whether both name a known unit and none in common."""
    left, right = ({canonical_unit(text) for text in answer.units} - {None} for answer in (ours, theirs))
    return bool(left and right and not left & right)


def answers_equal(ours: Node, theirs: Node, budget: Budget) -> bool:
    """Whether two answers are equal, or state equal values of what may be one thing."""
    same = Comparison(budget).values
    if same(ours, theirs):
        return True
    given = [assignment(node, same, budget) for node in (ours, theirs)]
    if any(given):
        return assignments_agree(given, (ours, theirs), same)
    said = [statement(node, same, budget) for node in (ours, theirs)]
    if said == [None, None]:
        return False
    return statements_agree(said, (ours, theirs), same)
