"""Caps on what a scorer does, checked before the work: over a cap an answer is "not equal, limit".

Nothing here is a clock: the same text meets the same cap on every machine. An operation is one step of a
loop: a character passed over, a token taken, a node visited, 256 bits of a number worked on.
"""

RESPONSE_CHARACTERS = 200_000
"""Longest response that is read: fifty times what the longest token cap of the paper allows."""
READING = 1_800_000
"""Most work in reading one response; the longest one is passed over nine times at most."""

ANSWER_CHARACTERS = 2_000
"""Longest answer that is parsed."""
STATEMENT_CHARACTERS = 1_000
"""Longest stretch of prose searched for a stated value."""
NEARBY_CHARACTERS = 400
"""Longest stretch before a statement that is read for what makes it none."""
LATER_CHARACTERS = 2_000
"""Longest stretch after a statement that is read for what withdraws it."""
NESTING = 40
"""Deepest nesting of groups, brackets, functions and exponents, counted where the parser descends."""
TREE_DEPTH = 60
"""Deepest tree of a parsed answer."""
DIGITS = 1_000
"""Most digits of one numeral."""
BITS = 14_000
"""Largest numerator or denominator, and largest power, in bits."""
OPERATIONS = 200_000
"""Most work in one comparison."""


class LimitError(Exception):
    """An answer asks for more work than the caps allow."""


class Budget:
    """The work done so far, and the most that may be done."""

    def __init__(self, most: int = OPERATIONS):
        self.most = most
        self.spent = 0

    def spend(self, operations: int = 1) -> None:
        """Count some operations before they are done.

        Raises:
            LimitError: they would be more than the most that may be done; they are not counted then.
        """
        if self.spent + operations > self.most:
            raise LimitError
        self.spent += operations

    def read(self, text: str) -> None:
        """Count one pass over a text.

        Raises:
            LimitError: as `spend`.
        """
        self.spend(len(text))
