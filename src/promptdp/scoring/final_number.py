"""The final number of a response: marked (`####`, a box), declared ("the answer is"), or last (VII-D).

An unboxed number is credited. Where a statement hedges between numbers ("3 or 5"), denies or only bounds its
number, or is withdrawn, there is no answer.
"""

import re
from collections import deque
from typing import NamedTuple

from promptdp.scoring.boxes import last_box
from promptdp.scoring.limits import NEARBY_CHARACTERS, Budget
from promptdp.scoring.numerals import Number, numbers, plain
from promptdp.scoring.stance import (
    COMPARATIVES,
    REFUSAL,
    conditional,
    evasive,
    sentence_start,
    unasserted,
    withdrawn,
)
from promptdp.scoring.statements import explicit_statements, statement
from promptdp.scoring.verdict import Extraction, Judgement, Reason, found, judged, none
from promptdp.scoring.vocabulary import vocabulary

TRIED = 8
"""Markers and explicit statements tried, from the last one back."""
MARKER = re.compile(r"#{4,}")
AROUND = r"[ \t$\\(){}\[\]£€]{0,8}"
UNIT = r"(?:[ \t]?[A-Za-z%°/][A-Za-z%°./]{0,19}(?![A-Za-z])){0,2}"
BESIDE = 100
"""How many characters may stand between two numbers of one expression or choice."""
OPERATION = re.compile(
    rf"{UNIT}{AROUND}(?:[-+*/÷x^]|\\times|\\cdot|\\div|\b(?:plus|minus|times|(?:divided|multiplied) by)\b)"
    rf"{AROUND}-?{AROUND}",
    re.IGNORECASE,
)
OPERAND = re.compile(
    r"(?:\w[+*/÷^]\s?|\w\s[+*/÷^]\s|\b(?:plus|minus|times|divided by|multiplied by)"
    r"|\b(?:half|thirds?|quarters?|double|twice|triple|percent|root|square|cube) (?:of )?"
    r"|%\sof\s?)\s?[$£€(]{0,2}$",
    re.IGNORECASE,
)
JOINT = re.compile(
    rf"{UNIT}{AROUND}[,;]?(?:\s|(?<=\())(?P<word>or|and/or|and)\s"
    rf"(?:(?:it|they|rather|maybe|perhaps|possibly|could|might|be|even|is|also)\s){{0,4}}{AROUND}"
    rf"(?:[A-Za-z]\s?=)?{AROUND}-?{AROUND}",
    re.IGNORECASE,
)
SERIES = re.compile(
    rf"{AROUND}(?:±|\\pm|,\s?|\sand\s|,\sand\s){AROUND}-?{AROUND}"
    rf"|{UNIT}{AROUND}\s(?:to|through)\s{AROUND}-?{AROUND}|[ \t]+",
    re.IGNORECASE,
)
BOUND = re.compile(
    r"(?:(?<![</])\b[A-Za-z0-9]\s?[<>]=?|\w\s[<>]=?(?=\s)|(?:^|[:#])[ $(]{0,3}[<>]=?|[≤≥±≠]|!="
    r"|\\(?:geq?|leq?|neq?|gt|lt|pm)(?![A-Za-z]))\s?[$£€]?$"
)
SHARE = re.compile(
    r"(?:\s?%|\spercent)?(?:\sout)?\sof\s(?:the\s|all\s|his\s|her\s|their\s|these\s|those\s)?[$£€]?", re.I
)
LARGE = vocabulary(
    "hour hours hr hrs h minute minutes min mins foot feet ft pound pounds lb lbs year years week weeks "
    "day days dollar dollars kg km m"
)
SMALL = vocabulary(
    "minute minutes min mins second seconds sec inch inches in ounce ounces oz month months day days hour "
    "hours cent cents g m cm"
)
EQUATES = re.compile(r"(?:[^=,;(]|\([^()]*\))*[=≈][^,;]*")
COMPARED = re.compile(rf"[^,;.(=]*\b(?:{'|'.join(sorted(COMPARATIVES))})\b[^,;.(=]*\bthan\b", re.IGNORECASE)
CORRECTED = re.compile(
    rf"{UNIT}{AROUND}[,;.]?\s(?:but(?: rather)?|it is|it['’]s|rather)\s{AROUND}", re.IGNORECASE
)
REASON = re.compile(r"\b(?:because|since)\b", re.IGNORECASE)
QUERY = re.compile(r"[\s*_$)\"']{0,4}\?\W*\Z")
"""A question mark that ends the response; after a declared number it is only punctuation."""
NOT = re.compile(r"\bnot\s\W*$", re.IGNORECASE)
IS_THE_ANSWER = re.compile(
    r"\s(?:is|are)\s(?:the|our|my)\s(?:final\s|correct\s){0,2}answers?\b", re.IGNORECASE
)
CONTRAST = re.compile(
    rf"{UNIT}{AROUND},?\s\(?(?:(?:and|but)\s)?(?:not|rather than|instead of)\s{AROUND}"
    rf"|[^.!?,;\n]{{1,40}},\snot\s{AROUND}",
    re.IGNORECASE,
)
REFUSED = re.compile(rf"{UNIT}{AROUND}\s?{REFUSAL}", re.IGNORECASE)
UNITS = re.compile(UNIT + AROUND)
BETWEEN = re.compile(r"\b(?:between|either|both)\s[^0-9a-z]{0,3}$", re.IGNORECASE)
NOTED = re.compile(r"[0-9][^0-9=:\n]*(?<!\bis)(?<!\bare)(?<!\bget)(?<!\bgives)\s?$", re.IGNORECASE)
CLAUSE = re.compile(r"[,;:\n]|[.!?]\s")
LISTED = re.compile(r"(?:^|\n)[ \t>#*_-]{0,8}$")
LIST_MARK = re.compile(r"[.):]\s+(?=\S)|[.):][*_]")
TITLED = re.compile(r"[.):]\s+[A-Za-z]")
WORDS = re.compile(r"[^\W\d_]+")
FILLERS = vocabulary(
    "therefore thus so then now clearly simply just exactly only approximately about roughly around equal "
    "equals to a an the total of number us usd rs inr eur probably likely indeed still also actually "
    "obviously definitely certainly final correct answer is are zero one two three four five six seven eight "
    "nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
)


