"""How a response stands to what it states: it may ask, suppose, report, deny, doubt or take it back.

What is not asserted, or is taken back, gives no answer (E-A, E-B). Each notion has one vocabulary, which
mathematics, numbers and letters share.
"""

import re
from itertools import islice

from promptdp.scoring.limits import LATER_CHARACTERS, NEARBY_CHARACTERS, Budget
from promptdp.scoring.verdict import Reason
from promptdp.scoring.vocabulary import vocabulary

SENTENCES = 3
"""How many sentences may pass before "that is wrong" speaks of something else."""

NEGATIONS = vocabulary(
    "not never neither nor cannot no none nobody nothing hardly isn't aren't can't doesn't don't won't "
    "wasn't weren't didn't couldn't wouldn't shouldn't mustn't ain't"
)
DENIALS = vocabulary(
    "false wrong incorrect untrue undefined impossible doubt doubts deny denies denied unclear unsure "
    "unlikely fails fail failed invalid extraneous absurd contradiction contradictory contradicts rejected "
    "reject discard discarded exclude excluded"
)
SUPPOSITIONS = vocabulary(
    "if provided suppose supposing assume assuming imagine pretend pretending whether unless hypothetically"
)
REPORTS = vocabulary(
    "say says said saying think thinks thinking believe believes believed guess guesses guessed claims "
    "claimed argue argues argued expect expects assert asserts asserted assumes"
)
"""What is said by others; by the response itself (`SPEAKERS`) it is a statement."""
SPEAKERS = vocabulary("i we")
OWNERS = vocabulary("my our")
ERRORS = vocabulary(
    "thought tempted tempting temptation mistake mistakenly error misconception trap wrongly incorrectly "
    "falsely erroneously sight glance initially originally premature hasty"
)
DISOWNED = vocabulary(
    "wrong incorrect false mistaken previous earlier old initial original naive tempting intermediate "
    "partial preliminary tentative trial possible other another alternative second third fourth fifth "
    "second-best next-best least less worst bad"
)
"""What an answer is called that is not the answer."""
CONTRACTED = vocabulary("it's that's here's there's what's he's she's who's")
HEDGES = vocabulary("maybe perhaps probably possibly presumably seems seem appears uncertain might may")
CONDITIONS = vocabulary("if unless assuming provided depending depends otherwise")
COMPARATIVES = vocabulary(
    "more less fewer greater larger smaller higher lower bigger older younger longer shorter"
)
BOUNDS = re.compile(
    rf"\b(?:anything (?:but|except|other than)|far from|except|could (?:also |well )?be|either|both|between"
    rf"|somewhere|(?:{'|'.join(sorted(COMPARATIVES))}|other|rather) than|at (?:least|most)|almost|nearly"
    r"|whether|(?:is|are|be|can|for|has|have) up to"
    r"|(?:is|are|was|be) (?:well )?(?:over|under|above|below)|say)\b",
    re.IGNORECASE,
)
"""What only bounds or offers a value."""

