r"""The last \boxed or \fbox of a response."""

import re
from collections import deque
from typing import NamedTuple

from promptdp.scoring.limits import Budget
from promptdp.scoring.verdict import Extraction, Reason, found, none

BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])")
BARE = re.compile(r"[^\S\n]*(\\[A-Za-z]+|-?[0-9][0-9.,]*|[A-Za-z])")


class Box(NamedTuple):
    """A box command: where it begins, and its content (None when the box never closes)."""

    start: int
    content: str | None


def closing_brace(text: str, start: int) -> int | None:
    """Where the brace opened at `start` closes, escaped braces skipped; None when it never does."""
    depth = 0
    for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if depth == 0:
                return match.start()
    return None


def last_box(text: str, budget: Budget) -> Box | None:
    r"""The last box of a text; a box without braces holds the one token that follows it."""
    budget.read(text)
    matches = deque(BOX.finditer(text), maxlen=1)
    if not matches:
        return None
    match = matches[0]
    start = match.end()
    budget.read(text)
    while start < len(text) and text[start].isspace():
        start += 1
    if start < len(text) and text[start] == "{":
        end = closing_brace(text, start)
        return Box(match.start(), None if end is None else text[start + 1 : end])
    bare = BARE.match(text, match.end())
    return Box(match.start(), bare[1] if bare else "")


def boxed(text: str, budget: Budget) -> Extraction | None:
    """The extraction that the last box gives; None when the text has no box."""
    box = last_box(text, budget)
    if box is None:
        return None
    if box.content is None:
        return none(Reason.OPEN_BOX)
    content = box.content.strip().strip("$").strip()
    return found(content) if content else none(Reason.EMPTY_BOX)
