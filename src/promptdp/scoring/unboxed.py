r"""The final answer of a response without a box (Appendix E-A).

In this order: the last explicit answer statement, the last inferential statement, the last line that is not
empty. Within it: a mathematical expression, an equality (whose right-hand side counts), or a stated value.
Answers joined by "and" or "or" are kept whole. The reference answer is never read.
"""

import re

from promptdp.scoring.limits import Budget
from promptdp.scoring.prose import Piece, pieces
from promptdp.scoring.statements import explicit_statements, statement
from promptdp.scoring.units import canonical_unit
from promptdp.scoring.verdict import Extraction, Reason, found, none
from promptdp.scoring.vocabulary import vocabulary

CUES_TRIED = 8
"""Cues tried, from the last one back; a sentence that states nothing ("so far so good") is passed over."""
REVERSED = re.compile(
    r"\b(?:is|are)\s(?:the|our|my)\s(?:final\s|correct\s|desired\s|required\s){0,2}answers?\b", re.I
)
INFERENCE = re.compile(
    r"\b(?:therefore|thus|hence|so|consequently|accordingly|finally|in conclusion|it follows"
    r"|which gives|this gives|(?=we (?:get|have|find|obtain|conclude|see)\b)"
    r"|(?=this (?:means|leaves|yields)\b))|∴|\\therefore",
    re.IGNORECASE,
)
VERBS = vocabulary(
    "is are was were be equals equal becomes become gives give get gets obtain have has had find yields "
    "yield contains measures totals costs needs leaves makes conclude remains takes earns spends saves"
)
COMPARATIVE = re.compile(r"\bthan\b|\bat (?:least|most)\b|\bup to\b")
COPULAS = vocabulary(": is are was were be equals becomes")
SUBORDINATE = vocabulary(
    "since because as where when if which while whereas although provided given after using for"
)
CONTRASTS = vocabulary("not rather instead")
CLAUSES = vocabulary("so thus therefore hence giving yielding meaning implying leaving making then")
NEGATIONS = vocabulary("not never neither cannot isn't aren't can't doesn't won't wasn't")
HEDGES = vocabulary("might may could perhaps maybe possibly would should can")
ARTICLES = vocabulary("the a an our its my")
JOINTS = vocabulary("and or to")
HYPOTHESES = vocabulary(
    "let suppose assume consider next try if first note recall check checking what why how need to we now"
)


def unboxed(response: str, budget: Budget) -> Extraction:
    """The final answer that a response states in prose."""
    budget.read(response)
    for end in reversed(explicit_statements(response)[-CUES_TRIED:]):
        extraction = stated_value(_read(response, end, budget), explicit=True)
        if extraction.reason is not Reason.NO_ANSWER:
            return extraction
    budget.read(response)
    for match in reversed(list(REVERSED.finditer(response))[-CUES_TRIED:]):
        start = _sentence_start(response, match.start())
        extraction = stated_value(_read(response, start, budget), explicit=True)
        if extraction.reason is not Reason.NO_ANSWER:
            return extraction
    budget.read(response)
    for match in reversed(list(INFERENCE.finditer(response))[-CUES_TRIED:]):
        segment = _read(response, match.end(), budget)
        extraction = stated_value(segment)
        if extraction.reason is not Reason.NO_ANSWER:
            return extraction
        if any(piece.kind == "math" for piece in pieces(segment)):
            break
    budget.read(response)
    return stated_value(_last_line(response), last_line=True)


def _read(text: str, start: int, budget: Budget) -> str:
    """The statement that begins at a place, its work counted."""
    segment = statement(text, start)
    budget.read(segment)
    return segment


def _sentence_start(text: str, at: int) -> int:
    """Where the sentence around a place starts."""
    places = [(text.rfind(mark, 0, at), len(mark)) for mark in (". ", "\n", "! ", "? ")]
    return max((place + length for place, length in places if place >= 0), default=0)


def _last_line(text: str) -> str:
    """The last line that is not empty, a displayed formula there whole; a question states nothing."""
    body = text.rstrip()
    if body.endswith("?"):
        return ""
    start = body.rfind("\n") + 1
    if body.endswith(("$$", r"\]")):
        opener = "$$" if body.endswith("$$") else r"\["
        start = min(start, max(0, body.rfind(opener, 0, len(body) - 2)))
    elif environment := re.search(r"\\end\{([a-z]+\*?)\}$", body[-40:]):
        start = min(start, max(0, body.rfind(rf"\begin{{{environment[1]}}}")))
    return statement(body, start) if start < len(body) else ""


def stated_value(segment: str, explicit: bool = False, last_line: bool = False) -> Extraction:
    """The value that a statement gives.

    Args:
        segment: the statement.
        explicit: it follows an explicit cue, so that the first value is the answer.
        last_line: it is only the last line, so that it must be a value or state one, and no hypothesis.
    """
    if "\\boxed" in segment or "\\fbox" in segment:
        return none(Reason.NO_ANSWER)
    parts = pieces(segment)
    first = next((piece.text.lower() for piece in parts if piece.kind == "word"), "")
    if last_line and first in HYPOTHESES:
        return none(Reason.NO_ANSWER)
    clauses = _clauses(parts)
    for clause in clauses if explicit else reversed(clauses):
        extraction = _clause_value(clause, explicit, last_line)
        if extraction.reason is not Reason.NO_ANSWER:
            return extraction
    return _last_predicate(parts)


