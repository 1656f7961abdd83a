"""A stricter rule for multiple choice: a response that mentions a second option letter gives no answer.

It is no opinion on what a response means, but a bound: the published extractor left more than a third of the
base model's responses unread (Appendix E-B), as a rule of this kind would.
"""

import re

PROSE = r"(?!\s+(?!(?:is|was|or|and|because|since|as|but|would|seems)\b)[a-z])"
LETTER = re.compile(rf"(?<![\w'’])(?:[B-E]|A{PROSE})(?![\w'’])|\((?P<small>[a-e])\)")


def letters(response: str) -> set[str]:
    """The option letters that stand alone in a response; the article "A" before a word is none."""
    return {(match["small"] or match[0]).upper() for match in LETTER.finditer(response)}


def recognises(response: str, extracted: str | None) -> bool:
    """Whether the stricter rule takes the letter that a rule extracted."""
    return extracted is not None and letters(response) <= {extracted}