class Reading(NamedTuple):
    """What a place of the response gives, and where it ends there."""

    extraction: Extraction
    end: int


UNCLEAR = none(Reason.AMBIGUOUS)


def final_number(response: str, budget: Budget) -> Extraction:
    """The final number of a response, in canonical form."""
    budget.spend(2 * len(response))
    text = plain(response)
    reading = _marked(text, budget)
    if reading is None:
        declared = [_declared(text, 0, budget), _named(text, budget)]
        reading = max((r for r in declared if r is not None), key=lambda r: r.end, default=None)
    if reading is None:
        return _last(text, budget)
    if reading.extraction.answer is None or not withdrawn(text, reading.end, budget):
        return reading.extraction
    again = _declared(text, reading.end, budget)
    return UNCLEAR if again is None or withdrawn(text, again.end, budget) else again.extraction


def _marked(text: str, budget: Budget) -> Reading | None:
    """What the last marker or box gives; a heading in markdown is no marker."""
    box = last_box(text, budget)
    budget.read(text)
    markers = [match.end() for match in deque(MARKER.finditer(text), maxlen=TRIED)]
    if box is not None and box.content and box.content.strip() and box.start > max(markers, default=-1):
        end = text.find(box.content, box.start) + len(box.content)
        if not any(numbers(box.content)):
            return Reading(none(Reason.NO_ANSWER), end)
        return Reading(_stated(box.content, whole=True).extraction, end)
    for start in reversed(markers):
        segment = "#" + statement(text, start)
        budget.read(segment)
        first = next(numbers(segment), None)
        if first is None or not _direct(segment[: first.start]):
            continue
        if first.end - first.start <= 2 and TITLED.match(
            segment + text[start + len(segment) - 1 :][:9], first.end
        ):
            continue
        stated = _stated(segment, whole=False)
        return Reading(stated.extraction, start + stated.end - 1)
    return None


