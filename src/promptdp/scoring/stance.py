"""How a response stands to what it states: it may take it back, only suppose it, deny it or doubt it.

A statement that is withdrawn, denied or doubted gives no answer (E-B; the same notions serve numbers).
"""

import re
from itertools import islice

BEFORE = 300
AFTER = 400
FAR = 2_000
"""How many characters are read before a statement, in the sentences after it, and for a retraction."""

SENTENCES = 3
"""How many sentences may pass before "that is wrong" speaks of something else."""

FILLERS = (
    r"(?:(?:but|and|so|oh|ah|well|ok|okay|hm+|um|uh|sorry|however|yet|wait|no|oops|actually|although|though)\b"
    r"[\s,.!?…—–:;-]{1,6}){0,5}"
)
THAT = (
    r"(?:which|it|(?:that|this|the|my)(?:\s(?:above|previous|last|earlier|first|final))?"
    r"(?:\s(?:answer|result|choice|option|number|value|one|statement|calculation|reasoning))?(?:\sabove)?)"
)
WRONG = (
    r"(?:wrong(?!\sto)|incorrect(?!\sto)|false\b|mistaken\b|impossible(?!\s(?:for|to|that))|off by\b"
    r"|too hasty|an?\s(?:\w+\s)?(?:trap|mistake|error|misreading|miscount)\b|the wrong\b|hasty\b)"
)
RIGHT = (
    r"(?:(?:quite|actually|really|possibly)\s)?(?:right|correct|true|possible|it|valid|so|what\b|"
    r"the\s(?:\w+\s)?(?:answer|one|choice|option|result))\b"
)
DENIES = (
    rf"{THAT}(?:"
    rf"(?:['’]s|\sis|\swas|\slooks|\sseems|\smust be|\shas to be)"
    rf"(?:\s(?:also|clearly|obviously|actually|certainly|definitely|probably|simply|just|all|surely))?\s(?:{WRONG}|not\s{RIGHT})"
    rf"|\s(?:isn['’]t|wasn['’]t)\s{RIGHT}"
    rf"|\s(?:can['’]?t|cannot|can not|couldn['’]t|could not)(?:\spossibly)?\sbe"
    rf"(?:\s{RIGHT}|\s?(?=[.,;:!?\n—-]|$))"
    r"|\s(?:doesn['’]t|does not)\s(?:work|make sense|add up|seem right|look right)\b"
    r"(?!\s(?:for|to|that|as)\b))"
)
CHECK = (
    r"\W{1,4}(?:let me|let['’]?s|(?:i|we)(?:['’]ll|\sshould|\sneed to|\swill|\swant to)?)"
    r"\s(?:just\s|quickly\s)?"
    r"(?:double\W?|re\W?)?(?:check|verify|confirm|read|examine|look|make sure)"
)
"""What turns "wait" into a pause: what was said stands until the check says otherwise."""
TURNS = (
    rf"(?:wait\b(?=\s*[,.!?…—–:;\n-]|\s(?:a|no|i|that|this|it|actually|what)\b)(?!{CHECK})"
    r"|(?:hold|hang) on\b|oops\b|on second thoughts?\b"
    r"|on reflection,? (?:no|not)\b|correction\s?:|or (?:maybe |perhaps )?(?:not\b|[^\s?]{1,12}\?)"
    r"|scratch (?:that|this|it)\b|strike that\b|never ?mind\b|no(?:pe)?\s?[,.!—–]|no wait\b"
    r"|(?:my|a) mistake\b|my bad\b"
    r"|i meant?\b|actually,? (?:(?:no|not|wait|i)\b"
    r"|it(?:['’]s| is| should| must)\b|the (?:correct|right|real)\b"
    r"|(?:that|this)(?:['’]s| is| was)\b(?! (?:right|correct|true|why|how|what))))"
)
TURN = re.compile(
    rf"[^\w\n]{{0,8}}(?:(?:but|and|oh|ah|hm+|um|uh)\b[\s,.!?…—–:;-]{{1,6}}){{0,3}}{TURNS}", re.I
)
DENIAL_OF_LAST = re.compile(rf"[^\w\n]{{0,8}}{FILLERS}{DENIES}", re.I)
TAIL = re.compile(rf"(?:[,;:(—–]|\s-|\bbut\b|\band\b|\bthough\b)\s?{FILLERS}(?:{DENIES}|{TURNS})", re.I)
RETRACTION = re.compile(
    r"(?<!\bif )(?<!\bunless )(?<!\bwhether )(?:\b(?:scratch|strike) that\b"
    r"|\bi(?:['’]ll)? (?:take|took) (?:it|that|this|my answer) back\b|\bi (?:withdraw|retract)\b"
    r"|\b(?:disregard|ignore) (?:that|this|the above|my)\b"
    r"|\bi(?:['’]ve| have)? made (?:a|an)(?: \w+)? (?:mistake|error)\b"
    r"|\bi (?:was|am) (?:wrong|mistaken)\b|\bi['’]m (?:wrong|mistaken)\b"
    r"|\bi (?:misread|miscounted|miscalculated|misunderstood|forgot)\b"
    r"|\b(?:need|have|want) to (?:correct|revise|redo|change) (?:this|that|it|my)\b"
    r"|\blet me (?:correct|redo|revise|fix|rethink|reconsider|start over|try again)\b"
    r"|\bmy (?:answer|result|calculation)(?: above)? (?:is|was) (?:wrong|incorrect)\b"
    r"|\bthe (?:above|previous)(?: \w+)? (?:is|was) (?:wrong|incorrect)\b|\bi(?:['’]ve)? changed my mind\b)",
    re.I,
)
END = re.compile(r"[.!?…。](?=[\s\"'”’)\]*_`$}<]|$)[.!?…\"'”’)\]*_`$}]*\s*|\n\s*")
CLAUSE = re.compile(
    r"[,;:—]\s|\s[–-]\s|\b(?:so|therefore|thus|hence|but|because|since|then|yet|however|still|and so)\b", re.I
)
SUPPOSES = re.compile(
    r"\b(?:if|unless|whether|suppose|supposing|imagine|assume|assuming|pretend|until"
    r"|let(?:['’]?s| us) (?:try|say|guess))\b"
    r"|\b(?:wrong|incorrect|tempting|tempted|premature|impossible|easy|hasty) (?:to|that)\b|\bno way\b"
    r"|\b(?:mistake|error|trap|temptation)\b|\b(?:doubts?|deny|denies|denied|reject|false|untrue|never)\b"
    r"|\bnot (?:true|the case|clear|sure|certain|say|think|believe|mean|conclude|convinced|claim)\b"
    r"|n['’]t (?:true|the case|clear|sure|certain|say|think|believe|mean|conclude|convinced|know)\b"
    r"|\b(?:thought|guessed|assumed|believed|expected|claimed|said|argued)\b(?! about)"
    r"|\b(?:initially|at first|originally)\b"
    r"|\b(?:some|many|most|people|others?|everyone|someone|somebody|one|you|they|students?|friends?"
    r"|nobody|no one)\b[^.\n]{0,40}\b(?:says?|thinks?|claims?|argues?|believes?|guess|assumes?|answers?)\b",
    re.I,
)
DISOWNS = re.compile(
    r"\b(?:wrong|incorrect|false|mistaken|tempting|previous|earlier|initial|original|naive|other|another"
    r"|alternative|second|third|fourth|fifth|(?:second|next)[- ]best|least|less|worst|bad|possible|trial)"
    r"\s(?:\w+\s)?$",
    re.I,
)
ASKS = re.compile(r"^\W*(?:is|are|was|could|can|does|do|did|should|would|might|why|how|what)\b", re.I)
EVADES = re.compile(
    r"\b(?:not|never|neither|nor|cannot|no longer|hardly|anything (?:but|except|other than)|far from|except"
    r"|maybe|perhaps|possibly|(?:might|may|could) (?:also |well )?be|either|both|between|somewhere"
    r"|(?:more|less|fewer|greater|larger|smaller|higher|lower|bigger|other|rather) than"
    r"|unlikely|unsure|unclear|at (?:least|most)|(?:is|are|be|can|for|has|have) up to|no more|almost"
    r"|(?:is|are|was|be) (?:well )?(?:over|under|above|below)|nearly|say|whether)\b|n['’]t\b",
    re.I,
)


