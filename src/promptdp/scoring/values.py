"""The value that a statement gives: after its verb, before one that describes it, or its only mathematics."""

import re
from enum import Enum
from itertools import pairwise

from promptdp.scoring.clauses import COPULAS, JOINTS, clauses, join, without_contrasts, word
from promptdp.scoring.prose import Piece, pieces
from promptdp.scoring.right_side import LETTER, right_side
from promptdp.scoring.stance import (
    COMPARATIVES,
    DENIALS,
    DISOWNED,
    ERRORS,
    HEDGES,
    NEGATIONS,
    SPEAKERS,
    SUPPOSITIONS,
    reported,
)
from promptdp.scoring.units import canonical_unit, canonical_word
from promptdp.scoring.verdict import Extraction, Reason, found, none
from promptdp.scoring.vocabulary import vocabulary

VERBS = vocabulary(
    "is are was were be equals equal becomes become gives give get gets obtain have has had find yields "
    "yield contains measures totals costs needs leaves makes conclude remains takes earns spends saves"
)
RESULTS = COPULAS | vocabulary("equal get gets obtain gives give yields yield have has becomes become")
DOUBTS = HEDGES | {"could"}
MODALS = DOUBTS | {"would", "should", "can"}
ARTICLES = vocabulary("the a an our its my")
PREPOSITIONS = vocabulary("in by from with among within on than into per over during between under after")
BOUNDS = vocabulary(
    "than least most between over under after below above beyond near exceed exceeds divide divides"
)
DENYING = {("rule", "out"), ("ruled", "out"), ("far", "from"), ("would", "guess")} | {
    ("too", excess) for excess in ("large", "small", "big", "many", "few", "high", "low")
}
"""Pairs of words that deny what they go with."""
DESCRIPTIONS = vocabulary(
    "twice thrice double triple half third quarter square cube root multiple divisible factor "
    "divisor sum product difference quotient ratio between times divide divides congruent "
    "proportional negative reciprocal"
)
COMPARATIVE = re.compile(r"\bthan\b|\bat (?:least|most)\b|\bup to\b|\bnear(?:ly)?\b")
OPERATIONS = vocabulary("over times")
ALTERATIONS = vocabulary(
    "plus minus divided multiplied squared cubed factorial choose point hundred thousand million billion "
    "trillion dozen halves thirds fourths fifths sixths sevenths eighths ninths tenths "
    "hundredths thousandths"
)
NUMBERS = vocabulary("integer integers number numbers prime primes multiple multiples value values")
ACTIONS = vocabulary(
    "print return let let's suppose assume try check checking set setting substitute substituting "
    "plug plugging divide dividing multiply multiplying add adding subtract subtracting ignore "
    "eliminate consider test recall"
)
GOALS = vocabulary("need want must trying try wish going remains have")
SEARCHES = vocabulary(
    "find compute determine show check prove solve consider calculate verify test count evaluate"
)
OPENINGS = vocabulary(
    "let suppose assume consider hint next try if first note recall check checking what why how need to we "
    "now"
)
WORKINGS = vocabulary(
    "case cases part parts problem problems step steps equation equations unknown unknowns variable "
    "variables term terms"
)
EQUATIONS = vocabulary(
    "equation equations line plane circle parabola ellipse hyperbola curve graph formula identity inequality"
)
REMARKS = vocabulary(
    "correct right wrong incorrect clear obvious evident done complete valid verified confirmed unique same "
    "here below above follows fact ready it this that which what here's"
)
COUNTERS = frozenset({"", "exactly", "only", "all", "just"})
MOTIONS = vocabulary("facing heading pointing")
CONCLUSIVE = vocabulary("therefore thus hence so then and also")
OPERATOR = re.compile(r"[-+*/=×÷·−]|\\(?:cdot|times|div)(?![A-Za-z])")
RELATION = re.compile(r"[=<>≤≥∈]|\\(?:leq?|geq?|lt|gt|in)(?![A-Za-z])")
INFLECTED = re.compile(r"\w+(?:ed|ing|able|ible)|known|given")
NUMBER = re.compile(r"-?[0-9][0-9,.]*")
CALCULATION = re.compile(r"\)\s*\(|[0-9)]\s*[-+*×·]\s*[0-9(]|\\(?:cdot|times|div)(?![A-Za-z])")
COUNT = re.compile(r"[0-9][0-9,]*")
PHRASE = {True: 4, False: 2}
"""Most words of an answer in words, after an explicit cue and without one."""


