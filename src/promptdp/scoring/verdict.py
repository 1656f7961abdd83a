"""What a rule says about a response: the extracted answer, whether it is right, and a fixed reason."""

from enum import StrEnum
from typing import NamedTuple


class Reason(StrEnum):
    """The only reasons a verdict can carry; none of them quotes the response."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNIT = "different unit"
    NO_ANSWER = "no answer"
    EMPTY_BOX = "empty box"
    OPEN_BOX = "unterminated box"
    CAPPED = "stopped by the token cap"
    AMBIGUOUS = "ambiguous"
    UNREADABLE = "unreadable"
    LIMIT = "limit"


class Extraction(NamedTuple):
    """An answer read from a response, or None and the reason why there is none."""

    answer: str | None
    reason: Reason


class Judgement(NamedTuple):
    """Whether an extracted answer equals the reference answer, and why."""

    correct: bool
    reason: Reason


class Verdict(NamedTuple):
    """The result of scoring one response, and the operations that it took."""

    extracted: str | None
    correct: bool
    reason: str
    operations: int


def found(answer: str) -> Extraction:
    """An extraction that succeeded."""
    return Extraction(answer, Reason.EQUAL)


def none(reason: Reason) -> Extraction:
    """An extraction that found no answer."""
    return Extraction(None, reason)


def judged(equal: bool) -> Judgement:
    """A judgement whose reason is its outcome."""
    return Judgement(equal, Reason.EQUAL if equal else Reason.DIFFERENT)
