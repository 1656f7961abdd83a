"""Where a response states its answer explicitly, and where a statement ends (Appendix E-A)."""

import re

from promptdp.scoring.limits import STATEMENT_CHARACTERS

ABOUT = (
    r"(?:[*_`\s]{0,4}(?:to|in|for|of)\b(?!\s(?:the\s|this\s)?(?:\w+\s)?(?:part|step|case)\b)[^.:=\n]{0,60}?)?"
)
EXPLICIT = re.compile(
    rf"\bans(?:wers?)?\b{ABOUT}[*_`\s]{{0,6}}"
    r"(?:(?:\b(?:is|are|was|should be|would be|will be|must be|equals|becomes)\b|=|:)(?:[*_`\s]{0,4}:)?)"
    r"|^[#*_> \t]{0,12}(?:the\s)?(?:final\s|correct\s)?answer[*_`]{0,3}(?=[ \t]{0,4}(?:\$|\\|-?[0-9]|$))"
    r"|^A:",
    re.IGNORECASE | re.MULTILINE,
)
CONTINUES = re.compile(
    r"(?:\b(?:is|are|be|by|get|have|has|find|obtain|equals|gives|as|or|and|becomes)|[:=,+])$", re.I
)
DECORATION = " \t\r\n*_#`:>"
PROSE = re.compile(r"[A-Za-z]{2,}[\s,;]+[A-Za-z]{2,}|^\s*[0-9][0-9.,]*\s+[A-Za-z]{2,}|[.?!]\s+[A-Z][a-z]")
GROUP = re.compile(r"\\(?:text|mbox|textbf|textrm|mathrm|operatorname|textnormal)\s*\{[^{}]*\}|\\[A-Za-z]+")
TERMINATOR = re.compile(r"(?:[.?]|!(?!\s?[-+*/=)]))(?=[\s*\"'_)`]|\Z)")
ENVIRONMENT = re.compile(r"\\begin\{([a-z]+\*?)\}")
CLOSERS = {"$$": "$$", "$": "$", r"\(": r"\)", r"\[": r"\]"}


def math_span(text: str, start: int) -> tuple[int, int, int] | None:
    """The math that opens at `start`: where its content begins, where it ends, and where the text goes on.

    An environment is its own content. A `$` before an amount (`$5 and $7`) opens no math: prose lies between.
    """
    limit = start + STATEMENT_CHARACTERS
    if environment := ENVIRONMENT.match(text, start):
        closer = rf"\end{{{environment[1]}}}"
        end = text.find(closer, start, limit)
        return (start, end + len(closer), end + len(closer)) if end >= 0 else None
    opener = text[start : start + 2] if text[start : start + 2] in CLOSERS else text[start : start + 1]
    if opener not in CLOSERS:
        return None
    closer, content = CLOSERS[opener], start + len(opener)
    end = text.find(closer, content, limit)
    while opener == "$" and end > 0 and text[end - 1] == "\\":
        end = text.find(closer, end + 1, limit)
    if end < 0 or (opener == "$" and PROSE.search(GROUP.sub("", text[content:end]))):
        return None
    return content, end, end + len(closer)


def statement(text: str, start: int) -> str:
    """The statement that begins at `start`, to the end of its sentence, over line breaks while unfinished."""
    end = min(len(text), start + STATEMENT_CHARACTERS)
    at = start
    while at < end:
        char = text[at]
        span = math_span(text, at) if char in "$\\" else None
        if span is not None:
            at = span[2]
        elif char == "\\":
            at += 2
        elif char == "\n":
            body = text[start:at].strip(DECORATION)
            unfinished = not body or CONTINUES.search(text[max(start, at - 40) : at].rstrip(" *_\r"))
            if not unfinished:
                break
            at += 1
        elif TERMINATOR.match(text, at):
            if text[start:at].strip(DECORATION):
                break
            at += 1
        else:
            at += 1
    return text[start : min(at, end)]


def explicit_statements(text: str) -> list[int]:
    """Where the explicit answer statements begin, each after its cue ("the answer is"), in order."""
    return [match.end() for match in EXPLICIT.finditer(text)]
