"""Forms of answers: what is constant, what is a name; plus-minus signs and scalars written out."""

from functools import partial

from promptdp.scoring.nodes import Node, nary, negated, replaced, walk


def is_closed(node: Node) -> bool:
    """Whether an expression has no variables."""
    return not any(
        part.kind == "opaque" or (part.kind == "symbol" and part.name not in ("e", "i", r"\pi"))
        for part in walk(node)
    )


def is_name(node: Node) -> bool:
    """Whether an expression can name what an equality gives: letters, their products, sums and lengths."""
    if node.kind == "opaque":
        return True
    if node.kind == "symbol":
        return node.name not in ("e", r"\pi", r"\infty")
    if node.kind in ("product", "sum", "ratio", "bracket") or (node.kind == "call" and node.name == "abs"):
        return all(is_name(child) for child in node.children)
    return False


def expanded(node: Node) -> Node:
    """The node with each value that holds a plus-minus sign written as its two values."""
    if node.kind in ("list", "set"):
        children = [part for child in node.children for part in both_signs(child)]
        return Node(node.kind, node.name, tuple(children))
    return nary("list", both_signs(node), "or")


def both_signs(node: Node) -> list[Node]:
    """The two values of an expression with plus-minus signs, or the expression itself."""
    if not any(part.kind == "plus_minus" for part in walk(node)):
        return [node]
    if node.kind == "relation" and node.name == "=":
        return [Node("relation", "=", (node.children[0], value)) for value in both_signs(node.children[1])]
    return [replaced(node, "plus_minus", partial(_signed, positive=sign)) for sign in "+-"]


def _signed(node: Node, positive: str) -> Node:
    """The term of a plus-minus sign, positive for one of the two signs and negative for the other."""
    return node.children[0] if node.name == positive else negated(node.children[0])


def scaled(node: Node) -> Node:
    """A matrix times scalars, as one matrix."""
    if node.kind != "product" or sum(child.kind == "matrix" for child in node.children) != 1:
        return node
    matrix = next(child for child in node.children if child.kind == "matrix")
    scalars = tuple(child for child in node.children if child.kind != "matrix")
    return replaced(
        matrix,
        "row",
        lambda row: Node(
            "row", children=tuple(Node("product", children=(*scalars, cell)) for cell in row.children)
        ),
    )
