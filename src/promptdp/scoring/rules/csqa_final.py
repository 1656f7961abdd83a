"""CommonsenseQA, final answer: the last explicit declaration in any form, if unambiguous (Appendix E-B).

A declaration that names several letters, is denied, or is withdrawn by what follows is no answer; one that
is only supposed or reported is no declaration.
"""

import re
from collections import deque

from promptdp.scoring.letters import DECLARATION, Choice, choice
from promptdp.scoring.limits import LATER_CHARACTERS, NEARBY_CHARACTERS, Budget
from promptdp.scoring.stance import sentence_start, unasserted, withdrawn
from promptdp.scoring.verdict import Extraction, Judgement, Reason, found, judged, none
from promptdp.scoring.vocabulary import vocabulary

DECLARATIONS = 32
"""Cues read, from the last one back, until one declares a choice."""
NOUN = r"(?:answer|ans|choice|option|pick|selection|conclusion|best (?:fit|match))"
GOOD = r"(?:final|correct|best|right|most\s\w+|only)"
SURE = (
    r"(?:,?\s{0,3}(?:therefore|thus|clearly|definitely|certainly|surely|obviously|undoubtedly|most likely"
    r"|probably|likely|indeed|then|so|simply|still|for sure|of course|in fact|actually|without a doubt"
    r"|none other than),?){0,2}"
    r"(?:\s{0,3}(?:clear|obvious|evident|simple|straightforward|easy)\s?[:：—–])?"
    r"(?:\s{0,3}(?:i (?:think|believe)\s(?:that\s)?)?(?:it|that)(?:['’]s| is| must be)\b)?"
)
CUE = re.compile(
    rf"(?<![A-Za-z0-9])(?:{NOUN}|answers)[*_`\"”]{{0,3}}"
    r"(?:\s(?:to|for|that|which|here|in|of|from|among|would)\b[^.:\n]{0,60}?)?\s{0,3}"
    r"(?:[:：=]|\s[-–—]\s"
    r"|(?P<denied>(?:is|would be|should be)(?:n['’]t|\snot)\b|(?:cannot|can['’]t|can not|could not) be\b)"
    r"|(?:is|['’]s|would be|should be|must be|will be|has to be|can only be|becomes)\b[*_`\s]{0,4}:?)"
    r"[*_`]{0,3}"
    rf"{SURE}"
    r"|(?<![A-Za-z0-9])(?:i|we)(?:['’]d|['’]ll|['’]m|\sam)?(?:\s(?:would|will|should|must|therefore|thus))?"
    r"\s(?:choose|pick|select|chose|(?:go|going) (?:with|for)|say|opt for|settle on|vote for)\b:?"
    r"|(?<![A-Za-z0-9])(?:so|thus|hence|therefore),?\s(?:i (?:think|believe)\s(?:that\s)?)?"
    r"it(?:['’]s| is| must be)\b"
    rf"|<(?:final[_ ]?)?{NOUN}>"
    rf"|^[#>*_ \t]{{0,8}}(?:(?:the|my|{GOOD})\s){{0,3}}{NOUN}[#*_: \t]{{0,6}}$(?:\s{{1,4}}[-•]\s)?"
    r"|\\(?:boxed|fbox)(?=\s?\{)",
    re.IGNORECASE | re.MULTILINE,
)
IS = r"\s(?:is|must be|has to be|would be)\s(?:(?:therefore|thus|clearly|definitely|indeed|obviously)\s)?"
BARE = r"(?<![\w'’-])(?:(?i:option|choice|answer)\s)?[(*_`\[\"“'‘]{0,4}(?P<letter>[A-E])[)*_`\]\"”'’]{0,4}"
LABELLED = (
    r"(?<![\w'’-])(?:\(?(?P<label>[A-E])\)|(?i:option|choice)\s(?P<option>[A-E])),?"
    r"(?:\s[a-z][a-z'’-]{0,20}){1,4},?"
)
THE_ANSWER = rf"(?:(?:the|my)\s(?:{GOOD}\s){{0,2}}{NOUN}\b|correct\b|right\b)"
REVERSED = re.compile(rf"(?:{BARE}|{LABELLED}){IS}{THE_ANSWER}")
REFUTED = re.compile(
    rf"{BARE}\s(?:(?:(?:is|was)(?:n['’]t|\snot)|cannot be|can['’]t be)(?:\s(?:{THE_ANSWER}|it\b)|\s?[.,;!]|$)"
    r"|(?:is|was)\s(?:clearly\s|actually\s)?(?:wrong|incorrect|impossible|false)\b)"
)
LAST_WORD = re.compile(r"([A-Za-z]+) $")
INTRODUCTIONS = vocabulary(
    "so therefore thus hence that then and or nor but only clearly think believe say conclude letter"
)
"""Words before a letter that is a choice; after others it is part of a name ("Vitamin B")."""
JOINED = re.compile(r"\b[A-E][)\]*]{0,3},?\s?(?:\b(?:or|and|nor)\b|[/&])\s?$")
AS_WELL = re.compile(r"[^.\n]{0,10}\b(?:so is|as is|and also|as well as)\s[(*]{0,3}[A-E]\b")
ALONE = (
    r"(?:(?i:(?:so|thus|hence|therefore)[,:]?[ \t])?[ \t*_`(\[<\"]{0,8}(?P<letter>[A-Ea-e])[.)*_`\]>\"]{0,8}"
    r"|\*\*\(?(?P<option>[A-E])[).:]\s[^\n*]{1,60}\*\*)"
)
ALONE_ON_A_LINE = re.compile(rf"^{ALONE}[ \t\r]*$", re.MULTILINE)


