r"""The tokens of an answer in LaTeX or in plain signs."""

import re
from typing import NamedTuple

from promptdp.scoring.boxes import closing_brace
from promptdp.scoring.limits import ANSWER_CHARACTERS, DIGITS, LimitError
from promptdp.scoring.units import canonical_word
from promptdp.scoring.vocabulary import vocabulary


class Token(NamedTuple):
    """A piece of an answer.

    kind is one of: number, repeating (`0.1\\overline{6}`), letter, command, sign, text, separator (`,`,
    `and`, `or`).
    """

    kind: str
    text: str


SIGNS = {
    "−": "-", "–": "-", "⁻": "^-", "×": r"\cdot ", "·": r"\cdot ", "⋅": r"\cdot ", "∙": r"\cdot ",
    "÷": "/", "⁄": "/",
    "π": r"\pi ", "√": r"\sqrt ", "∞": r"\infty ", "≤": r"\le ", "≥": r"\ge ", "⩽": r"\le ", "⩾": r"\ge ",
    "≠": r"\ne ", "≈": r"\approx ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ", "ℝ": r"\mathbb{R}",
    "∅": r"\emptyset ",
    "±": r"\pm ", "∓": r"\mp ", "°": r"^\circ ", "²": "^2", "³": "^3", "¹": "^1", "⁰": "^0",
    "⁴": "^4", "⁵": "^5",
    "⁶": "^6", "⁷": "^7", "⁸": "^8", "⁹": "^9", "½": r"\frac12 ", "¼": r"\frac14 ", "¾": r"\frac34 ",
    "⅓": r"\frac13 ", "⅔": r"\frac23 ", "θ": r"\theta ", "α": r"\alpha ", "β": r"\beta ", "…": r"\ldots ",
    "’": "'", "′": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " ", "，": ",", "（": "(",
    "）": ")", "：": ":", "∶": ":", "£": r"\pounds ", "€": r"\euro ", "¥": r"\yen ", "⌊": r"\lfloor ",
    "⌋": r"\rfloor ",     "⌈": r"\lceil ", "⌉": r"\rceil ",
}  # fmt: skip
PLAIN = str.maketrans(SIGNS)

LAYOUT = vocabulary(
    r"\left \right \displaystyle \textstyle \scriptstyle \limits \nolimits \quad \qquad \big \Big \bigg "
    r"\Bigg \bigl \bigr \Bigl \Bigr \biggl \biggr \! \, \; \: \> \  \( \) \[ \] \hspace \vspace \boxed \fbox "
    r"\mathbf \boldsymbol \bm \mathit \mathcal \mathsf \underline \mathop \ensuremath \rm \bf \it \hfill "
    r"\middle \noindent \small \large"
) | {"\\ "}
TEXTUAL = {
    r"\text",
    r"\mbox",
    r"\textbf",
    r"\textrm",
    r"\textit",
    r"\textnormal",
    r"\textsf",
    r"\texttt",
    r"\hbox",
}
DISPLAYS = vocabulary("align aligned alignat equation gather gathered split displaymath math")
UPRIGHT = {r"\mathrm", r"\operatorname"}
SAME = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac", r"\dbinom": r"\binom",
    r"\tbinom": r"\binom",
    r"\leq": r"\le", r"\leqslant": r"\le", r"\geq": r"\ge", r"\geqslant": r"\ge", r"\lt": "<", r"\gt": ">",
    r"\neq": r"\ne", r"\times": r"\cdot", r"\div": "/", r"\lbrace": r"\{", r"\rbrace": r"\}", r"\lbrack": "[",
    r"\rbrack": "]", r"\vert": "|", r"\lvert": "|", r"\rvert": "|", r"\mid": "|", r"\dots": r"\ldots",
    r"\cdots": r"\ldots", r"\land": "and", r"\wedge": "and", r"\lor": "or", r"\vee": "or",
    r"\backslash": r"\setminus",
    r"\varnothing": r"\emptyset", r"\degree": r"\circ", r"\simeq": r"\approx", r"\doteq": r"\approx",
    r"\colon": ":", r"\lparen": "(", r"\rparen": ")", r"\tg": r"\tan", r"\ctg": r"\cot", r"\lg": r"\log",
    r"\Longrightarrow": r"\implies", r"\Rightarrow": r"\implies", r"\iff": r"\implies", r"\langle": "(",
    r"\rangle": ")", r"\star": "*", r"\ast": "*", r"\dollar": r"\$", r"\sim": r"\approx",
}  # fmt: skip
PLAIN_COMMANDS = vocabulary(
    "sin cos tan sec csc cot arcsin arccos arctan sinh cosh tanh log ln exp sqrt pi infty theta alpha beta"
)
NUMERAL = re.compile(
    r"[0-9]{1,3}(?:(?:,\\!\s?|\s?\{\s?,\s?\}\s?|\\[,;:! ]| )[0-9]{3})+(?![0-9])(?:\.[0-9]+)?"
    r"|[0-9]+(?:\.[0-9]+)?|\.[0-9]+"
)
COMMAS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?")
REPEATING = re.compile(r"[0-9]*\.[0-9]*\\(?:overline|bar|dot)\s?\{?[0-9]+\}?")
COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)", re.DOTALL)
WORD = re.compile(r"[A-Za-z]{2,}")
ORDINAL = re.compile(r"(?:st|nd|rd|th)(?![A-Za-z])")
JOIN = re.compile(r"[\s,;.]*(?:and|or|and/or|&)[\s,;]*|\s*[,;]\s*", re.IGNORECASE)
CLOCK = re.compile(r"\b([ap])\.\s?m\b\.?", re.IGNORECASE)


