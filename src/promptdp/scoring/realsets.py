"""Sets of real numbers: intervals, finite sets, inequalities in one variable, and what is built from them.

Two sets are compared on the cells that their endpoints cut the line into: a set is decided by which points
and which gaps it holds, so that `x < 1` or `x > 2`, a union of intervals and a complement are one thing.
"""

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import pairwise
from operator import and_, or_

from promptdp.scoring.nodes import Node, nary, negated, number, symbol

INFINITY = symbol(r"\infty")
ORDERED = {"<", "<=", ">", ">=", "!="}
MIRRORED = str.maketrans("<>", "><")
CONSTANTS = {symbol(name) for name in ("e", r"\pi", r"\infty", "i")}


class NotASetError(Exception):
    """The answer is no set of reals."""


def is_infinite(node: Node) -> int:
    """+1 or -1 for an infinity, else 0."""
    if node == INFINITY:
        return 1
    return -1 if node.kind == "product" and node.children == (number(-1), INFINITY) else 0


def is_set(node: Node) -> bool:
    """Whether an answer is written as a set of reals, by more than a pair of round brackets."""
    if node.kind in ("union", "intersection", "difference", "reals", "empty"):
        return True
    if node.kind == "bracket":
        return len(node.children) == 2 and node.name != "()"
    if node.kind == "list":
        return all(map(is_set, node.children)) and len(_variables(node)) <= 1
    return node.kind == "relation" and bool(ORDERED & set(node.name.split())) and _variable(node) is not None


def _variables(node: Node) -> set[Node | None]:
    """The variables that the inequalities of a list bound."""
    if node.kind == "list":
        return {variable for child in node.children for variable in _variables(child)}
    return {_variable(node)} if node.kind == "relation" else set()


def _variable(relation: Node) -> Node | None:
    """The one variable that a chain of inequalities bounds: a letter, or what an undefined function gives."""
    free = _free(relation)
    bare = free & set(relation.children)
    return bare.pop() if len(free) == 1 and len(bare) == 1 else None


def _free(node: Node) -> set[Node]:
    """The variables of an expression; an undefined function is one as a whole."""
    if node.kind == "opaque" or (node.kind == "symbol" and node not in CONSTANTS):
        return {node}
    return {part for child in node.children for part in _free(child)}


def solved(node: Node) -> Node:
    """Inequalities with the absolute value of a variable, as inequalities of the variable."""
    if node.kind == "list":
        return Node("list", node.name, tuple(map(solved, node.children)))
    if node.kind != "relation" or not any(_distance(child) for child in node.children):
        return node
    links = zip(node.name.split(), pairwise(node.children), strict=True)
    return nary("list", [_without_bars(sign, *sides) for sign, sides in links], "and")


def _without_bars(sign: str, left: Node, right: Node) -> Node:
    """One comparison, with the two bounds of the variable if one side is its distance from a constant."""
    if _distance(right):
        sign, left, right = sign.translate(MIRRORED), right, left
    found = _distance(left)
    if found is None or sign not in ORDERED:
        return Node("relation", sign, (left, right))
    variable, center = found
    low, high = (Node("sum", children=(center, end)) for end in (negated(right), right))
    if sign in ("<", "<="):
        return Node("relation", f"{sign} {sign}", (low, variable, high))
    other = sign.translate(MIRRORED)
    sides = Node("relation", other, (variable, low)), Node("relation", sign, (variable, high))
    return Node("list", "and" if sign == "!=" else "or", sides)


def _distance(node: Node) -> tuple[Node, Node] | None:
    """The variable and the constant whose distance an absolute value is (`|x|`, `|x - 2|`, `|2 - x|`)."""
    if node.kind != "call" or node.name != "abs":
        return None
    terms = node.children[0].children if node.children[0].kind == "sum" else node.children
    rest = [term for term in terms if _free(term)]
    if len(rest) != 1:
        return None
    constants = [term for term in terms if term != rest[0]]
    opposite = (
        rest[0].kind == "product" and rest[0].children[:1] == (number(-1),) and len(rest[0].children) == 2
    )
    variable = rest[0].children[1] if opposite else rest[0]
    if _free(variable) != {variable}:
        return None
    constant = nary("sum", constants) if constants else number(0)
    return variable, constant if opposite else negated(constant)


