"""Sums, products, multiples and powers of matrices, written out as one matrix."""

from promptdp.scoring.limits import Budget
from promptdp.scoring.nodes import Node

POWERS = 10
"""Highest power of a matrix that is written out."""


def computed(node: Node, budget: Budget) -> Node:
    """The matrix that an expression of matrices is; any other node, or one that has no value, unchanged.

    Raises:
        LimitError: the work is too much.
    """
    if node.kind not in ("sum", "product", "power") or not _holds_matrix(node):
        return node
    parts = [computed(child, budget) for child in node.children]
    if node.kind == "power":
        base, exponent = parts
        times = exponent.value
        if times is None or times.denominator > 1 or not 1 <= times <= POWERS:
            return node
        parts = [base] * int(times)
    total = parts[0]
    for part in parts[1:]:
        combined = _sum(total, part) if node.kind == "sum" else _product(total, part, budget)
        if combined is None:
            return node
        total = combined
    return total


def _holds_matrix(node: Node) -> bool:
    return node.kind == "matrix" or (
        node.kind in ("sum", "product", "power") and any(map(_holds_matrix, node.children))
    )


def _matrix(rows: list[list[Node]]) -> Node:
    return Node("matrix", children=tuple(Node("row", children=tuple(row)) for row in rows))


def _rows(matrix: Node) -> list[tuple[Node, ...]]:
    return [row.children for row in matrix.children]


def _shape(matrix: Node) -> tuple[int, set[int]]:
    return len(matrix.children), {len(row.children) for row in matrix.children}


def _is_plain(node: Node) -> bool:
    """Whether a node is a matrix with rows of one length; a determinant is none."""
    return node.kind == "matrix" and not node.name and len(_shape(node)[1]) == 1


def _sum(ours: Node, theirs: Node) -> Node | None:
    if not (_is_plain(ours) and _is_plain(theirs) and _shape(ours) == _shape(theirs)):
        return None
    return _matrix(
        [
            [Node("sum", children=pair) for pair in zip(*rows, strict=True)]
            for rows in zip(_rows(ours), _rows(theirs), strict=True)
        ]
    )


def _product(ours: Node, theirs: Node, budget: Budget) -> Node | None:
    if not (_holds_matrix(ours) or _holds_matrix(theirs)):
        return Node("product", children=(ours, theirs))
    if not _holds_matrix(ours) or not _holds_matrix(theirs):
        scalar, matrix = (theirs, ours) if _holds_matrix(ours) else (ours, theirs)
        if not _is_plain(matrix):
            return None
        budget.spend(scalar.size * matrix.size)
        return _matrix([[Node("product", children=(scalar, cell)) for cell in row] for row in _rows(matrix)])
    if not (_is_plain(ours) and _is_plain(theirs) and _shape(ours)[1] == {len(theirs.children)}):
        return None
    columns = list(zip(*_rows(theirs), strict=True))
    budget.spend(ours.size * theirs.size)
    return _matrix(
        [
            [
                Node(
                    "sum",
                    children=tuple(Node("product", children=pair) for pair in zip(row, column, strict=True)),
                )
                for column in columns
            ]
            for row in _rows(ours)
        ]
    )
