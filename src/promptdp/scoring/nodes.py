"""The tree of a parsed answer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Node:
    """A typed value or an operation on values.

    kind is one of: number (value), symbol (name), sum, product, power (base, exponent), call (name,
    arguments), opaque (a function nobody defined: name, arguments), plus_minus (name "+" or "-"),
    percent, degree; and, for answers that are no single expression, list (name is the joining word), set,
    bracket (name is its two delimiters), union, intersection, difference, reals, empty, relation (name is
    its operators, separated by spaces), matrix (rows of cells), row, ratio, numeral (name is
    "digits_base").
    """

    kind: str
    name: str = ""
    children: tuple["Node", ...] = ()
    value: Fraction | None = None
    size: int = field(init=False, compare=False)
    """How many nodes the tree has."""

    def __post_init__(self) -> None:
        """Count the nodes once, so that a comparison knows its work before it is done."""
        object.__setattr__(self, "size", 1 + sum(child.size for child in self.children))


def number(value: Fraction | int) -> Node:
    """A rational constant."""
    return Node("number", value=Fraction(value))


def symbol(name: str) -> Node:
    """A variable or a named constant."""
    return Node("symbol", name)


def call(name: str, *arguments: Node) -> Node:
    """A known function of its arguments."""
    return Node("call", name, arguments)


def nary(kind: str, children: list[Node], name: str = "") -> Node:
    """The children under one node, or the only child itself."""
    return children[0] if len(children) == 1 else Node(kind, name, tuple(children))


def power(base: Node, exponent: Node) -> Node:
    """A power."""
    return Node("power", children=(base, exponent))


def negated(node: Node) -> Node:
    """The additive inverse."""
    return Node("product", children=(number(-1), node))


def quotient(top: Node, bottom: Node) -> Node:
    """A fraction."""
    return Node("product", children=(top, power(bottom, number(-1))))


def walk(node: Node) -> list[Node]:
    """The node and all below it."""
    found = [node]
    for child in found:
        found.extend(child.children)
    return found


def depth(node: Node) -> int:
    """The number of levels of a tree."""
    levels, nodes = 0, [node]
    while nodes:
        levels, nodes = levels + 1, [child for parent in nodes for child in parent.children]
    return levels


def replaced(node: Node, kind: str, change: Callable[[Node], Node]) -> Node:
    """The tree with every node of a kind changed."""
    children = tuple(replaced(child, kind, change) for child in node.children)
    node = Node(node.kind, node.name, children, node.value)
    return change(node) if node.kind == kind else node
