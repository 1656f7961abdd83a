"""Caps on what a scorer does, checked before the work: over a cap an answer is "not equal, limit".

Nothing here is a clock: the same text meets the same cap on every machine.
"""

ANSWER_CHARACTERS = 2_000
"""Longest answer that is parsed."""
STATEMENT_CHARACTERS = 1_000
"""Longest stretch of prose searched for a stated value."""
NESTING = 40
"""Deepest nesting of groups, brackets, functions and exponents, counted where the parser descends."""
TREE_DEPTH = 60
"""Deepest tree of a parsed answer."""
DIGITS = 1_000
"""Most digits of one numeral."""
BITS = 14_000
"""Largest numerator or denominator, and largest power, in bits."""
OPERATIONS = 200_000
"""Most work in one comparison, counted in machine-word steps by `Budget`."""


class LimitError(Exception):
    """An answer asks for more work than the caps allow."""


class Budget:
    """The work that one comparison may still do."""

    def __init__(self, operations: int = OPERATIONS):
        self.left = operations

    def spend(self, operations: int = 1) -> None:
        """Count some operations before they are done.

        Raises:
            LimitError: more than are left.
        """
        self.left -= operations
        if self.left < 0:
            raise LimitError
