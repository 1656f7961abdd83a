"""The value that an answer states: what a name equals, what a chain comes to, the set of a membership.

An equality whose sides are neither names nor equal states nothing: it is an equation, which equals equations.
"""

from fractions import Fraction
from itertools import product
from typing import NamedTuple

from promptdp.scoring.applied import Same
from promptdp.scoring.evaluate import Evaluator
from promptdp.scoring.forms import is_name, substituted
from promptdp.scoring.limits import Budget
from promptdp.scoring.matching import matched
from promptdp.scoring.nodes import Node, symbol
from promptdp.scoring.points import SCOUT, defined, place_of

ORDINATE = symbol("y")
ARGUMENT = symbol("argument")
PLACES = 50
"""Most decimal places of a rounded value."""


class Statement(NamedTuple):
    """A value, the names that are said to have it, and a rounding of it that is given too."""

    names: tuple[Node, ...]
    value: Node
    rounded: Node | None = None


class Assignment(NamedTuple):
    """Values of several names, in the order in which they are given."""

    names: tuple[Node, ...]
    values: tuple[Node, ...]


def statement(node: Node, same: Same, budget: Budget) -> Statement | None:
    """What an answer states; None when it states nothing apart from itself."""
    if node.kind == "list":
        return _shared(node, same, budget)
    if node.kind != "relation":
        return None
    signs = node.name.split()
    if signs == ["in"]:
        return Statement(node.children[:1], node.children[1])
    if not set(signs) <= {"=", "~"}:
        return None
    end = signs.index("~") + 1 if "~" in signs else len(node.children)
    names, values = _parted(node.children[:end])
    rounded = node.children[end] if end < len(node.children) else None
    if rounded is not None and not values:
        return Statement(names, rounded)
    if not values or not all(same(values[0], value) for value in values[1:]):
        return None
    known = rounded is not None and _rounds(values[0], rounded, budget)
    return Statement(names, values[0], rounded if known else None)


def _parted(members: tuple[Node, ...]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The names and the values among the members of a chain; of `y = x`, the second is the value."""
    names = tuple(member for member in members if is_name(member))
    values = tuple(member for member in members if not is_name(member))
    if len(members) == len(names) == 2 and _is_function(names[0]) and names[1].kind == "symbol":
        return names[:1], names[1:]
    return names, values


def _is_function(name: Node) -> bool:
    """Whether a name is that of a function's value: y, or a function with its argument."""
    return name == ORDINATE or (name.kind == "opaque" and name.name.rstrip("'") in ("f", "g"))


def _shared(node: Node, same: Same, budget: Budget) -> Statement | None:
    """The list of values of one name (`x = 2, x = 3`; `n = 2, 3, 4`)."""
    if node.children[0].kind != "relation":
        return None
    said = [statement(child, same, budget) if child.kind == "relation" else None for child in node.children]
    names = {part.names for part in said if part is not None}
    values = tuple(
        child if part is None else part.value for part, child in zip(said, node.children, strict=True)
    )
    if len(names) != 1 or any(value.kind == "relation" for value in values):
        return None
    return Statement(names.pop(), Node("list", node.name, values))


def assignment(node: Node, same: Same, budget: Budget) -> Assignment | None:
    """The values of several different names (`a = 3, b = 5`; `(x, y) = (3, 5)`); None when it gives none."""
    if node.kind == "relation" and node.name == "=":
        ends = [(child.kind, child.name, len(child.children)) for child in node.children]
        if ends[0][:2] == ("bracket", "()") and ends[0] == ends[1] and is_name(node.children[0]):
            return Assignment(node.children[0].children, node.children[1].children)
    if node.kind != "list":
        return None
    said = [statement(child, same, budget) for child in node.children if child.kind == "relation"]
    named = [part for part in said if part is not None and len(part.names) == 1]
    names = tuple(part.names[0] for part in named)
    if not len(node.children) == len(named) == len(set(names)):
        return None
    return Assignment(names, tuple(part.value for part in named))


def assignments_agree(given: list[Assignment | None], nodes: tuple[Node, Node], same: Same) -> bool:
    """Whether two answers give the same values to the same names, or one gives them in the other's order."""
    if all(given):
        left, right = (list(map(_pair, some.names, some.values)) for some in given if some is not None)
        if all(node.kind == "list" for node in nodes):
            return matched(left, right, same)
        return len(left) == len(right) and all(map(same, left, right))
    values, other = (given[0], nodes[1]) if given[0] is not None else (given[1], nodes[0])
    if values is None or not (other.kind == "list" or (other.kind == "bracket" and other.name == "()")):
        return False
    return len(values.values) == len(other.children) and all(map(same, values.values, other.children))


def _pair(name: Node, value: Node) -> Node:
    return Node("row", children=(name, value))


def statements_agree(said: list[Statement | None], nodes: tuple[Node, Node], same: Same) -> bool:
    """Whether two answers, at least one of which states a value, have one; of one thing, if both name it."""
    left, right = said
    if left is not None and right is not None:
        left, right = _with_one_argument(left, right)
        pairs = list(product(left.names, right.names))
        if pairs and not any(_one_thing(*pair, same) for pair in pairs):
            return False
        if left.rounded is not None and right.rounded is not None:
            return same(left.value, right.value)
    ours, theirs = (
        [node] if some is None else [value for value in (some.value, some.rounded) if value is not None]
        for some, node in ((left, nodes[0]), (right, nodes[1]))
    )
    return any(same(a, b) for a in ours for b in theirs)


def _with_one_argument(left: Statement, right: Statement) -> tuple[Statement, Statement]:
    """Two definitions of one function (`f(x) = x^2`, `f(t) = t^2`) in the same letter."""
    heads = [some.names[0] if some.names else some.value for some in (left, right)]
    alike = all(head.kind == "opaque" and len(head.children) == 1 for head in heads)
    letters = [head.children[0] for head in heads if alike]
    if not alike or heads[0].name != heads[1].name or not all(letter.kind == "symbol" for letter in letters):
        return left, right
    first, second = (
        some._replace(
            names=tuple(substituted(name, letter, ARGUMENT) for name in some.names),
            value=substituted(some.value, letter, ARGUMENT),
        )
        for some, letter in zip((left, right), letters, strict=True)
    )
    return first, second


def _one_thing(ours: Node, theirs: Node, same: Same) -> bool:
    """Whether two names are equal, of a segment with or without bars, or are y and a function's value."""
    ours, theirs = (
        name.children[0] if name.kind == "call" and name.name == "abs" else name for name in (ours, theirs)
    )
    functions = ORDINATE in (ours, theirs) and _is_function(ours) and _is_function(theirs)
    return functions or same(ours, theirs)


def _rounds(exact: Node, rounded: Node, budget: Budget) -> bool:
    """Whether a decimal is an exact value correctly rounded to the decimal's own last place."""
    evaluator = Evaluator(place_of(0), SCOUT, budget)
    value, decimal = (defined(evaluator, node) for node in (exact, rounded))
    if value is None or not isinstance(decimal, Fraction):
        return False
    places = next((n for n in range(PLACES) if (decimal * 10**n).denominator == 1), PLACES)
    return bool(abs(evaluator.inexact(value) - evaluator.inexact(decimal)) * 2 * 10**places <= 1)
