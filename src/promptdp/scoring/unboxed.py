r"""The final answer of a response without a box (Appendix E-A).

In this order: the last explicit answer statement, the last inferential statement, the last line that is not
empty. A statement must hold. One that only asks or supposes is passed over; after one that is denied, hedged,
withdrawn or cut off only what comes later counts. From it: a mathematical expression, the right-hand side of
an assignment, or a stated value. The reference answer is never read.
"""

import re
from collections.abc import Callable, Iterator

from promptdp.scoring.cues import Candidate, explicit, inferential, last_line
from promptdp.scoring.limits import Budget
from promptdp.scoring.prose import pieces
from promptdp.scoring.stance import asked, conditional, unasserted, withdrawn
from promptdp.scoring.values import Kind, stated_value
from promptdp.scoring.verdict import Extraction, Reason, none

MARKER = re.compile(r"<\|[A-Za-z_]{1,20}\|>|</?(?:[bipsu]|[A-Za-z_]{2,20})>")
"""A mark of a chat template or a tag, which stands on a line of its own."""
UNFINISHED = re.compile(
    r"(?:[-+/=^_(\[{<>:&\\×·−≤≥]|\s\*|\\(?:cdot|times|frac|div|pm|leq?|geq?|left|approx)"
    r"|\b(?:and|or|is|are|the|an|of|to|be|that|by|with|for|times|plus|minus|equals|because|since|which|will|so"
    r"|but|we|than))\s*\$?\s*$|,\s*$|^\s*,\s*\$[^$]*$",
    re.IGNORECASE,
)
SEARCHES: tuple[tuple[Kind, Callable[[str, Budget], Iterator[Candidate]]], ...] = (
    (Kind.EXPLICIT, explicit),
    (Kind.INFERENCE, inferential),
    (Kind.LAST, last_line),
)


def unboxed(response: str, budget: Budget) -> Extraction:
    """The final answer that a response states in prose."""
    budget.read(response)
    response = MARKER.sub("\n", response)
    outcome, doubted = Reason.NO_ANSWER, 0
    for kind, candidates in SEARCHES:
        for candidate in candidates(response, budget):
            if candidate.start < doubted:
                break
            extraction = _read(candidate, kind, budget)
            if extraction.answer is not None:
                return extraction
            if extraction.reason is Reason.AMBIGUOUS:
                outcome, doubted = Reason.AMBIGUOUS, candidate.end
                break
            if kind is Kind.INFERENCE and any(piece.kind == "math" for piece in pieces(candidate.text)):
                break
    return none(outcome)


def _read(candidate: Candidate, kind: Kind, budget: Budget) -> Extraction:
    """The value of a statement that holds; one in doubt leaves what came before it in doubt too."""
    reason = Reason.NO_ANSWER if asked(candidate.after) else unasserted(candidate.before)
    doubtful = (
        _unfinished(candidate)
        or withdrawn(candidate.text + candidate.after, 0, budget)
        or (kind is Kind.EXPLICIT and conditional(candidate.text))
    )
    if reason is None and doubtful:
        reason = Reason.AMBIGUOUS
    return none(reason) if reason else stated_value(candidate.text, kind)


def _unfinished(candidate: Candidate) -> bool:
    """Whether the response ends within the statement: nothing follows the cue, or more was to come."""
    if candidate.after.strip():
        return False
    return not candidate.text.strip(" \t\r\n*_#`:>") or UNFINISHED.search(candidate.text) is not None
