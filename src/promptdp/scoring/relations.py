"""Equality of relations: equations, inequalities, chains of them and other signs between expressions."""

from promptdp.scoring.applied import Same, as_letters
from promptdp.scoring.evaluate import CONSTANTS
from promptdp.scoring.forms import is_closed, substituted
from promptdp.scoring.limits import Budget
from promptdp.scoring.matching import matched
from promptdp.scoring.nodes import Node, negated, number, symbol, walk
from promptdp.scoring.points import POINTS, expressions, fixed_to_numbers, real_value

MIRRORED = str.maketrans("<>", "><")
"""What turns round when two members change places; a name without it is that of a symmetric sign."""
DIRECTED = {"in": "ni", "ni": "in", "notin": "notni"}
COMPARISONS = {"=", "!=", "<", "<=", ">", ">="}


def mirrored(name: str) -> str:
    """The signs of a relation read from right to left."""
    return " ".join(DIRECTED.get(sign, sign.translate(MIRRORED)) for sign in reversed(name.split()))


def relations(ours: Node, theirs: Node, same: Same, budget: Budget) -> bool:
    """Equality of two relations, up to direction and, of two members, a constant factor of both sides."""
    pairs = [(theirs.name, theirs.children), (mirrored(theirs.name), theirs.children[::-1])]
    for name, children in pairs:
        alike = ours.name == name and len(ours.children) == len(children)
        if alike and all(map(same, ours.children, children)):
            return True
    if ours.name == theirs.name and set(ours.name.split()) == {"="} and len(ours.children) > 2:
        return matched(ours.children, theirs.children, same)
    if len(ours.children) != 2 or len(theirs.children) != 2 or not {ours.name, theirs.name} <= COMPARISONS:
        return False
    return _proportional(ours, theirs, same, budget)


def _proportional(ours: Node, theirs: Node, same: Same, budget: Budget) -> bool:
    """Whether one comparison with zero is a multiple of the other, its sign turned if need be.

    The multiple is a constant or, of two equations, a product of variables that neither lets be zero
    (`xy = 1` and `y = 1/x`).
    """
    differences = tuple(
        Node("sum", children=(node.children[0], negated(node.children[1]))) for node in (ours, theirs)
    )
    left, right = as_letters(differences, same)
    if is_closed(left) or is_closed(right):
        return False
    if ours.name == theirs.name == "=":
        letters = {part.name for node in (left, right) for part in walk(node) if part.kind == "symbol"}
        for variable in sorted(letters - CONSTANTS):
            left, right = _cleared(left, right, symbol(variable), budget)
    for index in range(POINTS):
        at_left, at_right = (fixed_to_numbers(node, index) for node in (left, right))
        values = [real_value(node, budget) for node in (at_left, at_right)]
        if all(values):
            sign = ours.name if values[0] * values[1] > 0 else mirrored(ours.name)
            crossed, other = (Node("product", children=pair) for pair in ((left, at_right), (right, at_left)))
            return theirs.name == sign and expressions(crossed, other, budget)
    return False


def _cleared(left: Node, right: Node, variable: Node, budget: Budget) -> tuple[Node, Node]:
    """Two sides of which one is times a variable that is a divisor in it and cannot be zero in the other."""
    zero = [substituted(node, variable, number(0)) for node in (left, right)]
    lacking = [real_value(fixed_to_numbers(node, 0), budget) is None for node in zero]
    if lacking == [False, True] and _is_constant(zero[0], budget):
        return left, Node("product", children=(variable, right))
    if lacking == [True, False] and _is_constant(zero[1], budget):
        return Node("product", children=(variable, left)), right
    return left, right


def _is_constant(node: Node, budget: Budget) -> bool:
    """Whether an expression is one number everywhere, and not zero."""
    here = fixed_to_numbers(node, 0)
    return bool(real_value(here, budget)) and expressions(node, here, budget)
