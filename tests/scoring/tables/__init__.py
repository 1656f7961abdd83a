"""Tables of cases for the scoring rules, and what every table promises of its cases."""

import re


def alike_but_for_numbers(text: str) -> str:
    """The text with every run of digits replaced by one letter.

    Two cases that agree here differ in numbers only, so they test one kind of answer twice.
    """
    return re.sub(r"\d+", "N", text)