def endpoints(node: Node) -> list[Node]:
    """The finite endpoints and isolated points of a set.

    Raises:
        NotASetError: it is no set of reals.
    """
    if node.kind in ("reals", "empty"):
        return []
    if node.kind in ("union", "intersection", "difference", "list"):
        return [end for child in node.children for end in endpoints(child)]
    if node.kind == "bracket" and len(node.children) == 2:
        return [child for child in node.children if not is_infinite(child)]
    if node.kind == "set":
        return list(node.children)
    if node.kind == "relation":
        variable = _variable(node)
        if variable is None:
            raise NotASetError
        return [child for child in node.children if child != variable and not is_infinite(child)]
    raise NotASetError


def cells(node: Node, rank: Callable[[Node], int]) -> int:
    """The cells of a set as the bits of an integer, given the odd cell number of each endpoint.

    Gaps have even numbers, from 0 on the far left. A negative integer has all bits from some place on: its
    set is unbounded on the right. The operations of sets are then those of the bits.

    Raises:
        NotASetError: it is no set of reals.
    """
    if node.kind == "reals":
        return -1
    if node.kind == "empty":
        return 0
    if node.kind == "set":
        return _union(_related("=", end, rank) for end in node.children)
    if node.kind == "bracket" and len(node.children) == 2:
        low, high = node.children
        if not _ordered(node, rank):
            raise NotASetError
        above, below = ">=" if node.name[0] == "[" else ">", "<=" if node.name[1] == "]" else "<"
        return _related(above, low, rank) & _related(below, high, rank)
    if node.kind == "relation":
        return _chain(node, rank)
    parts = [cells(child, rank) for child in node.children]
    # Inequalities with commas between them that one or another number always meets are meant together.
    together = node.kind == "list" and node.name == "," and _union(parts) == -1
    if together or node.kind == "intersection" or (node.kind == "list" and node.name == "and"):
        return reduce(and_, parts)
    if node.kind == "difference":
        return parts[0] & ~_union(parts[1:])
    return _union(parts)


def _ordered(interval: Node, rank: Callable[[Node], int]) -> bool:
    """Whether the ends of an interval are in order, and open at an infinity."""
    low, high = interval.children
    infinite = is_infinite(low), is_infinite(high)
    if any(infinite):
        return (infinite[0], interval.name[0]) in ((-1, "("), (0, "("), (0, "[")) and (
            infinite[1],
            interval.name[1],
        ) in ((1, ")"), (0, ")"), (0, "]"))
    return rank(low) < rank(high) or (rank(low) == rank(high) and interval.name == "[]")


def _union(parts: Iterable[int]) -> int:
    """The cells of any part."""
    return reduce(or_, parts, 0)


def _related(operator: str, end: Node, rank: Callable[[Node], int]) -> int:
    """The cells in a relation to an endpoint; no cell is at an infinity."""
    infinite = is_infinite(end)
    point = 0 if infinite else 1 << rank(end)
    below = point - 1 if not infinite else -1 if infinite > 0 else 0
    return {
        "<": below, "<=": below | point, "=": point, "!=": ~point, ">": ~(below | point), ">=": ~below
    }[operator]  # fmt: skip


def _chain(relation: Node, rank: Callable[[Node], int]) -> int:
    """The cells that a chain of comparisons with one variable allows."""
    variable = _variable(relation)
    if variable is None:
        raise NotASetError
    allowed = -1
    for operator, (left, right) in zip(relation.name.split(), pairwise(relation.children), strict=True):
        if (left == variable) == (right == variable) or operator not in ORDERED | {"="}:
            raise NotASetError
        flipped = operator.translate(MIRRORED)
        allowed &= _related(operator, right, rank) if left == variable else _related(flipped, left, rank)
    return allowed
