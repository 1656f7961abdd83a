r"""The tokens of an answer in LaTeX or in plain signs."""

import re
from typing import NamedTuple

from promptdp.scoring.boxes import closing_brace
from promptdp.scoring.limits import ANSWER_CHARACTERS, DIGITS, LimitError
from promptdp.scoring.notation import (
    BLACKBOARD,
    DISPLAYS,
    HIDING,
    IGNORED,
    LAYOUT,
    OPERATORS,
    PLAIN_COMMANDS,
    SAME,
    SIGNS,
    SPOKEN,
    TEXTUAL,
    UPRIGHT,
    UPRIGHT_COMMANDS,
)
from promptdp.scoring.units import LETTERS, canonical_word


class Token(NamedTuple):
    """A piece of an answer.

    kind is one of: number, repeating (`0.1\\overline{6}`), letter, command, sign, text, separator (`,`,
    `and`, `or`, `\\land`, `\\lor`).
    """

    kind: str
    text: str


PLAIN = str.maketrans(SIGNS)
NUMERAL = re.compile(
    r"[0-9]{1,3}(?:(?:,\\!\s?|\s?\{\s?,\s?\}\s?|\\[,;:! ]| )[0-9]{3})+(?![0-9])(?:\.[0-9]+)?"
    r"|[0-9]+(?:\.[0-9]+)?|\.[0-9]+"
)
COMMAS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?")
SCIENTIFIC = re.compile(r"([0-9]+(?:\.[0-9]+)?)(?:E([+-]?[0-9]{1,9})|e([0-9]{1,9})| x 10\^(?=[0-9{-]))(?!_)")
REPEATING = re.compile(r"[0-9]*\.[0-9]*\\(?:overline|bar|dot)\s?\{?[0-9]+\}?")
COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)", re.DOTALL)
WORD = re.compile(r"[A-Za-z]{2,}")
ORDINAL = re.compile(r"(?:\^\{?)?(?:st|nd|rd|th)\}?(?![A-Za-z])")
JOIN = re.compile(r"[\s,;.]*(?:and|or|and/or|&)[\s,;]*|\s*[,;]\s*", re.IGNORECASE)
CLOCK = re.compile(r"\b([ap])\.\s?m\b\.?", re.IGNORECASE)
EMPHASIS = re.compile(r"\s*\*\*([^*]+)\*\*\s*")
ROW_SPACE = re.compile(r"\s*\[\s*-?[0-9.]+\s*(?:pt|em|ex|mm|cm)\s*\]")
MIXED_TEXT = re.compile(r"\s*(?:[-+:.\\$]\s*)*[0-9]")
"""How a text begins that holds a number and words for it (`8 apples`, `:00 a.m.`)."""
RUN = re.compile(r"[A-Za-z][A-Za-z .,'/]*(?:\^\{?[0-9]\}?)?|[^A-Za-z]+")


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
    emphasis = EMPHASIS.fullmatch(source)
    text = CLOCK.sub(r"\1m", (emphasis[1] if emphasis else source).translate(PLAIN)).replace("{:}", ":")
    tokens: list[Token] = []
    at = depth = 0
    while at < len(text):
        char = text[at]
        if char.isspace() or char in IGNORED:
            at += 1
        elif text.startswith("...", at):
            tokens.append(Token("command", r"\ldots"))
            at += 3
        elif match := REPEATING.match(text, at):
            tokens.append(Token("repeating", match[0]))
            at = match.end()
        elif char in "0123456789." and (end := _numeral(text, at, tokens, commas_group and depth == 0)):
            at = end
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
        elif operator := _operator(text, at):
            tokens.append(Token("command" if operator[0] == "\\" else "sign", operator))
            at += 2
        else:
            depth += (char in "([") - (char in ")]")
            tokens.append(separator(char) if char in ",;" else Token("sign", char))
            at += 1
    while tokens and (tokens[-1].kind == "separator" or tokens[-1].text == "."):
        tokens.pop()
    return tokens


def _operator(text: str, at: int) -> str | None:
    """The operator of two signs at a place; `!=` is one where a space tells it from a factorial."""
    pair = text[at : at + 2]
    return r"\ne" if pair == "!=" and text[:at].endswith(" ") else OPERATORS.get(pair)


