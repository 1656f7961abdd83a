r"""Answers in words: `\text{Evelyn}`, `(C)`, `I and II`, `four`."""

import re

WRAPPER = re.compile(
    r"\\(?:text|mbox|textbf|textrm|textit|textnormal|mathrm|mathbf|operatorname|left|right)(?![A-Za-z])\*?"
)
SEPARATOR = re.compile(r"[,;&]|\band\b|\bor\b")
WORD = re.compile(r"[^\W_]+")
CARDINALS = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty",
)
SYNONYMS = {
    "all real numbers": r"\mathbb{R}",
    "all reals": r"\mathbb{R}",
    "the empty set": r"\emptyset",
    "empty set": r"\emptyset",
} | {word: str(value) for value, word in enumerate(CARDINALS)}


def items(source: str) -> list[tuple[str, ...]]:
    """The words of each item of an answer, sorted, without case, punctuation or LaTeX wrappers."""
    text = re.sub(r"\\[,;:! ]|[{}$~]|\\(?![A-Za-z])", " ", WRAPPER.sub("", source)).lower()
    text = re.sub(r"\b([ap])\.\s?m\b\.?", r"\1m", text)
    return sorted(words for part in SEPARATOR.split(text) if (words := tuple(WORD.findall(part))))


def in_symbols(source: str) -> str:
    """An answer that is one phrase for a number or a set, in symbols; any other answer unchanged."""
    phrase = " ".join(" ".join(words) for words in items(source))
    return SYNONYMS.get(phrase, source)
