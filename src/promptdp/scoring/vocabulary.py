"""Sets of words, written as running text."""


def vocabulary(text: str) -> frozenset[str]:
    """The set of the words of a text."""
    return frozenset(text.split())
