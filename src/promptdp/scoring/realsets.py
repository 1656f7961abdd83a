"""Sets of real numbers: intervals, finite sets, inequalities in one variable, and what is built from them.

Two sets are compared on the cells that their endpoints cut the line into: a set is decided by which points
and which gaps it holds, so that `x < 1` or `x > 2`, a union of intervals and a complement are one thing.
"""

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import pairwise
from operator import and_, or_

from promptdp.scoring.nodes import Node, number, symbol, walk

INFINITY = symbol(r"\infty")
ORDERED = {"<", "<=", ">", ">=", "!="}


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
        return all(is_set(child) for child in node.children)
    return node.kind == "relation" and bool(ORDERED & set(node.name.split())) and _variable(node) is not None


def _variable(relation: Node) -> Node | None:
    """The one variable that a chain of inequalities bounds."""
    symbols = {node for node in walk(relation) if node.kind in ("symbol", "opaque") and node != INFINITY}
    constants = {node for node in symbols if node.name in (r"\pi", "e")}
    free = symbols - constants
    bare = free & set(relation.children)
    return bare.pop() if len(free) == 1 and len(bare) == 1 else None


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
        above, below = ">=" if node.name[0] == "[" else ">", "<=" if node.name[1] == "]" else "<"
        return _related(above, low, rank) & _related(below, high, rank)
    if node.kind == "relation":
        return _chain(node, rank)
    parts = [cells(child, rank) for child in node.children]
    if node.kind == "intersection" or (node.kind == "list" and node.name == "and"):
        return reduce(and_, parts)
    if node.kind == "difference":
        return parts[0] & ~_union(parts[1:])
    return _union(parts)


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
        flipped = operator.translate(str.maketrans("<>", "><"))
        allowed &= _related(operator, right, rank) if left == variable else _related(flipped, left, rank)
    return allowed