def extract(response: str, capped: bool, budget: Budget) -> Extraction:
    """The letter of the last declaration; one that is ambiguous, denied or withdrawn is no answer."""
    refuted: set[str] = set()
    declared = [
        option
        for option in (
            _after_a_cue(response, refuted, budget),
            _before_a_cue(response, budget),
            _alone(response, budget),
        )
        if option is not None
    ]
    if not declared:
        return none(Reason.NO_ANSWER)
    last = max(declared, key=lambda option: option.end)
    budget.spend(LATER_CHARACTERS)
    refuted.update(
        match["letter"] for match in REFUTED.finditer(response, last.end, last.end + LATER_CHARACTERS)
    )
    if last.letter is None or last.letter in refuted or withdrawn(response, last.end, budget):
        return none(Reason.AMBIGUOUS)
    return found(last.letter)


def _after_a_cue(response: str, refuted: set[str], budget: Budget) -> Choice | None:
    """The choice after the last cue that declares one ("the answer is B"); later denials go to `refuted`."""
    budget.read(response)
    for cue in reversed(deque(CUE.finditer(response), maxlen=DECLARATIONS)):
        budget.spend(NEARBY_CHARACTERS + DECLARATION)
        option = choice(response, cue.end(), denied=cue["denied"] is not None)
        if option is None or _unasserted(response, cue.start()):
            continue
        if option.denied is None:
            return option
        refuted.add(option.denied)
    return None


def _unasserted(response: str, at: int) -> bool:
    """Whether the sentence up to a place asserts nothing of what follows."""
    return unasserted(response[sentence_start(response, at) : at]) is not None


def _before_a_cue(response: str, budget: Budget) -> Choice | None:
    """The choice in the last sentence of the other order ("B is the best choice")."""
    budget.read(response)
    for match in reversed(deque(REVERSED.finditer(response), maxlen=DECLARATIONS)):
        budget.spend(NEARBY_CHARACTERS)
        before = LAST_WORD.search(response, max(0, match.start() - 16), match.start())
        named = before is not None and before[1].lower() not in INTRODUCTIONS
        if not named and not _unasserted(response, match.start()):
            letter = match["letter"] or match["label"] or match["option"]
            several = JOINED.search(response, max(0, match.start() - 12), match.start()) or AS_WELL.match(
                response, match.end()
            )
            return Choice(None if several else letter, None, match.end())
    return None


def _alone(response: str, budget: Budget) -> Choice | None:
    """The letter that is the whole last line, unless another stands alone on a line too."""
    budget.read(response)
    lines = deque(ALONE_ON_A_LINE.finditer(response), maxlen=DECLARATIONS)
    if not lines or response[lines[-1].end() :].strip():
        return None
    letters = {(line["letter"] or line["option"]).upper() for line in lines}
    return Choice(letters.pop() if len(letters) == 1 else None, None, lines[-1].end())


def judge(answer: str, gold: str, budget: Budget) -> Judgement:
    """Identity of the letter."""
    return judged(answer == gold.strip().upper())