def _declared(text: str, start: int, budget: Budget) -> Reading | None:
    """What the last explicit statement after a place gives; a sentence after a colon declares no number."""
    budget.read(text)
    for end in reversed([end for end in explicit_statements(text) if end > start][-TRIED:]):
        segment = ":" + statement(text, end)
        budget.spend(len(segment) + NEARBY_CHARACTERS)
        before = text[max(0, end - NEARBY_CHARACTERS) : end]
        cue = before.lower().rfind("answer")
        cue = end if cue < 0 else end - len(before) + cue
        first = next(numbers(segment), None)
        opening = text[sentence_start(text, cue) : cue]
        doubt = unasserted(opening)
        if first is None or doubt is Reason.NO_ANSWER:
            continue
        if doubt or conditional(segment):
            return Reading(UNCLEAR, end + first.end - 1)
        lead = segment[: first.start]
        if _direct(lead) or evasive(lead) or not before.rstrip(" *_").endswith(":"):
            stated = _stated(segment, whole=not _direct(lead))
            after = end + stated.end - 1
            query = QUERY.match(text, after) if _direct(opening) and _direct(lead) else None
            return Reading(stated.extraction, query.end() if query else after)
    return None


def _named(text: str, budget: Budget) -> Reading | None:
    """The number that the last sentence of the form "12 is the answer" names."""
    budget.read(text)
    for match in reversed(deque(IS_THE_ANSWER.finditer(text), maxlen=TRIED)):
        budget.spend(2 * NEARBY_CHARACTERS)
        start = sentence_start(text, match.start())
        tail = deque(numbers(text[start : match.start()]), maxlen=1)
        if tail and UNITS.fullmatch(text, start + tail[0].end, match.start()):
            lead = text[start : start + tail[0].start]
            denied = tail[0].value is None or evasive(lead) or unasserted(lead) is not None
            return Reading(UNCLEAR if denied else found(tail[0].text), match.end())
    return None


def _direct(lead: str) -> bool:
    """Whether the words before a number only introduce it ("about", "x =")."""
    return lead.rstrip(" $\\({").endswith("=") or {word.lower() for word in WORDS.findall(lead)} <= FILLERS


def _stated(segment: str, whole: bool) -> Reading:
    """The number that a statement gives: the end of its first chain of equalities, unless it hedges.

    Args:
        segment: the statement, which holds a number.
        whole: it is a sentence, so that no number may stand outside the chain.
    """
    found_numbers = list(numbers(segment))
    number = found_numbers[0]
    lead = segment[: number.start]
    denial = NOT.search(lead)
    if denial and len(found_numbers) > 1 and CORRECTED.fullmatch(segment, number.end, found_numbers[1].start):
        lead = lead[: denial.start()]
        del found_numbers[0]
        number = found_numbers[0]
    if evasive(lead) or _is_operand(segment, number):
        return Reading(UNCLEAR, number.end)
    operation = False
    for following in found_numbers[1:]:
        between = segment[number.end : following.start]
        if len(between) > BESIDE:
            if whole:
                return Reading(UNCLEAR, following.end)
            break
        if REASON.search(between) and not whole:
            break
        joint = JOINT.fullmatch(between)
        if OPERATION.fullmatch(between):
            operation = True
        elif (
            joint["word"].lower() == "or" and (operation or _same(number, following))
            if joint
            else EQUATES.fullmatch(between)
        ):
            operation = False
        elif (
            joint
            or SERIES.fullmatch(between)
            or COMPARED.match(between)
            or _measures(segment, number, following)
            or (whole and not CONTRAST.fullmatch(between))
        ):
            return Reading(UNCLEAR, following.end)
        else:
            break
        number = following
    if operation or number.value is None or _rejected(segment, number):
        return Reading(UNCLEAR, number.end)
    return Reading(found(number.text), number.end)


