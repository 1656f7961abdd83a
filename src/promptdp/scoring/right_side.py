r"""The right-hand side of an assignment: `41` of `2 \diamondsuit 7 = 6+35 = 41`, `7` of the rows of an align.

An equality with a bare name on the left is kept whole, for its name is compared too. So is an equation that
is still to be solved (`2x = 10`, `x^2 = 36`), whose right-hand side is no answer.
"""

import re
from collections.abc import Iterator

ROWS = re.compile(r"\\begin\{((?:align|gather|eqnarray|split|multline)(?:ed)?\*?)\}")
ARROW = re.compile(
    r"\\(?:implies|iff|(?:Long|long)?[Rr]ightarrow|Leftrightarrow|Longleftrightarrow)(?![A-Za-z])|[⇒→⟹⟺]"
)
OTHER = re.compile(
    r"[<>≤≥≠∈]|\\(?:leq?|geq?|lt|gt|neq?|in|notin|to|mid|subset\w*|cup|cap|ldots|dots)(?![A-Za-z])|\\{"
)
EQUAL = re.compile(r"=|\\equiv(?![A-Za-z])|≡")
SEPARATOR = re.compile(r"(?<!\\)[,;](?!(?:\\!)?[0-9]{3}(?![0-9]))|\\(?:text|mbox)\s*\{\s*(?:and|or)\s*\}")
ROUNDED = re.compile(r"\\(?:approx|doteq|simeq|sim)(?![A-Za-z])|≈")
NAME = re.compile(
    r"\s*\(?\s*(?:\\(?:left)?(?:mathbf|mathrm|overline|vec|hat|angle|triangle)?\s*)?\{?\s*\\?(?:[A-Za-z]|[A-Za-z]+(?=_))"
    r"(?:_\{?\w+\}?)?'*\}?(?:\s*\([A-Za-z](?:,\s*[A-Za-z])*\))?\s*\)?\s*"
)
TUPLE = re.compile(r"\s*\(\s*\w(?:\s*,\s*\w)+\s*\)\s*")
LETTER = re.compile(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])|(?<![A-Za-z\\])[A-Za-z]{2,4}(?![A-Za-z])")
COEFFICIENT = re.compile(
    r"(?:[0-9]|\})\s*(?:\\cdot\s*)?(?:(?<!\\)[a-zA-Z](?![A-Za-z])|\\(?:sin|cos|tan|cot|sec|csc|log|ln|sqrt)(?![a-z]))"
)
APPLIED = re.compile(
    r"\\(?:sin|cos|tan|cot|sec|csc|gcd|max|min|lfloor|lceil|text|mbox|angle|circ|det|sum|int|prod|overline|binom"
    r"|operatorname|cdots|star|diamond\w*|oplus|otimes|odot|clubsuit|spadesuit|heartsuit|Box|bigcirc|bullet)(?![A-Za-z])"
    r"|\|\s*\\?[A-Za-z]+\s*\||(?<![A-Za-z0-9}])[d-hpqA-Z]\s*(?:\\left)?\(|\[[A-Z]|[A-Z]{2}"
)
"""What is a value and no unknown: a function, a figure's measure, an operation defined in the problem."""
MODULUS = re.compile(
    r"(?<=\S)\s*(?:\\p?mod(?![A-Za-z])[^$=]{0,20}|\((?:\\?mod|\\text\{mod)[^$=()]{0,20}\))\s*$"
)
SUBSCRIPT = re.compile(r"_(?:\{[^{}]*\}|\w)")
LEADING = re.compile(r"\A(?:[\s&,:]|\\q?quad(?![A-Za-z])|\\[,;:! ])*")
TRAILING = " \t\n.,;:"


def right_side(text: str, cued: bool) -> str:
    """What a piece of mathematics assigns; the text itself when it is no assignment.

    Args:
        text: the mathematics.
        cued: a cue says that it is a conclusion; without one, only what needs no solving is an assignment.
    """
    row = _last_row(text.strip())
    if row is None:
        return text
    text = MODULUS.sub("", row)
    arrows = list(ARROW.finditer(text))
    if arrows:
        text = LEADING.sub("", text[arrows[-1].end() :], count=1).rstrip(TRAILING + "\\&")
    rounded = ROUNDED.search(text)
    exact, tail = (text[: rounded.start()], text[rounded.start() :]) if rounded else (text, "")
    members = list(_members(exact))
    if len(members) < 2 or OTHER.search(exact):
        return text
    if any(len(list(_members(member, SEPARATOR))) > 1 for member in members[1:-1]):
        # "x = 3, y = 4" is whole; of "x + y = 5, and x = 2" the last part counts.
        said = list(_members(exact, SEPARATOR))
        named = all(NAME.fullmatch(next(_members(part))) for part in said)
        return text if named or not EQUAL.search(said[-1]) else right_side(said[-1].strip() + tail, cued)
    left, right = members[0], members[-1].strip().rstrip(TRAILING)
    if not right:
        return text
    if not left.strip():
        return right + tail
    if NAME.fullmatch(left) or TUPLE.fullmatch(left):
        return text if len(members) == 2 else f"{left.strip()} = {right}{tail}"
    if _unsolved(members, cued):
        return text
    return right + tail


def _last_row(text: str) -> str | None:
    """The last row of an aligned derivation; None when its rows give the values of several names."""
    environment = ROWS.match(text)
    if environment is None:
        return text
    inside = text[environment.end() :].rsplit(r"\end{", 1)[0]
    rows = [row.replace("&", " ").strip(TRAILING) for row in re.split(r"\\\\(?:\[[^\[\]]*\])?", inside)]
    rows = [row for row in rows if row.strip("\\ \n")]
    if not rows:
        return None
    names = {next(_members(row)).strip() for row in rows if NAME.fullmatch(next(_members(row)))}
    return None if len(names) > 1 else rows[-1]


def _members(text: str, separator: re.Pattern[str] = EQUAL) -> Iterator[str]:
    """The members of a chain of equalities or of a list, signs within brackets passed over."""
    depth = start = at = 0
    while at < len(text):
        char = text[at]
        if char in "{([":
            depth += 1
        elif char in "})]":
            depth -= 1
        elif depth <= 0 and (sign := separator.match(text, at)):
            yield text[start:at]
            start = at = sign.end()
            continue
        at += 2 if char == "\\" and not EQUAL.match(text, at) and text[at + 1 : at + 2] in "{}\\" else 1
    yield text[start:]


def _unsolved(members: list[str], cued: bool) -> bool:
    """Whether an equality is an equation in unknowns, and not a value given to an expression in them."""
    left, right = SUBSCRIPT.sub("", members[0]), members[-1].strip().rstrip(TRAILING)
    letters = set("".join(LETTER.findall(left)))
    if not letters:
        return bool(LETTER.search(right))
    several = len(letters) > 1 or len(set(SUBSCRIPT.findall(members[0]))) > 1
    if len(members) > 2 and not LETTER.search(right):
        return False
    if COEFFICIENT.search(left):
        return True
    return not APPLIED.search(left) and (
        not cued or not several or LETTER.search(right) is not None or right == "0"
    )