def sentence_start(text: str, at: int) -> int:
    """Where the sentence around a place starts, or how far back is read."""
    floor = max(0, at - BEFORE)
    return max((match.end() for match in END.finditer(text, floor, at)), default=floor)


def disowned(text: str, at: int) -> bool:
    """Whether the words right before a place call what follows wrong, earlier or only an alternative."""
    return DISOWNS.search(text, max(0, at - 40), at) is not None


def supposed(text: str, at: int) -> bool:
    """Whether what is stated at a place is only supposed, asked, or reported as an opinion."""
    sentence = text[sentence_start(text, at) : at]
    clause = sentence[max((match.end() for match in CLAUSE.finditer(sentence)), default=0) :]
    return disowned(text, at) or bool(SUPPOSES.search(clause) or ASKS.match(clause))


def evasive(words: str) -> bool:
    """Whether the words between a cue and its value deny, doubt or only bound the value."""
    return EVADES.search(words) is not None


def withdrawn(text: str, end: int) -> bool:
    """Whether the response takes back what it has stated up to a place, in that sentence or soon after."""
    rest = text[end : end + AFTER]
    ends = [match.end() for match in islice(END.finditer(rest), SENTENCES)]
    if TAIL.search(rest, 0, ends[0] if ends else len(rest)):
        return True
    if any(TURN.match(rest, at) or DENIAL_OF_LAST.match(rest, at) for at in ends):
        return True
    return RETRACTION.search(text, end, end + FAR) is not None
