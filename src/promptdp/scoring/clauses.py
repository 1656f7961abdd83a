"""The main clauses of a statement: reasons, conditions and what a value is contrasted with left out."""

import re

from promptdp.scoring.prose import Piece
from promptdp.scoring.vocabulary import vocabulary

SUBORDINATE = vocabulary(
    "since because as where when if which while whereas although though provided given after using for"
)
RESULTS = vocabulary("means gives implies yields leaves makes simplifies leads")
CLAUSES = vocabulary("so thus therefore hence giving yielding meaning implying leaving making then")
COPULAS = vocabulary("is are was were be equals becomes")
ARTICLES = vocabulary("a an")
EXPRESSION = re.compile(r"[^=]*[A-Za-z}][^=]*[-+][^=]*=")
DETERMINERS = vocabulary("the a any each")
QUANTIFIERS = vocabulary("all every any")
JOINTS = vocabulary("and or to")
CONTRASTS = (
    ("instead", "of"),
    ("rather", "than"),
    ("as", "opposed", "to"),
    ("other", "than"),
    ("apart", "from"),
    ("anything", "but"),
    ("everything", "but"),
    ("all", "but"),
    ("except", "for"),
    ("except",),
    ("excluding",),
    ("besides",),
    ("unlike",),
)
CORRECTIONS = (("but",), ("rather",), ("it", "is"), ("it's",))
CORRECTING = (",", ";", "—", "–")
FAR = 3
"""Most words between a contrast and the value that it puts aside."""


def word(piece: Piece) -> str:
    """The word of a piece in lower case, with a straight apostrophe; empty for other pieces."""
    return piece.text.lower().replace("’", "'") if piece.kind == "word" else ""


def join(clause: list[Piece], at: int, hedges: frozenset[str]) -> tuple[int, str] | None:
    """The value joined to the one at a place by a comma, "and" or "or", units between them allowed."""
    i = at + 1
    while i < len(clause) and i - at <= 3 and clause[i].kind == "word" and word(clause[i]) not in JOINTS:
        i += 1
    joint = ""
    while i < len(clause) and (clause[i].text == "," or word(clause[i]) in JOINTS):
        joint = word(clause[i]) or joint or ","
        i += 1
    while joint and i < len(clause) and word(clause[i]) in hedges:
        i += 1
    return (i, joint) if joint and i < len(clause) and clause[i].kind == "math" else None


def without_contrasts(parts: list[Piece]) -> list[Piece]:
    """The pieces without the values that they put aside: "instead of 12", "not 5 but", ", not 13"."""
    kept: list[Piece] = []
    at = 0
    while at < len(parts):
        end = _contrast(parts, at)
        if end is None:
            kept.append(parts[at])
            at += 1
        else:
            at = end
    return kept


def _contrast(parts: list[Piece], at: int) -> int | None:
    """Where the contrast that begins at a place ends; None when none does."""
    words = [word(piece) for piece in parts[at : at + 4]]
    if words[0] == "not" or words[0].endswith("n't"):
        end = _aside(parts, at + 1)
        corrected = None if end is None else _corrected(parts, end)
        if corrected is not None:
            return corrected
        joined = at > 0 and (parts[at - 1].text == "," or word(parts[at - 1]) in ("and", "but"))
        if joined and end is None and parts[at + 1 : at + 2] and parts[at + 1].text[:1].isupper():
            end = at + 2
        return end if joined and words[0] == "not" else None
    for phrase in CONTRASTS:
        if tuple(words[: len(phrase)]) == phrase:
            return _aside(parts, at + len(phrase))
    return None


def _corrected(parts: list[Piece], at: int) -> int | None:
    """Where the value begins that stands for a denied one: "but 6", "; it is 6"; None when none does."""
    if at < len(parts) and parts[at].text in CORRECTING:
        at += 1
    words = tuple(word(piece) for piece in parts[at : at + 2])
    length = next((len(phrase) for phrase in CORRECTIONS if words[: len(phrase)] == phrase), None)
    return None if length is None else at + length


def _aside(parts: list[Piece], at: int) -> int | None:
    """Where the value put aside ends; None when no value stands there."""
    for i in range(at, min(at + FAR + 1, len(parts))):
        if parts[i].kind == "math":
            return i + 1
        if parts[i].kind != "word" or word(parts[i]) == "but":
            break
    return None


def clauses(parts: list[Piece]) -> list[list[Piece]]:
    """The main clauses of a sentence; what gives a reason or a condition is left out."""
    found: list[list[Piece]] = [[]]
    skipping = False
    for i, piece in enumerate(parts):
        here = word(piece)
        following = word(parts[i + 1]) if i + 1 < len(parts) else ""
        opens = not any(part.kind != "punctuation" for part in found[-1])
        result = here == "which" and following in RESULTS
        quantified = here == "for" and _states(parts[i + 1 : i + 6])
        adjective = here in ("given", "using") and i > 0 and word(parts[i - 1]) in DETERMINERS | COPULAS
        manner = here == "as" and i > 0 and word(parts[i - 1]) != "" and parts[i + 1 : i + 2] != []
        manner = manner and parts[i + 1].kind == "math"
        if here in SUBORDINATE and not (result or quantified or adjective or manner):
            skipping = True
            if not opens:
                found.append([])
        elif skipping and not result:
            skipping = not (piece.text in (",", ";") or here in CLAUSES)
        elif (
            result
            or piece.text in (";", "—", "–", "→", "⇒")
            or here in CLAUSES
            or here == "but"
            or (quantified and following in ARTICLES)
            or (here == "and" and _begins_clause(found[-1], parts[i + 1 : i + 3]))
        ):
            skipping = False
            found.append([])
        else:
            found[-1].append(piece)
    return [clause for clause in found if clause]


def _states(parts: list[Piece]) -> bool:
    """Whether what follows "for" is the value itself ("for a total of 336", "holds for all x > 2")."""
    words = [word(piece) for piece in parts]
    if words[:1] and words[0] in QUANTIFIERS:
        return parts[1:2] != [] and parts[1].kind == "math"
    return words[:1] != [] and words[0] in ARTICLES and "of" in words


def _begins_clause(clause: list[Piece], following: list[Piece]) -> bool:
    """Whether "and" joins a clause to the one so far, and not a value to a value.

    The value of an expression after that of a name is a clause of its own ("a = 2 and a + b = 7").
    """
    if not following or following[0].kind == "word":
        return bool(following)
    if EXPRESSION.match(following[0].text):
        return clause[-1:] != [] and "=" in clause[-1].text and not EXPRESSION.match(clause[-1].text)
    return word(following[-1]) in COPULAS and clause[-1:] != [] and clause[-1].kind == "word"
