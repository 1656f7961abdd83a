"""Undefined functions: each application is a variable of its own, the same one for equal arguments."""

from collections.abc import Callable

from promptdp.scoring.nodes import Node, replaced, symbol

Same = Callable[[Node, Node], bool]


def as_letters(nodes: tuple[Node, ...], same: Same) -> tuple[Node, ...]:
    """Some trees with a letter in place of each undefined function that is applied in them.

    Args:
        nodes: the trees.
        same: whether two arguments are equal.
    """
    known: list[tuple[Node, Node]] = []

    def letter(node: Node) -> Node:
        for other, name in known:
            alike = other.name == node.name and len(other.children) == len(node.children)
            if alike and all(map(same, other.children, node.children)):
                return name
        known.append((node, symbol(f"{node.name} {len(known)}")))
        return known[-1][1]

    return tuple(replaced(node, "opaque", letter) for node in nodes)
