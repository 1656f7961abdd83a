"""The final number of a response: marked (`####`, a box), declared ("the answer is"), or last (VII-D).

An unboxed number is credited. Where a statement hedges between numbers ("3 or 5") there is no answer.
"""

import re
from collections import deque

from promptdp.scoring.boxes import last_box
from promptdp.scoring.limits import Budget
from promptdp.scoring.numerals import Number, numbers, plain
from promptdp.scoring.statements import explicit_statements, statement
from promptdp.scoring.verdict import Extraction, Judgement, Reason, found, judged, none

ANNOTATION = re.compile(r"<<[^<>\n]*>>")
CHAIN = re.compile(r"[\s$\\()+*/x=£€-]*")
HEDGE = re.compile(r"(?:\s[a-z]+){0,2},?\s(?:or|and)\s[^0-9a-z]{0,3}", re.IGNORECASE)
RANGE = re.compile(r"\bbetween\s[^0-9a-z]{0,3}$", re.IGNORECASE)
NEGATION = re.compile(r"^[*_\s]*(?:not|never|n't)\b", re.IGNORECASE)


def stated(segment: str) -> Extraction:
    """The number that a statement gives: the end of its first chain of equalities, unless it hedges."""
    found_numbers = list(numbers(segment))
    if not found_numbers:
        return none(Reason.NO_ANSWER)
    chain = [found_numbers[0]]
    for number in found_numbers[1:]:
        between = segment[chain[-1].end : number.start]
        if not CHAIN.fullmatch(between):
            if "=" in between and "," not in between:
                chain.append(number)
                continue
            if HEDGE.fullmatch(between):
                return none(Reason.AMBIGUOUS)
            break
        chain.append(number)
    return found(chain[-1].text)


def last(text: str) -> Extraction:
    """The last number of a text, unless it is one of two alternatives."""
    previous: Number | None = None
    number: Number | None = None
    for following in numbers(text):
        previous, number = number, following
    if number is None:
        return none(Reason.NO_ANSWER)
    if previous is not None:
        between = HEDGE.fullmatch(text[previous.end : number.start])
        start = text[max(0, previous.start - 12) : previous.start]
        if between and ("or" in between[0].lower().split() or RANGE.search(start)):
            return none(Reason.AMBIGUOUS)
    return found(number.text)


def final_number(response: str, budget: Budget) -> Extraction:
    """The final number of a response, in canonical form."""
    budget.read(response)
    text = plain(ANNOTATION.sub("", response))
    box, marker = last_box(text, budget), text.rfind("####")
    if box is not None and box.content and box.start > marker and any(numbers(box.content)):
        return stated(box.content)
    if marker >= 0:
        marked = statement(text, marker + 4)
        budget.read(marked)
        if any(numbers(marked)):
            return stated(marked)
    budget.read(text)
    for end in reversed(explicit_statements(text)[-8:]):
        declared = statement(text, end)
        budget.read(declared)
        if not NEGATION.match(declared) and any(numbers(declared)):
            return stated(declared)
    budget.read(text)
    return last(text)


def same_number(answer: str, gold: str, budget: Budget) -> Judgement:
    """Exact equality of a canonical number and the reference's number."""
    budget.read(answer + gold)
    ours, theirs = next(numbers(answer), None), deque(numbers(plain(gold)), maxlen=1)
    return judged(ours is not None and bool(theirs) and ours.value == theirs[0].value)