NOT = r"(?:\bnot|n['’]t|\bcannot|\bnever)"
DENIED = (
    r"(?:\b(?:wrong|incorrect|false|untrue|impossible|invalid|extraneous|mistaken?|absurd|nonsense|hasty"
    r"|contradict\w*|violates?|inconsistent|ruled out|unsure|off by"
    r"|too (?:large|big|small|many|few|high|low|hasty)|an?\s(?:\w+\s)?(?:trap|error|misreading|miscount))"
    rf"|{NOT}\s(?:\w+\s)?(?:right|correct|true|possible|valid|works?|satisf\w+|holds?|fits?|match\w*|sense"
    r"|add up|sure|certain|allowed|consistent|it|so|be(?=[.,;!])|what|an? (?:\w+\s)?(?:solution|root)"
    r"|the\s(?:\w+\s)?(?:answer|case|one|choice|option|result)|positive|negative)|\bfails?)"
    r"\b(?!\s(?:to|that|for)\b)"
)
"""What a response says of a statement that it takes back."""
OPENERS = (
    r"(?:(?:but|and|so|oh|ah|well|ok|okay|hm+|um|uh|sorry|however|yet|still|wait|no|oops|alas|actually"
    r"|unfortunately|although|though)\b[\s,.!?…—–:;-]{1,6}){0,5}"
)
THAT = (
    r"(?:which|it|these|those"
    r"|(?:that|this|the|my)(?:\s(?:above|previous|last|earlier|first|final))?"
    r"(?:\s(?:answer|result|choice|option|number|value|one|statement|calculation|reasoning))?(?:\sabove)?)"
)
DENIES = rf"{THAT}(?:['’]s|n['’]t)?\b(?:\s[\w'’]+){{0,4}}?\s?{DENIED}"
REFUSAL = (
    r"(?:(?:is|was)(?:n['’]t|\s(?:clearly\s|obviously\s|actually\s|definitely\s)?(?:not|wrong|incorrect|false"
    r"|impossible|too|ruled out|out))|can(?:['’]?t|not) be|fails)\b"
)
"""What follows a value that is called wrong."""
CHECK = (
    r"\W{1,4}(?:let me|let['’]?s|(?:i|we)(?:['’]ll|\sshould|\sneed to|\swill|\swant to)?)"
    r"\s(?:just\s|quickly\s)?"
    r"(?:double\W?|re\W?)?(?:check|verify|confirm|read|examine|look|make sure)"
)
"""What turns "wait" into a pause: what was said stands until the check says otherwise."""
TURNS = (
    rf"(?:wait\b(?=\s*[,.!?…—–:;\n-]|\s(?:a|no|i|that|this|it|actually|what)\b)(?!{CHECK})"
    r"|(?:hold|hang) on\b|oops\b|on second thoughts?\b"
    r"|on reflection,? (?:no|not)\b|correction\s?:|or\b[^.!\n]{0,30}\?|or (?:maybe |perhaps )?not\b"
    r"|(?:but|however),?\s(?:(?:this|that|it)(?:\s\w+)?\s(?:ignor|overlook|neglect|miss|omit|(?:over|under)count"
    r"|double-?count)(?:e?s|ted|e?d)|(?:i|we)(?:\shave)?\s(?:forgot|missed|overlooked|double-?counted))\b"
    r"|(?:but|however),?\s(?:[\w'’]+\s){1,5}(?:is|are|was|were)\s(?:missed|missing|overlooked|forgotten|omitted"
    r"|left out|counted twice|not counted|not considered)\b|edit\s?:"
    r"|scratch (?:that|this|it)\b|strike that\b|never ?mind\b|no(?:pe)?\s?[,.!;—–]|no wait\b"
    r"|(?:my|a) mistake\b|my bad\b|just kidding\b"
    r"|i meant?\b|actually,? (?:(?:no|not|wait|i)\b|[0-9]|(?-i:[A-E])\b(?!\s[a-z])"
    r"|it(?:['’]s| is| should| must)\b|the (?:correct|right|real)\b"
    r"|(?:that|this)(?:['’]s| is| was)\b(?! (?:right|correct|true|why|how|what))))"
)
TAKEN_BACK = re.compile(rf"[^\w$\\\n]{{0,12}}{OPENERS}(?:{DENIES}|{TURNS})", re.IGNORECASE)
"""How a sentence begins that takes back what stands before it."""
TAIL = re.compile(
    rf"(?:[,;:(—–]|\s-|\b(?:but|and|though)|\s(?=or\b))\s?{OPENERS}(?:{DENIES}|{TURNS})"
    rf"|(?:\b(?:but|which|though|although|yet|however)\b[^.;]{{0,60}}?|\(\s?){DENIED}",
    re.IGNORECASE,
)
"""How a sentence goes on that takes itself back."""
RETRACTION = re.compile(
    r"(?<!\bif )(?<!\bunless )(?<!\bwhether )(?:\b(?:scratch|strike) that\b"
    r"|\bi(?:['’]ll)? (?:take|took) (?:it|that|this|my answer) back\b|\bi (?:withdraw|retract)\b"
    r"|\b(?:disregard|ignore) (?:that|this|the above|my)\b"
    r"|\bi(?:['’]ve| have)? made (?:a|an)(?: \w+)? (?:mistake|error)\b"
    r"|\bi (?:was|am) (?:wrong|mistaken)\b|\bi['’]m (?:wrong|mistaken)\b"
    r"|\bi (?:misread|miscounted|miscalculated|misunderstood|forgot)\b"
    r"|\b(?:need|have|want) to (?:correct|revise|redo|change) (?:this|that|it|my)\b"
    r"|\bi (?:(?:need|have|want) to|must|should) re-?(?:do|compute|calculate|consider|count|think|work)\b"
    r"|\blet (?:me|us) (?:correct|redo|revise|fix|rethink|reconsider|start over|try again|re-?(?:do|compute"
    r"|calculate|consider|count|think|work|evaluate))\b"
    r"|\bmy (?:answer|result|calculation)(?: above)? (?:is|was) (?:wrong|incorrect)\b"
    r"|\bthe (?:above|previous)(?: \w+)? (?:is|was) (?:wrong|incorrect)\b|\bi(?:['’]ve)? changed my mind\b)",
    re.IGNORECASE,
)
"""What takes back all that was said before, wherever it stands."""

