"""Where a response may state its answer: explicit statements, inferences, its last line (Appendix E-A)."""

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from promptdp.scoring.limits import LATER_CHARACTERS, NEARBY_CHARACTERS, Budget
from promptdp.scoring.stance import sentence_start
from promptdp.scoring.statements import EXPLICIT, statement

CUES_TRIED = 8
"""Cues tried, from the last one back; a sentence that states nothing ("so far so good") is passed over."""
REVERSED = re.compile(
    r"\b(?:is|are)\s(?:the|our|my)\s(?:final\s|correct\s|desired\s|required\s){0,2}answers?\b", re.IGNORECASE
)
RESULT = re.compile(
    r"\bfinal\s(?:result|value|total)\s(?:is|=)[*_`\s]{0,4}:?|^[#*_> \t]{0,12}final\sresult[*_`]{0,3}:",
    re.IGNORECASE | re.MULTILINE,
)
INFERENCE = re.compile(
    r"\b(?:(?:therefore|thus|hence|so(?! far\b)|consequently|accordingly|finally|it follows|altogether"
    r"|overall|in (?:conclusion|summary|total|all|short))\b"
    r"|(?P<clause>(?=we (?:get|have|find|obtain|conclude|see)\b|this (?:means|leaves)\b"
    r"|(?:gives|yields|giving|yielding)\b"
    r"|(?:the|our) (?:final |only |unique )?(?:solution|result)s? (?:is|are)\b)))|∴|\\therefore",
    re.IGNORECASE,
)
BULLET = re.compile(r"[-*•+][ \t]+")
ENUMERATOR = re.compile(r"\s*(?:[-*•+]\s+)?\(?[0-9]{1,3}[.)]\s+(?=\S)")


class Candidate(NamedTuple):
    """A place that may state the answer: its sentence before the cue, the statement, and what follows it."""

    start: int
    before: str
    text: str
    after: str

    @property
    def end(self) -> int:
        """Where the statement ends."""
        return self.start + len(self.text)


def explicit(response: str, budget: Budget) -> Iterator[Candidate]:
    """The explicit answer statements, the last one first; the value may stand on either side of the cue."""
    starts: deque[tuple[int, int]] = deque(maxlen=3 * CUES_TRIED)
    for cue in (EXPLICIT, RESULT):
        budget.read(response)
        starts.extend(deque(((m.start(), m.end()) for m in cue.finditer(response)), maxlen=CUES_TRIED))
    budget.read(response)
    for match in deque(REVERSED.finditer(response), maxlen=CUES_TRIED):
        budget.spend(NEARBY_CHARACTERS)
        start = sentence_start(response, match.start())
        starts.append((start, start))
    for cue_start, start in sorted(starts, reverse=True)[:CUES_TRIED]:
        yield _candidate(response, cue_start, start, budget)


def inferential(response: str, budget: Budget) -> Iterator[Candidate]:
    """The inferential statements, the last one first; what precedes "therefore" is another one."""
    budget.read(response)
    for match in reversed(deque(INFERENCE.finditer(response), maxlen=CUES_TRIED)):
        candidate = _candidate(response, match.start(), match.end(), budget)
        yield candidate if match["clause"] is not None else candidate._replace(before="")


def last_line(response: str, budget: Budget) -> Iterator[Candidate]:
    """The sentences of the last line that is not empty, the last one first; a displayed formula is whole."""
    budget.read(response)
    body = response.rstrip()
    start = body.rfind("\n") + 1
    if body.endswith(("$$", r"\]")):
        opener = "$$" if body.endswith("$$") else r"\["
        start = min(start, max(0, body.rfind(opener, 0, len(body) - 2)))
    elif environment := re.search(r"\\end\{([a-z]+\*?)\}$", body[-40:]):
        start = min(start, max(0, body.rfind(rf"\begin{{{environment[1]}}}")))
    if enumerator := ENUMERATOR.match(body, start):
        start = enumerator.end()
    starts: deque[int] = deque(maxlen=CUES_TRIED)
    while start < len(body):
        starts.append(start)
        segment = statement(body, start)
        budget.read(segment)
        start += len(segment) + 1
    for start in reversed(starts):
        yield _candidate(body, start, start, budget)._replace(before="")


def _candidate(text: str, cue_start: int, start: int, budget: Budget) -> Candidate:
    """The statement that begins at a place, within its surroundings, its work counted."""
    if bullet := BULLET.match(text, start) if text.endswith("\n", 0, start) else None:
        start = bullet.end()
    segment = statement(text, start)
    end = start + len(segment)
    after = text[end : end + LATER_CHARACTERS]
    budget.spend(NEARBY_CHARACTERS + len(segment) + len(after))
    return Candidate(start, text[sentence_start(text, cue_start) : cue_start], segment, after)
