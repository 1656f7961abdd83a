"""Sets of real numbers: intervals, finite sets, inequalities in one variable, and what is built from them.

Two sets are compared on the cells that their endpoints cut the line into: a set is decided by which points
and which gaps it holds, so that `x < 1` or `x > 2`, a union of intervals and a complement are one thing.
"""

from collections.abc import Callable
from itertools import pairwise

from promptdp.scoring.nodes import Node, number, symbol, walk

INFINITY = symbol(r"\infty")
ORDERED = {"<", "<=", ">", ">=", "!="}
Cell = int
Membership = Callable[[Cell], bool]


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


def membership(node: Node, rank: Callable[[Node], int]) -> Membership:
    """The cells of a set, given the odd cell number of each endpoint (gaps have even numbers).

    Raises:
        NotASetError: it is no set of reals.
    """

    def place(end: Node) -> int:
        infinite = is_infinite(end)
        return rank(end) if not infinite else infinite * (1 << 30)

    if node.kind == "reals":
        return lambda cell: True
    if node.kind == "empty":
        return lambda cell: False
    if node.kind == "set":
        points = {place(child) for child in node.children}
        return lambda cell: cell in points
    if node.kind == "bracket" and len(node.children) == 2:
        low, high = (place(child) for child in node.children)
        closed = {low} if node.name[0] == "[" else set()
        closed |= {high} if node.name[1] == "]" else set()
        return lambda cell: low < cell < high or (cell in closed and low <= cell <= high)
    if node.kind == "relation":
        return _chain(node, place)
    parts = [membership(child, rank) for child in node.children]
    if node.kind == "intersection" or (node.kind == "list" and node.name == "and"):
        return lambda cell: all(part(cell) for part in parts)
    if node.kind == "difference":
        return lambda cell: parts[0](cell) and not any(part(cell) for part in parts[1:])
    return lambda cell: any(part(cell) for part in parts)


def _chain(relation: Node, place: Callable[[Node], int]) -> Membership:
    """The cells that a chain of comparisons with one variable allows."""
    variable = _variable(relation)
    if variable is None:
        raise NotASetError
    tests: list[tuple[str, int]] = []
    for operator, (left, right) in zip(relation.name.split(), pairwise(relation.children), strict=True):
        if (left == variable) == (right == variable) or operator not in ORDERED | {"="}:
            raise NotASetError
        flipped = operator.translate(str.maketrans("<>", "><"))
        tests.append((operator, place(right)) if left == variable else (flipped, place(left)))
    holds: dict[str, Callable[[int, int], bool]] = {
        "<": lambda cell, end: cell < end,
        "<=": lambda cell, end: cell <= end,
        ">": lambda cell, end: cell > end,
        ">=": lambda cell, end: cell >= end,
        "!=": lambda cell, end: cell != end,
        "=": lambda cell, end: cell == end,
    }
    return lambda cell: all(holds[operator](cell, end) for operator, end in tests)