class Kind(Enum):
    """What makes a statement one: an explicit cue, an inference, or only that it comes last."""

    EXPLICIT = "explicit"
    INFERENCE = "inference"
    LAST = "last"


def stated_value(segment: str, kind: Kind) -> Extraction:
    """The value that a statement gives.

    An explicit cue makes the first value the answer; an inference, the last one. A last line must be a value
    or state one, and be no hypothesis or step of the work.
    """
    if "\\boxed" in segment or "\\fbox" in segment:
        return none(Reason.NO_ANSWER)
    parts = without_contrasts(pieces(segment))
    first = next((word(piece) for piece in parts if piece.kind == "word"), "")
    if kind is Kind.LAST and first in OPENINGS:
        return none(Reason.NO_ANSWER)
    equation = any(word(piece) in EQUATIONS for piece in parts)
    predicated = any(
        word(verb) in COPULAS and value.kind == "math" and not value.weak
        for verb, value in pairwise(piece for piece in parts if piece.text != ":")
    )
    if kind is Kind.INFERENCE and _twofold(parts):
        return none(Reason.AMBIGUOUS)
    sentence = clauses(parts)
    for clause in sentence if kind is Kind.EXPLICIT else reversed(sentence):
        extraction = _Clause(clause, kind, equation, predicated).value()
        if extraction.reason is not Reason.NO_ANSWER:
            return extraction
    return _Clause(parts, kind, equation, predicated).last_predicate() if parts else none(Reason.NO_ANSWER)


def _twofold(parts: list[Piece]) -> bool:
    """Whether a sentence states the values of two things ("the length is 12 and the width is 5")."""
    words = [word(piece) for piece in parts]
    for i, here in enumerate(words):
        if here == "and" and words[i + 1 : i + 2] == ["the"] and parts[i - 1].text != ",":
            sides = (words[max(0, i - 8) : i], parts[max(0, i - 8) : i]), (words[i:], parts[i:])
            if all("the" in said and _predicates(said, pieces_) for said, pieces_ in sides):
                return True
    return False


def _predicates(words: list[str], parts: list[Piece]) -> bool:
    """Whether a copula is followed by a value."""
    return any(
        w in COPULAS and p.kind == "math" and not p.weak for w, p in zip(words, parts[1:], strict=False)
    )


