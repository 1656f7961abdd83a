"""How small a constant can be without being zero, from the size of the expression that gives it.

For rationals and roots this is a theorem, the bound of Burnikel, Funke, Mehlhorn, Schirra and Schmitt: an
expression whose conjugates are below 2^a over a denominator below 2^b, and whose distinct roots multiply to
degree D, is zero or at least 2^-(a (D - 1) + b). For e, pi, logarithms and trigonometric functions no bound
is proved; the size of each constant and argument is added instead, several times over.
"""

from fractions import Fraction
from typing import NamedTuple

from promptdp.scoring.evaluate import Evaluator, UndefinedError
from promptdp.scoring.limits import BITS, LimitError
from promptdp.scoring.nodes import Node

CARE = 4
"""How many times the size of what has no proved bound is counted."""
LEAF = 8
"""Size of a constant, and of the application of a function."""


class Size(NamedTuple):
    """Bits of the numerator of every conjugate, and of the common denominator."""

    above: int
    below: int


def separation(node: Node, scout: Evaluator, closed: bool) -> int:
    """The bits after the binary point at which a value that is not zero shows.

    Args:
        node: an expression.
        scout: an evaluator that has evaluated it, at the place of interest.
        closed: it has no variables. Where it has, several places decide and the degree of roots is left out.

    Raises:
        LimitError: there are more than the caps allow.
    """
    measure = _Measure(scout, closed)
    size = measure.size(node)
    needed = (measure.degree - 1) * size.above + size.below + CARE * measure.unproved
    if needed > BITS:
        raise LimitError
    return needed


class _Measure:
    """One measurement: the degree of the distinct roots seen so far, and the size of what has no bound."""

    def __init__(self, scout: Evaluator, closed: bool):
        self.scout = scout
        self.closed = closed
        self.roots: set[Node] = set()
        self.degree = 1
        self.unproved = 0

    def size(self, node: Node) -> Size:
        """The size of an expression."""
        self.scout.budget.spend()
        if node.kind == "product":
            sizes = [self.size(child) for child in node.children]
            return Size(sum(size.above for size in sizes), sum(size.below for size in sizes))
        if node.kind == "sum":
            total = self.size(node.children[0])
            for size in map(self.size, node.children[1:]):
                above = max(total.above + size.below, size.above + total.below) + 1
                total = Size(above, total.below + size.below)
            return total
        if node.kind == "power":
            return self.power(*node.children)
        return self.leaf(node)

    def power(self, base: Node, exponent: Node) -> Size:
        """The size of a power: of the integer power, then of its root."""
        power = self.rational(exponent)
        if power is None or (power.denominator > 1 and not self.closed):
            return self.leaf(Node("power", children=(base, exponent)))
        above, below = self.size(base)
        above, below = abs(power.numerator) * above, abs(power.numerator) * below
        index = power.denominator
        if index > 1:
            self.root(base, index)
            if above >= below:
                above = -(-(above + (index - 1) * below) // index)
            else:
                below = -(-(below + (index - 1) * above) // index)
        return Size(below, above) if power < 0 else Size(above, below)

    def root(self, base: Node, index: int) -> None:
        """Count the degree of a root of a constant; the same root again adds none."""
        if not self.closed:
            return
        self.scout.budget.spend(base.size)
        root = Node("root", str(index), (base,))
        if root not in self.roots:
            self.roots.add(root)
            self.degree *= index
        if self.degree > BITS:
            raise LimitError

    def leaf(self, node: Node) -> Size:
        """The size of what is no sum, product or rational power."""
        try:
            value = self.scout.value(node)
        except UndefinedError:
            raise LimitError from None
        if isinstance(value, Fraction):
            return Size(_log(abs(value.numerator)), _log(value.denominator))
        sizes = [self.size(child) for child in node.children]
        if node.kind == "symbol" and node.name == "i":
            self.root(node, 2)
            return Size(0, 0)
        if node.kind == "call" and node.name in ("abs", "max", "min"):
            if not all(self.scout.is_real(self.scout.value(child)) for child in node.children):
                # The absolute value of a complex number is a root of the product with its conjugate.
                self.root(node, 2)
            return Size(max(size.above for size in sizes), sum(size.below for size in sizes))
        self.unproved += LEAF + sum(map(sum, sizes))
        if node.name == "tanh":
            # It nears 1 as a power of e does 0, which no number met so far shows.
            self.unproved += int(self.scout.mp.ceil(abs(self.scout.value(node.children[0]))))
        magnitude = int(self.scout.mp.mag(value)) if value else 0
        return Size(max(magnitude, 0) + 1, max(-magnitude, 0) + 1)

    def rational(self, node: Node) -> Fraction | None:
        """The value of an exponent if it is an exact rational."""
        try:
            value = self.scout.value(node)
        except UndefinedError:
            return None
        return value if isinstance(value, Fraction) else None


def _log(value: int) -> int:
    """The binary logarithm of a natural number, rounded up; 0 of 0."""
    return max(0, value - 1).bit_length()
