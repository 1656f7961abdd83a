"""Forms of answers: what is constant, what is a name; plus-minus signs written out."""

from collections.abc import Iterator
from itertools import product

from promptdp.scoring.nodes import Node, nary, negated, number, replaced, symbol, walk

COMMUTING = {"sum", "product"}
SCALARS = COMMUTING | {"number", "symbol", "power", "call", "opaque", "percent", "degree"}
"""Kinds of which a product does not depend on the order; matrices are none."""
SIGNS = 4
"""Most plus-minus signs of one value that are written out."""
TRIGONOMETRIC = {"sin", "cos", "tan", "sec", "csc", "cot"}


def is_closed(node: Node) -> bool:
    """Whether an expression has no variables."""
    return not any(
        part.kind == "opaque" or (part.kind == "symbol" and part.name not in ("e", "i", r"\pi"))
        for part in walk(node)
    )


def is_name(node: Node) -> bool:
    """Whether an expression names a quantity, so that an equality says its value and is no equation.

    Names are letters, undefined functions, segments (`AB`) with their lengths and ratios, functions of
    angles (`\\cos A`), ratios and points of names. Sums and products of variables are none: `x + y = 1` is a
    line.
    """
    if node.kind == "symbol":
        return node.name not in ("e", "i", r"\pi", r"\infty", r"\ldots")
    if node.kind == "opaque" or _is_segment(node) or _is_application(node):
        return True
    if node.kind in ("ratio", "bracket"):
        return all(map(is_name, node.children))
    if node.kind == "call":
        return (node.name == "abs" or node.name in TRIGONOMETRIC) and _is_figure(node.children[0])
    if node.kind == "product":
        parts = [part.children[0] if part.kind == "power" else part for part in node.children]
        inverses = [part.children[1] == number(-1) for part in node.children if part.kind == "power"]
        return bool(inverses) and all(inverses) and all(_is_figure(part) for part in parts)
    return False


def _is_figure(node: Node) -> bool:
    """Whether a node is a segment, an angle or a vertex: capital letters, perhaps under a sign."""
    return _is_segment(node) or _is_capital(node) or (node.kind == "symbol" and " " in node.name)


def _is_segment(node: Node) -> bool:
    """Whether a product is only of capital letters."""
    return node.kind == "product" and all(map(_is_capital, node.children))


def _is_application(node: Node) -> bool:
    """Whether a product is a function's letter before its variable (`p(x)`, `V(t)`), or a measured angle."""
    if node.kind == "product" and node.children[0] == symbol("m") and len(node.children) == 2:
        return _is_figure(node.children[1])
    return (
        node.kind == "product"
        and len(node.children) == 2
        and all(child.kind == "symbol" and len(child.name) == 1 for child in node.children)
        and (_is_capital(node.children[0]) or node.children[0].name in "fghpqr")
    )


def _is_capital(node: Node) -> bool:
    """Whether a node is a capital letter, perhaps with primes."""
    return node.kind == "symbol" and len(name := node.name.rstrip("'")) == 1 and name.isupper()


def arranged(node: Node) -> str:
    """A text that two expressions share only if they are one but for the order of terms and of factors."""
    free = all(part.kind in SCALARS for part in walk(node))
    return _arranged(node, free)


def _arranged(node: Node, free: bool) -> str:
    parts = [_arranged(part, free) for part in _operands(node, node.kind)]
    if free and node.kind in COMMUTING:
        parts.sort()
    return f"{node.kind} {node.name!r} {node.value}({','.join(parts)})"


def _operands(node: Node, kind: str) -> list[Node]:
    """The children, those of an inner sum in a sum and of an inner product in a product included."""
    if kind not in COMMUTING:
        return list(node.children)
    return [
        part
        for child in node.children
        for part in (_operands(child, kind) if child.kind == kind else [child])
    ]


def substituted(node: Node, letter: Node, value: Node) -> Node:
    """An expression with a value in place of a letter."""
    return replaced(node, "symbol", lambda part: value if part == letter else part)


def expanded(node: Node) -> Node:
    """The node with each value that holds plus-minus signs written as its values."""
    if node.kind in ("list", "set"):
        children = [part for child in node.children for part in signed(child)]
        return Node(node.kind, node.name, tuple(children))
    return nary("list", signed(node), "and" if node.kind == "relation" and node.name == "!=" else "or")


def signed(node: Node) -> list[Node]:
    """The values of an expression with plus-minus signs, or the expression itself.

    Several plus signs over minus are free of one another; a minus over plus ties all signs.
    """
    names = [part.name for part in walk(node) if part.kind == "plus_minus"]
    if not names or len(names) > SIGNS:
        return [node]
    if node.kind == "relation" and node.name == "=":
        return [Node("relation", "=", (node.children[0], value)) for value in signed(node.children[1])]
    free = "-" not in names
    choices = product("+-", repeat=len(names)) if free else [[sign] * len(names) for sign in "+-"]
    return [_with_signs(node, iter(choice)) for choice in choices]


def _with_signs(node: Node, signs: Iterator[str]) -> Node:
    """The expression with the next of some signs at each of its plus-minus signs."""
    return replaced(
        node,
        "plus_minus",
        lambda part: part.children[0] if part.name == next(signs) else negated(part.children[0]),
    )