class _Clause:
    """The reading of one clause.

    Args:
        parts: its pieces, at least one.
        kind: the kind of its statement.
        equation: the statement speaks of an equation, which is then an answer as a whole.
        predicated: the statement says somewhere what something is in mathematics.
    """

    def __init__(self, parts: list[Piece], kind: Kind, equation: bool, predicated: bool):
        self.parts = parts
        self.kind = kind
        self.equation = equation
        self.predicated = predicated
        self.explicit = kind is Kind.EXPLICIT
        self.words = [word(piece) for piece in parts]

    def value(self) -> Extraction:
        """The value of the clause; AMBIGUOUS where it denies or only bounds or describes one."""
        if self.explicit and len(self.parts) == 1 and self.words[0] and self.words[0] not in REMARKS:
            return found(self.parts[0].text)
        if self._denies():
            return none(Reason.AMBIGUOUS)
        if self._works():
            return none(Reason.NO_ANSWER)
        verbs = [i for i, w in enumerate(self.words) if w in VERBS or self.parts[i].text == ":"]
        bounded = False
        for verb in [-1, *verbs] if self.explicit else verbs:
            if verb > 0 and self.words[verb - 1] in MODALS:
                bounded |= self.words[verb - 1] in DOUBTS
                continue
            extraction = self._after(verb, verbs)
            if extraction is not None and extraction.reason is not Reason.AMBIGUOUS:
                return extraction
            bounded |= extraction is not None
        if bounded:
            return none(Reason.AMBIGUOUS)
        return self._counted() or self._only(verbs)

    def last_predicate(self) -> Extraction:
        """The value right after the last verb; the subject may hold a condition ("if n is 2, it is 5")."""
        if self._denies():
            return none(Reason.AMBIGUOUS)
        if self._works():
            return none(Reason.NO_ANSWER)
        for i in range(len(self.parts) - 2, 0, -1):
            verb = self.words[i] in VERBS or self.parts[i].text == ":"
            if verb and self.words[i - 1] not in MODALS:
                value = self.parts[i + 1]
                stated = value.kind == "math" and not value.weak
                return self._found(i + 1) if stated else none(Reason.NO_ANSWER)
        return none(Reason.NO_ANSWER)

    def _denies(self) -> bool:
        """Whether a word of the clause denies what it says, or only reports that somebody says it."""
        disowned = any(w in ("answer", "result") and before in DISOWNED for before, w in pairwise(self.words))
        said_words = set(self.words)
        mistaken = bool(ERRORS - {"error"} & said_words) or ("error" in said_words and "to" in said_words)
        return (
            reported(self.words)
            or disowned
            or mistaken
            or bool((NEGATIONS | DENIALS | HEDGES) & said_words)
            or bool(DENYING & set(pairwise(self.words)))
        )

    def _works(self) -> bool:
        """Whether the clause sets, tries or seeks something, without a result after that."""
        first = next((i for i, piece in enumerate(self.parts) if piece.kind == "math"), len(self.parts))
        for i, w in enumerate(self.words[:first]):
            if w in SUPPOSITIONS or (w in GOALS and SEARCHES & set(self.words[i + 1 : i + 4])):
                return True
            if w in ACTIONS and not RESULTS & set(self.words[i + 1 :]):
                return True
        return False

    def _after(self, verb: int, verbs: list[int]) -> Extraction | None:
        """The value that a verb states: what follows it, or what precedes it when a description follows."""
        start = verb + 1
        at = next((i for i in range(start, len(self.parts)) if self.parts[i].kind == "math"), None)
        between = [w for w in self.words[start:at] if w]
        before = [i for i, p in enumerate(self.parts[: max(verb, 0)]) if p.kind == "math" and not p.weak]
        measured = len(between) > 1 and between[0] in ("a", "an") and between[-1] == "of"
        if before and between and between[0] in ARTICLES and not measured:
            return self._subject(before[-1])
        later = [v for v in verbs if v > verb and self._states(v)]
        if between and verb < 0 and later:
            return None
        if COMPARATIVE.search(" ".join(between)) or DESCRIPTIONS & set(between):
            if at is None:
                return None
            return self._subject(before[-1]) if before else none(Reason.AMBIGUOUS)
        to = [i for i, w in enumerate(between) if w == "to"]
        reaches = not to or between[to[0] - 1] in ("equal", "equals") or between[to[0] :][1:2] == ["be"]
        if at is not None and len(between) <= 4 and reaches:
            weak = self.parts[at].weak
            if not weak or (not between and not later and (self.explicit or not before)):
                return self._found(at)
        return self._phrase(verb, between, later) if at is None and not before else None

    def _subject(self, at: int) -> Extraction:
        """The value that the rest of the clause describes; an expression in letters is only spoken of."""
        text = self.parts[at].text
        if not self.explicit and LETTER.search(text) and not RELATION.search(text):
            return none(Reason.AMBIGUOUS)
        return self._found(self._first_of_group(at))

    def _states(self, verb: int) -> bool:
        """Whether a verb is followed at once by a value."""
        following = self.parts[verb + 1 : verb + 2]
        return bool(following) and following[0].kind == "math" and not following[0].weak

    def _phrase(self, verb: int, between: list[str], later: list[int]) -> Extraction | None:
        """The answer in words that follows a verb."""
        copula = verb < 0 or (
            (self.words[verb] in COPULAS or self.parts[verb].text == ":") and self.words[0] not in SPEAKERS
        )
        phrase = [
            piece.text for piece in self.parts[verb + 1 :] if word(piece) and word(piece) not in ARTICLES
        ]
        if phrase and phrase[-1].lower() in ("answer", "answers"):
            phrase = [
                piece.text
                for piece in self.parts[: max(verb, 0)]
                if word(piece) and word(piece) not in ARTICLES | CONCLUSIVE
            ]
        if len(phrase) > 1 and phrase[0].lower() in MOTIONS:
            del phrase[0]
        stated = (
            copula
            and not later
            and not (verb < 0 and self.predicated)
            and between
            and 1 <= len(phrase) <= PHRASE[self.explicit]
        )
        said = {w.lower() for w in phrase}
        passing = not self.explicit and any(INFLECTED.fullmatch(w) for w in said)
        return found(" ".join(phrase)) if stated and not passing and not (VERBS | REMARKS) & said else None

    def _counted(self) -> Extraction | None:
        """What the clause counts: 8 of "8 of the 25 students play", 10 of "10 codes are possible"."""
        values = [i for i, piece in enumerate(self.parts) if piece.kind == "math"]
        if len(values) == 1 and values[0] <= 1 and self.words[0] in COUNTERS:
            noun = self.words[values[0] + 1 : values[0] + 4]
            if noun and noun[0] and noun[0] not in VERBS and VERBS & set(noun[1:]):
                return self._found(values[0])
        for i, piece in enumerate(self.parts[:-1]):
            rest = self.words[i + 1 : i + 3]
            if (
                piece.kind == "math"
                and COUNT.fullmatch(piece.text)
                and (rest[:1] == ["of"] or rest == ["out", "of"])
            ):
                chained = any("=" in later.text for later in self.parts[i + 1 :])
                return None if chained else self._found(i)
        return None

    def _only(self, verbs: list[int]) -> Extraction:
        """The value of a clause whose verb is none of those that state one."""
        values = [i for i, p in enumerate(self.parts) if p.kind == "math" and (self.explicit or not p.weak)]
        subjects = [i for i in values if i == 0 or self.words[i - 1] not in PREPOSITIONS]
        values = [i for i in values if i == 0 or self.words[i - 1] not in BOUNDS]
        if verbs or not values:
            return none(Reason.NO_ANSWER)
        at = (subjects or values)[-1]
        after = [piece for piece in self.parts[at + 1 :] if piece.kind != "punctuation"]
        measured = len(after) == len(self._unit(at).split())
        described = not measured and not (at == 0 and len(after) <= 3) and not self._totals(at)
        if self.kind is Kind.LAST and (not subjects or described):
            return none(Reason.NO_ANSWER)
        return self._found(self._first_of_group(at))

    def _totals(self, at: int) -> bool:
        """Whether a value is named as a total ("for a total of 336 choices")."""
        return "total" in self.words[max(0, at - 4) : at]

    def _first_of_group(self, at: int) -> int:
        """The first of the joined values that end at a place."""
        earlier = [i for i in range(at) if self.parts[i].kind == "math"]
        while earlier and (joined := join(self.parts, earlier[-1], MODALS)) is not None and joined[0] == at:
            at = earlier.pop()
        return at

    def _found(self, at: int) -> Extraction:
        """A value with all that is joined to it, and the unit when a known one follows."""
        working = self.kind is Kind.LAST or self.words[0] in SPEAKERS
        if working and set(self.words[at + 1 : at + 2]) & WORKINGS:
            return none(Reason.NO_ANSWER)
        bounded = at > 0 and self.words[at - 1] in BOUNDS
        article = self.parts[at].text == "A" and set(self.words[at + 1 : at + 2]) - VERBS - JOINTS - {""}
        end = self._continued(at)
        if bounded or article or self._altered(at) or (end > at and not self.parts[end].text.startswith("=")):
            return none(Reason.AMBIGUOUS)
        at = end
        if self._restated(at):
            at = next(i for i in range(at + 1, len(self.parts)) if self.parts[i].kind == "math")
        text = self.parts[at].text
        alone = True
        while (joined := join(self.parts, at, MODALS)) is not None:
            at, joint = joined
            alone = False
            text += f"{',' if joint == ',' else ' ' + joint} {self.parts[at].text}"
        if alone and not self.equation:
            whole, text = text, right_side(text, self.kind is not Kind.LAST)
            if not self.explicit and text != whole and Piece("math", text).weak:
                return none(Reason.NO_ANSWER)
        return found(text + self._unit(at))

    def _continued(self, at: int) -> int:
        """Where the expression that a value begins ends, units between its terms ("15 gallons * 8 = 120")."""
        end = at
        for i in range(at + 1, len(self.parts)):
            piece = self.parts[i]
            if piece.kind == "math" and OPERATOR.match(piece.text) and self.words[i - 1]:
                end = i
            elif piece.kind != "word" or self.words[i] in JOINTS:
                break
        return end

    def _altered(self, at: int) -> bool:
        """Whether what follows makes another value of one: "24 squared", "5 less than 12", "7 or more"."""
        first, second = [*self.words[at + 1 : at + 3], "", ""][:2]
        if (
            first in ALTERATIONS
            or (first, second) in (("to", "be"), ("at", "most"), ("at", "least"), ("in", "base"))
            or self._compound(at)
            or (first == "or" and second in COMPARATIVES)
        ):
            return True
        for i in range(at + 1, min(at + 6, len(self.parts))):
            last = self.words[i - 1]
            if self.parts[i].kind == "math":
                part = last == "of" and not COUNT.fullmatch(self.parts[at].text)
                return (
                    (i == at + 2 and (part or last in OPERATIONS))
                    or (i == at + 3 and last == "of" and first == "percent")
                    or (last == "than" and self.words[i - 2] in COMPARATIVES and first not in NUMBERS)
                )
            if not self.words[i] or self.words[i] in VERBS:
                break
        return False

    def _compound(self, at: int) -> bool:
        """Whether a value is the first part of a quantity: "5 feet 6 inches", "5' 6", "3 in 4"."""
        words, kinds = self.words[at + 1 : at + 4], [piece.kind for piece in self.parts[at + 1 : at + 4]]
        if kinds == ["word", "math", "word"]:
            return canonical_word(words[0]) is not None and canonical_word(words[2]) is not None
        if kinds[:2] == ["punctuation", "math"] and self.parts[at + 1].text in "'’′":
            return True
        ends = len(self.parts) - 1
        chances = (words == ["in", ""] and at + 2 == ends) or (words == ["out", "of", ""] and at + 3 == ends)
        return chances and self.parts[ends].kind == "math"

    def _restated(self, at: int) -> bool:
        """Whether ", or" says an unfinished calculation in one number ("= (8)(14), or 112")."""
        if len(self.parts) < at + 4 or self.parts[at + 1].text != "," or self.words[at + 2] != "or":
            return False
        last = self.parts[at].text.rsplit("=", 1)[-1].strip()
        number, rest = self.parts[at + 3].text, self.parts[at + 4 :]
        return (
            NUMBER.fullmatch(number) is not None
            and CALCULATION.search(last) is not None
            and not any(piece.kind == "math" for piece in rest)
        )

    def _unit(self, at: int) -> str:
        """The known unit that follows a value."""
        words: list[str] = []
        for piece in self.parts[at + 1 : at + 4]:
            if piece.kind != "word":
                break
            words.append(piece.text)
            if canonical_word(piece.text) is not None:
                return f" {' '.join(words)}" if canonical_unit(" ".join(words)) is not None else ""
            if piece.text.lower() not in ("square", "cubic", "sq", "cu"):
                break
        return ""