def _numeral(text: str, at: int, tokens: list[Token], commas_group: bool) -> int | None:
    """Append a numeral and return where the text goes on; None when there is none."""
    if match := SCIENTIFIC.match(text, at):
        exponent = match[2] or match[3]
        tokens += [Token("number", match[1]), Token("command", r"\times"), Token("number", "10")]
        tokens.append(Token("sign", "^"))
        if exponent is not None:
            braced = ["{", *(["-"] if exponent[0] == "-" else []), exponent.lstrip("+-"), "}"]
            tokens += [Token("number" if piece.isdigit() else "sign", piece) for piece in braced]
        return match.end()
    match = (COMMAS.match(text, at) if commas_group else None) or NUMERAL.match(text, at)
    if match is None:
        return None
    if len(match[0]) > DIGITS:
        raise LimitError
    tokens.append(Token("number", re.sub(r"[^0-9.]", "", match[0])))
    ordinal = ORDINAL.match(text, match.end())
    return ordinal.end() if ordinal else match.end()


def _command(text: str, at: int, tokens: list[Token]) -> int:
    """Append the tokens of the command at a place and return where the text goes on."""
    match = COMMAND.match(text, at)
    if match is None:
        return at + 1
    end = match.end()
    name = SAME.get(match[0], match[0])
    if name in LAYOUT:
        return end
    if name in TEXTUAL | UPRIGHT | HIDING | BLACKBOARD | {r"\begin", r"\end"}:
        return _with_argument(name, text, end, tokens)
    if name == r"\\":
        tokens.append(Token("command", name))
        space = ROW_SPACE.match(text, end)
        return space.end() if space else end
    if name in (r"\land", r"\lor"):
        tokens.append(Token("separator", name))
    elif name == r"\&":
        tokens.append(separator("&"))
    elif name == r"\degree":
        tokens += [Token("sign", "^"), Token("command", r"\circ")]
    elif name in (r"\%", r"\#", r"\_", r"\|"):
        tokens.append(Token("sign", name[1]))
    else:
        tokens.append(Token("command" if name.startswith("\\") else "sign", name))
    return end


def _with_argument(name: str, text: str, at: int, tokens: list[Token]) -> int:
    """Append the tokens of a command that a braced text follows and return where the text goes on."""
    opening = re.compile(r"\*?\s*\{").match(text, at)
    closing = closing_brace(text, opening.end() - 1) if opening else None
    if opening is None or closing is None:
        hidden = re.compile(r"\s*\S").match(text, at) if name in HIDING else None
        return hidden.end() if hidden else at
    content = text[opening.end() : closing]
    if name in TEXTUAL:
        tokens.extend(_text(content))
    elif name in UPRIGHT:
        tokens.extend(_upright(content, tokens))
    elif name in BLACKBOARD:
        tokens.append(Token("command", rf"\mathbb{{{content.strip()}}}"))
    elif name not in HIDING and content.strip(" *") not in DISPLAYS:
        tokens.append(Token("command", f"{name}{{{content.strip()}}}"))
    return closing + 1


def _text(content: str) -> list[Token]:
    """The tokens of the content of a text command: words, or what is written in text though it is none."""
    words = " ".join(content.split())
    if JOIN.fullmatch(content):
        return [separator(content)]
    if words in SPOKEN or words in PLAIN_COMMANDS - {"sec"}:
        return [Token("command", SPOKEN.get(words, f"\\{words}"))]
    if words == "to":
        return [Token("sign", ":")]
    if re.search(r"\\[A-Za-z]", content):
        return [Token("text", words)]
    if "=" in content or not any(char.isalpha() for char in content):
        return tokenize(content)
    if MIXED_TEXT.match(content):
        return [token for run in RUN.findall(content) for token in _run(run)]
    return [Token("text", words)]


def _run(run: str) -> list[Token]:
    """The tokens of a stretch of a text, all words or none."""
    return _text(run) if run[0].isalpha() else tokenize(run)


def _upright(content: str, before: list[Token]) -> list[Token]:
    """The tokens of upright letters: a function, a unit, a word, or one letter."""
    upright = content.strip(" ~")
    if upright in UPRIGHT_COMMANDS:
        return [Token("command", f"\\{upright}")]
    measured = bool(before) and (
        before[-1].kind == "number" or [token.kind for token in before[-2:]] == ["text", "sign"]
    )
    if (
        len(upright) == 1
        and upright.isalpha()
        and upright == content
        and not (measured and upright in LETTERS)
    ):
        return [Token("letter", upright)]
    return _text(upright.replace("~", " "))


def _word(word: str) -> list[Token]:
    """The tokens of a run of plain letters: a joining word, a function, a word, or single letters."""
    if word.lower() in ("and", "or"):
        return [separator(word)]
    if word in PLAIN_COMMANDS:
        return [Token("command", f"\\{word}")]
    if word.lower() in SPOKEN:
        return [Token("command", SPOKEN[word.lower()])]
    if is_word(word):
        return [Token("text", word)]
    return [Token("letter", letter) for letter in word]