def _last_predicate(parts: list[Piece]) -> Extraction:
    """The value right after the last verb: the subject may hold a condition ("the sum when n is 2 is 5")."""
    words = [piece.text.lower() if piece.kind == "word" else "" for piece in parts]
    if NEGATIONS & set(words):
        return none(Reason.AMBIGUOUS)
    for i in range(len(parts) - 2, 0, -1):
        if words[i] in VERBS and words[i - 1] not in HEDGES:
            value = parts[i + 1]
            return (
                found(_joined(parts, i + 1))
                if value.kind == "math" and not value.weak
                else none(Reason.NO_ANSWER)
            )
    return none(Reason.NO_ANSWER)


def _clauses(parts: list[Piece]) -> list[list[Piece]]:
    """The main clauses of a sentence; what gives a reason or a condition is left out."""
    clauses: list[list[Piece]] = [[]]
    skipping = False
    for i, piece in enumerate(parts):
        word = piece.text.lower() if piece.kind == "word" else ""
        following = parts[i + 1] if i + 1 < len(parts) else None
        opens = not any(part.kind != "punctuation" for part in clauses[-1])
        contrast = word in CONTRASTS and i > 0 and parts[i - 1].text in (",", "and", "but")
        if word in SUBORDINATE or contrast:
            skipping = True
            if not opens:
                clauses.append([])
        elif skipping:
            skipping = not (piece.text in (",", ";") or word in CLAUSES)
        elif (
            piece.text == ";" or word in CLAUSES or (word == "and" and following and following.kind == "word")
        ):
            clauses.append([])
        else:
            clauses[-1].append(piece)
    return [clause for clause in clauses if clause]


def _clause_value(clause: list[Piece], explicit: bool, last_line: bool) -> Extraction:
    """The value of a clause: after its verb, before one that only describes it, or its only mathematics."""
    words = {piece.text.lower() for piece in clause if piece.kind == "word"}
    if words & NEGATIONS:
        return none(Reason.AMBIGUOUS)
    verbs = [
        i for i, p in enumerate(clause) if (p.kind == "word" and p.text.lower() in VERBS) or p.text == ":"
    ]
    for verb in [-1, *verbs] if explicit else verbs:
        if verb > 0 and clause[verb - 1].text.lower() in HEDGES:
            continue
        extraction = _after(clause, verb, explicit)
        if extraction is not None:
            return extraction
    values = [i for i, piece in enumerate(clause) if piece.kind == "math" and (explicit or not piece.weak)]
    if values and not verbs:
        after = [piece for piece in clause[values[-1] + 1 :] if piece.kind != "punctuation"]
        if not last_line or not after or (values[-1] == 0 and len(after) <= 3):
            return found(_joined(clause, _first_of_group(clause, values[-1])))
    return none(Reason.NO_ANSWER)


def _after(clause: list[Piece], verb: int, explicit: bool) -> Extraction | None:
    """The value that a verb states: what follows it, or what precedes it when a description follows."""
    rest = clause[verb + 1 :]
    distance = next((i for i, piece in enumerate(rest) if piece.kind == "math"), None)
    before = [i for i, piece in enumerate(clause[: max(verb, 0)]) if piece.kind == "math" and not piece.weak]
    between = [piece.text.lower() for piece in rest[:distance] if piece.kind == "word"]
    described = bool(between) and between[0] in ARTICLES
    if before and described:
        return found(_joined(clause[:verb], _first_of_group(clause[:verb], before[-1])))
    if COMPARATIVE.search(" ".join(between)):
        return none(Reason.AMBIGUOUS)
    to = [i for i, word in enumerate(between) if word == "to"]
    if distance is not None and len(between) <= 4 and (not to or between[to[0] - 1] in ("equal", "equals")):
        weak = rest[distance].weak
        if not weak or (not between and (explicit or not before)):
            return found(_joined(rest, distance))
    subject = clause[0].text.lower()
    copula = verb < 0 or (clause[verb].text.lower() in COPULAS and subject not in ("we", "i"))
    if distance is None and between and not before and copula:
        phrase = [
            word
            for word in (piece.text for piece in rest if piece.kind == "word")
            if word.lower() not in ARTICLES
        ]
        if 1 <= len(phrase) <= (4 if explicit else 2):
            return found(" ".join(phrase))
    return None


def _join(clause: list[Piece], at: int) -> tuple[int, str] | None:
    """The value joined to the one at a place by a comma, "and" or "or", units between them allowed."""
    i = at + 1
    while (
        i < len(clause) and i - at <= 3 and clause[i].kind == "word" and clause[i].text.lower() not in JOINTS
    ):
        i += 1
    joint = ""
    while i < len(clause) and (clause[i].text == "," or clause[i].text.lower() in JOINTS):
        joint = clause[i].text.lower() if clause[i].text != "," else joint or ","
        i += 1
    while joint and i < len(clause) and clause[i].text.lower() in HEDGES:
        i += 1
    return (i, joint) if joint and i < len(clause) and clause[i].kind == "math" else None


def _first_of_group(clause: list[Piece], at: int) -> int:
    """The first of the joined values that end at a place."""
    earlier = [i for i in range(at) if clause[i].kind == "math"]
    while earlier and (joined := _join(clause, earlier[-1])) is not None and joined[0] == at:
        at = earlier.pop()
    return at


def _joined(clause: list[Piece], at: int) -> str:
    """A value with all that is joined to it, and the unit when a known one follows."""
    text = clause[at].text
    while (joined := _join(clause, at)) is not None:
        at, joint = joined
        text += f"{',' if joint == ',' else ' ' + joint} {clause[at].text}"
    words: list[str] = []
    for piece in clause[at + 1 : at + 4]:
        if piece.kind != "word":
            break
        words.append(piece.text)
        if canonical_unit(" ".join(words)) is not None:
            return f"{text} {' '.join(words)}"
    return text
