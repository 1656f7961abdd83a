r"""Whether a statement holds: not asked, supposed, reported, denied, hedged, withdrawn or cut off.

Each test looks at one place: the words before the cue, the statement's own words, or what follows it.
"""

import re

from promptdp.scoring.cues import Candidate
from promptdp.scoring.limits import NEARBY_CHARACTERS
from promptdp.scoring.stance import withdrawn
from promptdp.scoring.verdict import Reason
from promptdp.scoring.vocabulary import vocabulary

NOT = r"(?:\bnot|n['’]t|\bcannot|\bnever)"
DENIAL = (
    r"(?:\b(?:wrong|incorrect|false|untrue|impossible|invalid|extraneous|mistaken?|absurd|nonsense|a trap"
    r"|contradict\w*|violates?|inconsistent|ruled out|unsure|too (?:large|big|small|many|few|high|low))"
    rf"|{NOT}\s(?:\w+\s)?(?:right|correct|true|possible|valid|works?|satisf\w+|holds?|fits?|match\w*|sense"
    r"|sure|certain|allowed|consistent|be(?=[.,;!])|the (?:answer|case)|what|an? (?:\w+\s)?(?:solution|root)"
    r"|positive|negative)|\bfails?)\b(?!\s(?:to|that|for)\b)"
)
PRONOUN = r"(?:this|that|it|these|those|which)(?:['’]s)?\b"
OPENERS = (
    r"(?:(?:but|however|hmm+|yet|actually|unfortunately|still|sorry|oh|well|alas|though|edit|update)\b"
    r"\W{0,4}){0,3}"
)
REFUTED = re.compile(
    rf"[^\w$\\]{{0,12}}{OPENERS}(?:{PRONOUN}[^.?!\n]{{0,50}}?{DENIAL}|no\b\s*[,.!;]|or\b[^.!\n]{{0,30}}\?"
    rf"|(?<=but\s)[^.?!\n]{{0,80}}?{DENIAL}|(?:(?<=however\s)|(?<=however,\s)|(?<=yet\s))[^.?!\n]{{0,80}}?{DENIAL})",
    re.IGNORECASE,
)
TAIL = re.compile(
    rf"(?:\b(?:but|which|though|although|yet|however|and)\b[^.;]{{0,60}}?|\(\s?){DENIAL}", re.IGNORECASE
)
REDONE = re.compile(
    r"\blet(?:['’]s|\sme|\sus)\sre-?(?:do|compute|calculate|consider|count|think|work|evaluate)\b",
    re.IGNORECASE,
)
UNFINISHED = re.compile(
    r"(?:[-+/=^_(\[{,<>:&\\×·−≤≥]|\s\*|\\(?:cdot|times|frac|div|pm|leq?|geq?|left|approx)"
    r"|\b(?:and|or|is|are|the|an|of|to|be|that|by|with|for|times|plus|minus|equals|because|since|which|will|so"
    r"|but|we|than))\s*\$?\s*$|^\s*,\s*\$[^$]*$",
    re.IGNORECASE,
)
CLAUSE_BREAK = re.compile(
    r"[;:]|—|–|--|,\s(?:and|as)\b|\b(?:but|so|hence|thus|therefore|however|consequently|yet)\b", re.IGNORECASE
)
CONCESSION = re.compile(
    r"^\W*(?:although|though|while|whereas|since|because|as|even though)\b[^,]*,", re.IGNORECASE
)
FORMULA = re.compile(r"\$[^$]*\$|\\\([^()]*\\\)")
WORDS = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")
REASONS = re.compile(r"\b(?:since|because|as)\b", re.IGNORECASE)

NEGATIONS = vocabulary(
    "not never neither nor cannot no none nobody nothing hardly isn't aren't can't doesn't don't won't "
    "wasn't weren't didn't couldn't wouldn't shouldn't mustn't ain't"
)
DENIALS = vocabulary(
    "false wrong incorrect untrue undefined impossible doubt unclear unsure unlikely fails fail failed "
    "invalid extraneous absurd contradiction contradictory contradicts rejected reject discard discarded "
    "exclude excluded"
)
SUPPOSITIONS = vocabulary(
    "if provided suppose supposing assume assuming imagine pretend pretending whether unless hypothetically"
)
REPORTS = vocabulary(
    "say says said saying think thinks thinking believe believes believed guess guesses guessed claims "
    "claimed argue argues argued expect expects assert asserts asserted"
)
ERRORS = vocabulary(
    "thought tempted tempting mistake mistakenly error misconception trap wrongly incorrectly falsely "
    "erroneously sight glance initially"
)
SPEAKERS = vocabulary("i we")
DISOWNED = vocabulary(
    "wrong incorrect false previous earlier old initial original naive tempting intermediate partial "
    "preliminary tentative trial other another alternative"
)
HEDGES = vocabulary(
    "maybe perhaps probably possibly presumably likely seems seem appears uncertain might may"
)
CONDITIONS = vocabulary("if unless assuming provided depending depends otherwise")


def objection(candidate: Candidate) -> Reason | None:
    """Why a statement does not hold, whatever its kind; None when it holds.

    Returns:
        NO_ANSWER where it says nothing (a question), AMBIGUOUS where it leaves what came before in doubt.
    """
    if re.match(r"[\s*_)\"']{0,4}\?", candidate.after):
        return Reason.NO_ANSWER
    if _unfinished(candidate) or withdrawn(candidate.text + candidate.after, 0):
        return Reason.AMBIGUOUS
    if (
        REFUTED.match(candidate.after)
        or TAIL.search(candidate.text)
        or REDONE.search(candidate.after[:NEARBY_CHARACTERS])
    ):
        return Reason.AMBIGUOUS
    return None


def unasserted(candidate: Candidate) -> Reason | None:
    """Why the words before a statement assert nothing; None when they do not.

    Returns:
        NO_ANSWER where it is supposed or reported of others, AMBIGUOUS where it is denied or hedged.
    """
    scope = CONCESSION.sub("", CLAUSE_BREAK.split(FORMULA.sub("$", candidate.before))[-1])
    words = words_of(scope)
    reported = (
        word in REPORTS and not SPEAKERS & set(words[max(0, i - 3) : i]) for i, word in enumerate(words)
    )
    if set(words) & (SUPPOSITIONS | ERRORS) or set(words[-2:]) & DISOWNED or any(reported):
        return Reason.NO_ANSWER
    return Reason.AMBIGUOUS if set(words) & (NEGATIONS | DENIALS | HEDGES) else None


def conditional(statement: str) -> bool:
    """Whether an explicit statement hedges its answer or makes it depend on something."""
    own = REASONS.split(FORMULA.sub("$", statement))[0]
    return bool(set(words_of(own)) & (CONDITIONS | HEDGES))


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return [word.lower().replace("’", "'") for word in WORDS.findall(text)]


def _unfinished(candidate: Candidate) -> bool:
    """Whether the response ends within the statement: nothing follows the cue, or more was to come."""
    if candidate.after.strip():
        return False
    return not candidate.text.strip(" \t\r\n*_#`:>") or UNFINISHED.search(candidate.text) is not None
