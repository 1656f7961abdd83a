r"""Answers in words: `\text{Evelyn}`, `(C)`, `I and II`, `four`."""

import re

from promptdp.scoring.vocabulary import vocabulary

WRAPPER = re.compile(
    r"\\(?:text|mbox|textbf|textrm|textit|textnormal|mathrm|mathbf|operatorname|left|right)(?![A-Za-z])\*?"
)
SEPARATOR = re.compile(r"[,;&]|\band\b|\bor\b")
WORD = re.compile(r"(?:(?<![^\W_])-)?[0-9]+(?:[.:/][0-9]+)*|(?<!\w)-(?=\s*[a-z]\b)|[=+^<>]|[^\W\d_]+")
"""A word, a number with its sign, or a sign of mathematics, which makes words other words."""
ARTICLE = re.compile(r"\b(?:[Tt]he|[Aa]n|a)\s+(?=[A-Za-z]{3})")
CHOICE = re.compile(r"\b(?:choice|option)\s+(?=\(?[a-j]\b)")
UNITS = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
)
TENS = re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")
NUMBER_WORDS = vocabulary(" ".join(UNITS + TENS))
MULTIPLIERS = {
    "dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12
}  # fmt: skip
SYNONYMS = {
    "all real numbers": r"\mathbb{R}",
    "all reals": r"\mathbb{R}",
    "real numbers": r"\mathbb{R}",
    "all integers": r"\mathbb{Z}",
    "empty set": r"\emptyset",
    "no solution": r"\emptyset",
    "no solutions": r"\emptyset",
    "no real solutions": r"\emptyset",
}


def items(source: str) -> list[tuple[str, ...]]:
    """The words of each item of an answer, sorted, without case, punctuation, articles or LaTeX wrappers.

    A choice between items is not all of them: a last item says `or` where the answer does.
    """
    text = ARTICLE.sub("", re.sub(r"\\[,;:! ]|[{}$~]|\\(?![A-Za-z])", " ", WRAPPER.sub("", source)))
    text = CHOICE.sub("", re.sub(r"\b([ap])\.\s?m\b\.?", r"\1m", text.lower()))
    found = sorted(words for part in SEPARATOR.split(text) if (words := tuple(WORD.findall(part))))
    return [*found, ("or",)] if re.search(r"\bor\b", text) else found


def cardinal(words: list[str]) -> int | None:
    """The natural number that words say (`twenty one`, `two hundred and five`); None when they say none."""
    total = group = 0
    previous = 1000
    for word in words:
        if word in UNITS and previous >= (20 if UNITS.index(word) < 10 else 100):
            previous = UNITS.index(word)
            group += previous
        elif word in TENS and previous >= 100:
            previous = 20
            group += 20 + 10 * TENS.index(word)
        elif word == "hundred" and 0 < group < 10:
            previous, group = 100, group * 100
        elif word in MULTIPLIERS and word not in ("hundred", "dozen") and group:
            total, group, previous = total + group * MULTIPLIERS[word], 0, 1000
        elif word != "and" or previous < 100:
            return None
    return total + group if words and words[-1] != "and" and words[0] != "and" else None


def in_symbols(source: str) -> str:
    """An answer that is one phrase for a number or a set, in symbols; any other answer unchanged."""
    phrase = [word for item in items(source) for word in item]
    if words := SYNONYMS.get(" ".join(phrase)):
        return words
    spoken = re.sub(r"\\[A-Za-z]+|[{}$~.-]", " ", source).lower().split()
    value = cardinal(spoken)
    return source if value is None else str(value)