END = re.compile(r"[.!?…。](?=[\s\"'”’)\]*_`$}<]|$)[.!?…\"'”’)\]*_`$}]*\s*|\n\s*")
CLAUSE = re.compile(
    r"[,;:—]\s|\s[–-]\s|--|\b(?:so(?! far\b)|therefore|thus|hence|consequently|but|because|since|then|yet"
    r"|however|still)\b",
    re.IGNORECASE,
)
ASKS = re.compile(r"^[^\w$]*(?:is|are|was|could|can|does|do|did|should|would|might|why)\b", re.I)
WAYS = re.compile(r"\b(?:at first|so far|let(?:['’]?s| us| me) (?:try|say|guess))\b", re.IGNORECASE)
COUNTERFACTUAL = re.compile(
    r"\bif (?:(?:i|we|one) had to|(?:it|this|that|the (?:question|problem)) (?:were|was|had|asked|said))\b"
    r"[^,.;:]*, |^\W*had\s(?:i|we|he|she|they|it|the)\b",
    re.IGNORECASE,
)
"""A condition that the response does not claim to hold."""
HYPOTHESIS = re.compile(
    r"^\W*(?:(?:so|but|and|now|also|then|thus|hence),?\s)?(?:if\b(?!\s(?:we|you|one|i)\b)|assuming\b|supposing\b)"
    r"[^.;:]*,\s(?:then\s)?(?:the|our|my)\s(?:\w+\s){0,2}$",
    re.IGNORECASE,
)
"""A sentence that has only set a condition before its statement; the steps that "we" take are none."""
ASKED = re.compile(r"[\s*_$)\"']{0,4}(?:,\s(?:right|correct|no|yes|is it|isn['’]t it))?\?", re.I)
LITOTES = re.compile(r"\b(?:no|without (?:a|any)) doubt\b|\bnot (?:hard|difficult|surprising(?:ly)?)\b", re.I)
"""Denials that affirm."""
FORMULA = re.compile(r"\$[^$]*\$|\\\([^()]*\\\)")
WORDS = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")
REASONS = re.compile(r"\b(?:since|because|as)\b", re.IGNORECASE)


def sentence_start(text: str, at: int) -> int:
    """Where the sentence around a place starts, or how far back is read."""
    floor = max(0, at - NEARBY_CHARACTERS)
    return max((match.end() for match in END.finditer(text, floor, at)), default=floor)


def disowned(before: str) -> bool:
    """Whether the last words before an answer call it wrong, earlier, only an alternative or another's."""
    last = words_of(_clause(before))[-2:]
    return bool(set(last) & DISOWNED) or (
        last != [] and last[-1].endswith("'s") and last[-1] not in CONTRACTED
    )


def _clause(before: str) -> str:
    """The clause that words before a place leave open, formulas as signs."""
    return CLAUSE.split(LITOTES.sub("", FORMULA.sub("$", before[-NEARBY_CHARACTERS:])))[-1]


def reported(words: list[str]) -> bool:
    """Whether words say that somebody else says something."""
    return any(
        w in REPORTS
        and not SPEAKERS & set(words[max(0, i - 3) : i])
        and words[i : i + 2] != ["thinking", "about"]
        and not (w == "guess" and OWNERS & set(words[max(0, i - 2) : i]))
        for i, w in enumerate(words)
    )


def unasserted(before: str) -> Reason | None:
    """Why a statement asserts nothing, by the words of its sentence before it; None when it does.

    Returns:
        NO_ANSWER where it is asked, supposed or reported of others, AMBIGUOUS where it is denied or hedged.
    """
    clause = _clause(before)
    words = words_of(clause)
    said = set(words)
    if said & (SUPPOSITIONS | ERRORS) or reported(words) or disowned(before):
        return Reason.NO_ANSWER
    if ASKS.match(clause) or WAYS.search(clause) or COUNTERFACTUAL.search(before):
        return Reason.NO_ANSWER
    if HYPOTHESIS.match(FORMULA.sub("$", before)):
        return Reason.NO_ANSWER
    return Reason.AMBIGUOUS if said & (NEGATIONS | DENIALS | HEDGES) else None


def conditional(statement: str) -> bool:
    """Whether a statement hedges its answer or makes it depend on something."""
    own = REASONS.split(FORMULA.sub("$", statement))[0]
    return bool(set(words_of(own)) & (CONDITIONS | HEDGES))


def evasive(words: str) -> bool:
    """Whether the words between a cue and its value deny, doubt or only bound the value."""
    said = set(words_of(words))
    return bool(said & (NEGATIONS - {"no"} | DENIALS | HEDGES)) or BOUNDS.search(words) is not None


def asked(after: str) -> bool:
    """Whether a statement is a question, by what follows it."""
    return ASKED.match(after) is not None


def withdrawn(text: str, end: int, budget: Budget) -> bool:
    """Whether the response takes back what it has stated up to a place, in that sentence or soon after.

    Raises:
        LimitError: reading on would be over the budget.
    """
    budget.spend(NEARBY_CHARACTERS + LATER_CHARACTERS)
    rest = text[end : end + NEARBY_CHARACTERS]
    ends = [match.end() for match in islice(END.finditer(rest), SENTENCES)]
    return (
        asked(rest)
        or TAIL.search(rest, 0, ends[0] if ends else len(rest)) is not None
        or any(TAKEN_BACK.match(rest, at) for at in ends)
        or RETRACTION.search(text, end, end + LATER_CHARACTERS) is not None
    )


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, with straight apostrophes; the month of May stays what it is."""
    return [word if word == "May" else word.lower().replace("’", "'") for word in WORDS.findall(text)]