def separator(text: str) -> Token:
    """The separator that a joining word or a comma is."""
    return Token(
        "separator", "or" if "or" in text.lower() else "and" if re.search("and|&", text, re.I) else ","
    )


def is_word(word: str) -> bool:
    """Whether a run of letters is a word (a unit, a name) rather than a product of variables."""
    return canonical_word(word) is not None or (
        len(word) >= 4 and any(letter in "aeiouyAEIOUY" for letter in word) and not word.isupper()
    )


def text_token(content: str) -> Token:
    """The token of the content of a text command."""
    return separator(content) if JOIN.fullmatch(content) else Token("text", " ".join(content.split()))


def tokenize(source: str, commas_group: bool = True) -> list[Token]:
    """The tokens of an answer, spacing and layout dropped.

    Args:
        source: the answer.
        commas_group: read `1,234` outside brackets as one number, rather than as two.

    Raises:
        LimitError: the answer or a numeral is longer than the caps.
    """
    if len(source) > ANSWER_CHARACTERS:
        raise LimitError
    text = CLOCK.sub(r"\1m", source.translate(PLAIN))
    tokens: list[Token] = []
    at = depth = 0
    while at < len(text):
        char = text[at]
        if char.isspace() or char in "$~`":
            at += 1
        elif text.startswith("...", at):
            tokens.append(Token("command", r"\ldots"))
            at += 3
        elif match := REPEATING.match(text, at):
            tokens.append(Token("repeating", match[0]))
            at = match.end()
        elif char in "0123456789." and (
            match := (COMMAS.match(text, at) if commas_group and depth == 0 else None)
            or NUMERAL.match(text, at)
        ):
            if len(match[0]) > DIGITS:
                raise LimitError
            tokens.append(Token("number", re.sub(r"[^0-9.]", "", match[0])))
            at = match.end()
            if ordinal := ORDINAL.match(text, at):
                at = ordinal.end()
        elif char == "\\":
            before = len(tokens)
            at = _command(text, at, tokens)
            depth += sum((token.text == r"\{") - (token.text == r"\}") for token in tokens[before:])
        elif match := WORD.match(text, at):
            tokens.extend(_word(match[0]))
            at = match.end()
        elif char.isalpha():
            tokens.append(Token("letter", char))
            at += 1
        else:
            depth += (char in "([") - (char in ")]")
            tokens.append(separator(char) if char in ",;" else Token("sign", char))
            at += 1
    while tokens and (tokens[-1].kind == "separator" or tokens[-1].text == "."):
        tokens.pop()
    return tokens


def _command(text: str, at: int, tokens: list[Token]) -> int:
    """Append the tokens of the command at a place and return where the text goes on."""
    match = COMMAND.match(text, at)
    if match is None:
        return at + 1
    name, end = match[0], match.end()
    name = SAME.get(name, name)
    if name in LAYOUT:
        return end
    if name in TEXTUAL | UPRIGHT | {r"\phantom", r"\mathbb", r"\begin", r"\end", r"\color", r"\textcolor"}:
        opening = re.compile(r"\*?\s*\{").match(text, end)
        closing = closing_brace(text, opening.end() - 1) if opening else None
        if opening is None or closing is None:
            hidden = re.compile(r"\s*\S").match(text, end) if name == r"\phantom" else None
            return hidden.end() if hidden else end
        content = text[opening.end() : closing]
        if name in TEXTUAL:
            tokens.append(text_token(content))
        elif name in UPRIGHT:
            upright = content.strip(" ~")
            if not upright:
                return closing + 1
            function = f"\\{upright}" if upright in PLAIN_COMMANDS else None
            unit = (
                len(upright) > 1
                or upright != content
                or (tokens and tokens[-1].kind == "number" and upright in "mgshL")
            )
            tokens.append(
                Token("command", function)
                if function
                else text_token(upright.replace("~", " "))
                if unit
                else Token("letter", upright)
            )
        elif name in (r"\mathbb", r"\begin", r"\end") and content.strip(" *") not in DISPLAYS:
            tokens.append(Token("command", f"{name}{{{content.strip()}}}"))
        return closing + 1
    if name in ("and", "or"):
        tokens.append(separator(name))
    elif name == r"\\":
        tokens.append(Token("command", name))
    elif name in (r"\%", r"\&", r"\#", r"\_", r"\|"):
        tokens.append(Token("sign", name[1]) if name != r"\&" else separator("&"))
    else:
        tokens.append(Token("command" if name.startswith("\\") else "sign", name))
    return end


def _word(word: str) -> list[Token]:
    """The tokens of a run of plain letters: a joining word, a function, a word, or single letters."""
    if word.lower() in ("and", "or"):
        return [separator(word)]
    if word in PLAIN_COMMANDS:
        return [Token("command", f"\\{word}")]
    if word.lower() in ("infinity", "inf"):
        return [Token("command", r"\infty")]
    if is_word(word):
        return [Token("text", word)]
    return [Token("letter", letter) for letter in word]