def _is_operand(text: str, number: Number) -> bool:
    """Whether a number is the second operand of an operation on something that is no number, or a bound."""
    start = max(0, number.start - 20)
    signed = number.value is not None and number.value < 0
    bound = BOUND.search(text, start, number.start) is not None and text[number.end : number.end + 1] != ">"
    return bound or (not signed and OPERAND.search(text, start, number.start) is not None)


def _same(one: Number, other: Number) -> bool:
    return one.value is not None and one.value == other.value


def _measures(text: str, one: Number, other: Number) -> bool:
    """Whether two numbers give one quantity in two units ("2 hours 30 minutes")."""
    between = re.fullmatch(r" ?([A-Za-z]+),?(?: and)? ", text[one.end : other.start])
    unit = re.match(r" ?([A-Za-z]+)", text[other.end : other.end + 20])
    return (
        between is not None and between[1].lower() in LARGE and unit is not None and unit[1].lower() in SMALL
    )


def _rejected(text: str, number: Number) -> bool:
    """Whether a number is called wrong right after it ("27 is not the answer")."""
    return REFUSED.match(text, number.end, number.end + 60) is not None


def _last(text: str, budget: Budget) -> Extraction:
    """The last number of a text; none where it is one of several, denied, bounded, asked or withdrawn."""
    budget.read(text)
    tail: deque[Number] = deque((number for number in numbers(text) if not _is_mark(text, number)), maxlen=3)
    if not tail:
        return none(Reason.NO_ANSWER)
    number = tail.pop()
    budget.spend(2 * NEARBY_CHARACTERS)
    if tail and CONTRAST.fullmatch(text, tail[-1].end, number.start):
        number = tail.pop()
    start = sentence_start(text, number.start)
    before = text[max(start, tail[-1].end if tail else 0) : number.start]
    lead = " ".join(re.split(CLAUSE, before)[-1].split()[-4:]) + " "
    said = text[start : number.start]
    cue = said.lower().rfind("answer")
    if (
        number.value is None
        or evasive(lead)
        or (cue >= 0 and unasserted(said[:cue]) is not None)
        or _is_operand(text, number)
        or unasserted(said) is Reason.NO_ANSWER
        or _rejected(text, number)
        or (tail and _one_of_several(text, list(tail), number))
        or withdrawn(text, number.end, budget)
    ):
        return UNCLEAR
    return found(number.text)


def _is_mark(text: str, number: Number) -> bool:
    """Whether a number only counts an item of a list or refers to a note."""
    if number.end - number.start > 2:
        return False
    if LIST_MARK.match(text, number.end) and LISTED.search(text, max(0, number.start - 9), number.start):
        return True
    bracketed = text[number.start - 1 : number.start] == "[" and text[number.end : number.end + 1] == "]"
    return bracketed and NOTED.search(text, max(0, number.start - 40), number.start - 1) is not None


def _one_of_several(text: str, earlier: list[Number], number: Number) -> bool:
    """Whether the last number is an operand, a bound or an alternative beside the one before it."""
    previous = earlier[-1]
    between = text[previous.end : number.start]
    if len(between) > BESIDE:
        return False
    joint = JOINT.fullmatch(between)
    if joint and joint["word"].lower() != "and":
        sum_before = len(earlier) > 1 and OPERATION.fullmatch(text[earlier[0].end : previous.start])
        return not (sum_before or _same(previous, number))
    if joint and BETWEEN.search(text, max(0, previous.start - 14), previous.start):
        return True
    return bool(
        OPERATION.fullmatch(between)
        or (SERIES.fullmatch(between) and not _same(previous, number))
        or SHARE.fullmatch(between)
        or _measures(text, previous, number)
    )


def same_number(answer: str, gold: str, budget: Budget) -> Judgement:
    """Exact equality of a canonical number and the reference's number."""
    budget.read(answer + gold)
    ours, theirs = next(numbers(answer), None), deque(numbers(plain(gold)), maxlen=1)
    return judged(ours is not None and bool(theirs) and _same(ours, theirs[0]))
