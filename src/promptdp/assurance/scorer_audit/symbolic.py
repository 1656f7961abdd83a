"""The opinion of sympy: what the scorers' own parser read, rebuilt node by node and compared symbolically.

The parse is shared with the scorers, the decision isn't: where they compare values at fixed points, sympy
simplifies a difference to zero, and set algebra decides sets. No text reaches sympy but names of variables.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import sympy
from sympy.core.random import seed

from promptdp.assurance.scorer_audit.opinion import NoOpinionError, Reason
from promptdp.scoring.forms import is_closed, is_name
from promptdp.scoring.limits import Budget, LimitError
from promptdp.scoring.nodes import Node, nary, negated, replaced, walk
from promptdp.scoring.parser import ParseError, parse

BITS = 20_000
"""Largest rational power that is computed, in bits."""
NATURALS = 1_000
"""Largest argument of a factorial or binomial coefficient."""
CONSTANTS = {"e": sympy.E, r"\pi": sympy.pi, "i": sympy.I, r"\infty": sympy.oo}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": sympy.Abs,
    "lfloor": sympy.floor,
    "lceil": sympy.ceiling,
    "max": sympy.Max,
    "min": sympy.Min,
    "exp": sympy.exp,
    "ln": sympy.log,
    "log": lambda x, base=10: sympy.log(x) / sympy.log(base),
    "arcsin": sympy.asin,
    "arccos": sympy.acos,
    "arctan": sympy.atan,
    "sinh": sympy.sinh,
    "cosh": sympy.cosh,
    "tanh": sympy.tanh,
}
ANGULAR = {
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "sec": sympy.sec,
    "csc": sympy.csc,
    "cot": sympy.cot,
}
WHOLE = {
    "factorial": sympy.factorial,
    "binomial": sympy.binomial,
    "gcd": sympy.igcd,
    "lcm": sympy.ilcm,
}
ORDER = {"<": sympy.Lt, "<=": sympy.Le, ">": sympy.Gt, ">=": sympy.Ge, "!=": sympy.Ne}
SETS = {"union", "intersection", "difference", "reals", "empty"}
COLLECTIONS = {"list", "set"}
TUPLES = {"bracket", "matrix", "row", "ratio"}


def same(answer: str, gold: str) -> bool:
    """Whether an extracted answer equals the reference.

    Raises:
        NoOpinionError: the parser didn't read one of them, or sympy can't or mustn't decide.
    """
    seed(0)
    theirs = read(gold)
    ours = read(answer)
    if theirs.kind == "list" and ours.kind != "list":
        ours = read(answer, commas_group=False)
    return nodes_equal(stated(ours), stated(theirs))


def read(text: str, commas_group: bool = True) -> Node:
    """The tree of an answer, units left out, signs written out; words are not sympy's business."""
    try:
        tree = parse(text, Budget(), commas_group).value
    except ParseError:
        raise NoOpinionError(Reason.UNREAD) from None
    except LimitError:
        raise NoOpinionError(Reason.LARGE) from None
    if any(node.kind == "symbol" and node.name.startswith("text ") for node in walk(tree)):
        raise NoOpinionError(Reason.UNREAD)
    return tree


# --- answers ---------------------------------------------------------------------------------------------


def gives_value(node: Node) -> bool:
    """Whether a node is an equality that ends in the value it gives (`x = 2`, `3 + 4 = 7`)."""
    return (
        node.kind == "relation"
        and set(node.name.split()) == {"="}
        and (is_name(node.children[0]) or is_closed(node))
    )


def stated(node: Node) -> Node:
    """An answer with its plus-minus signs written out, and a membership as its set."""
    if node.kind == "relation" and node.name == "in":
        return node.children[1]
    if node.kind in COLLECTIONS:
        return Node(node.kind, node.name, tuple(part for child in node.children for part in signed(child)))
    return nary("list", signed(node), "or")


def signed(node: Node) -> list[Node]:
    """The two values of an expression with plus-minus signs, or the expression itself."""
    if not any(part.kind == "plus_minus" for part in walk(node)):
        return [node]
    return [replaced(node, "plus_minus", partial(_one_sign, positive=sign)) for sign in "+-"]


def _one_sign(node: Node, positive: str) -> Node:
    return node.children[0] if node.name == positive else negated(node.children[0])


def nodes_equal(ours: Node, theirs: Node) -> bool:
    """Equality of two answers of any type."""
    if gives_value(ours) and gives_value(theirs) and ours.children[0] == theirs.children[0]:
        return nodes_equal(ours.children[-1], theirs.children[-1])
    kinds = {ours.kind, theirs.kind}
    if is_set(ours) or is_set(theirs):
        return sets_equal(real_set(ours), real_set(theirs))
    if kinds & COLLECTIONS:
        return collections_equal(items(ours), items(theirs), distinct="set" in kinds)
    if kinds == {"relation"}:
        return equations_equal(ours, theirs)
    if gives_value(ours) or gives_value(theirs):
        return nodes_equal(*(node.children[-1] if gives_value(node) else node for node in (ours, theirs)))
    if kinds == {"numeral"}:
        return ours.name.lstrip("0") == theirs.name.lstrip("0")
    if "percent" in kinds:  # 28% is 28 percent and 0.28 alike
        bare = [node.children[0] if node.kind == "percent" else node for node in (ours, theirs)]
        return nodes_equal(*bare) or (len(kinds) > 1 and expressions_equal(ours, theirs))
    if kinds & TUPLES and (kinds != {"ratio"} or len(ours.children) != 2):
        return (
            ours.kind == theirs.kind
            and ours.name == theirs.name
            and len(ours.children) == len(theirs.children)
            and all(nodes_equal(a, b) for a, b in zip(ours.children, theirs.children, strict=True))
        )
    return expressions_equal(ours, theirs)


def items(node: Node) -> list[Node]:
    """The items of a collection, or the one item that an answer is; a name that all share is left out."""
    parts = list(node.children) if node.kind in COLLECTIONS else [node]
    names = {part.children[0] for part in parts if gives_value(part)}
    if len(names) == 1 and gives_value(parts[0]):
        return [part.children[-1] if gives_value(part) else part for part in parts]
    return parts


def collections_equal(ours: list[Node], theirs: list[Node], distinct: bool) -> bool:
    """Equality without order, and for sets without repetition."""
    if distinct:
        return all(
            any(nodes_equal(item, other) for other in others)
            for one, others in ((ours, theirs), (theirs, ours))
            for item in one
        )
    left = list(theirs)
    for item in ours:
        match = next((place for place, other in enumerate(left) if nodes_equal(item, other)), None)
        if match is None:
            return False
        del left[match]
    return not left


def equations_equal(ours: Node, theirs: Node) -> bool:
    """Equality of two equations up to a constant factor."""
    if not ours.name == theirs.name == "=":
        raise NoOpinionError(Reason.UNREAD)
    one, other = (value(node.children[0]) - value(node.children[1]) for node in (ours, theirs))
    if not other.free_symbols:
        raise NoOpinionError(Reason.UNDECIDED)
    ratio = sympy.simplify(one / other)
    return bool(ratio.is_number and ratio != 0)


# --- sets of reals ---------------------------------------------------------------------------------------


def is_set(node: Node) -> bool:
    """Whether an answer is written as a set of reals, by more than a pair of round brackets."""
    if node.kind == "list":
        return all(is_set(child) for child in node.children)
    return (
        node.kind in SETS
        or (node.kind == "bracket" and len(node.children) == 2 and node.name != "()")
        or (node.kind == "relation" and bool(set(ORDER) & set(node.name.split())))
    )


def real_set(node: Node) -> Any:
    """A set of reals as sympy has it; a value is the set of itself."""
    if node.kind == "reals":
        return sympy.S.Reals
    if node.kind == "empty":
        return sympy.S.EmptySet
    if node.kind == "bracket" and len(node.children) == 2:
        ends = [value(child) for child in node.children]
        return sympy.Interval(*ends, left_open=node.name[0] == "(", right_open=node.name[1] == ")")
    if node.kind == "relation":
        return solutions(node)
    if node.kind in SETS or node.kind == "list":
        parts = [real_set(child) for child in node.children]
        if node.kind == "intersection" or node.name == "and":
            return sympy.Intersection(*parts)
        return sympy.Complement(*parts) if node.kind == "difference" else sympy.Union(*parts)
    if node.kind == "set":
        return sympy.FiniteSet(*map(value, node.children))
    return sympy.FiniteSet(value(node))


def solutions(relation: Node) -> Any:
    """The reals for which a chain of comparisons with one variable holds."""
    operators = relation.name.split()
    members = [value(child) for child in relation.children]
    if not set(operators) <= set(ORDER) or len(set().union(*(m.free_symbols for m in members))) != 1:
        raise NoOpinionError(Reason.UNREAD)
    links = [ORDER[name](*ends) for name, ends in zip(operators, pairwise(members), strict=True)]
    return sympy.And(*links).as_set()


def sets_equal(ours: Any, theirs: Any) -> bool:
    """Equality of two sets."""
    if ours == theirs:
        return True
    empty = ours.symmetric_difference(theirs).is_empty
    if empty is None:
        raise NoOpinionError(Reason.UNDECIDED)
    return bool(empty)


# --- expressions -----------------------------------------------------------------------------------------


def expressions_equal(ours: Node, theirs: Node) -> bool:
    """Equality of two expressions."""
    left, right = value(ours), value(theirs)
    if left == right:
        return True
    difference = left - right
    if difference.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
        raise NoOpinionError(Reason.UNDECIDED)
    simplified = sympy.simplify(difference)
    decided = True if simplified == 0 else simplified.equals(0)
    if decided is None:
        raise NoOpinionError(Reason.UNDECIDED)
    return bool(decided)


def value(node: Node) -> Any:
    """An expression as sympy has it; variables are real.

    Raises:
        NoOpinionError: it is no expression, or too large to be computed.
    """
    parts = node.children
    match node.kind:
        case "number":
            number = node.value or Fraction(0)
            return sympy.Rational(number.numerator, number.denominator)
        case "symbol":
            return CONSTANTS.get(node.name) or sympy.Symbol(node.name, real=True)
        case "sum":
            return sympy.Add(*map(value, parts))
        case "product":
            return sympy.Mul(*map(value, parts))
        case "power":
            return power(value(parts[0]), value(parts[1]))
        case "percent":
            return value(parts[0]) / 100
        case "degree":
            return value(parts[0])
        case "ratio" if len(parts) == 2:
            return value(parts[0]) / value(parts[1])
        case "opaque":
            return sympy.Function(node.name)(*map(value, parts))
        case "call":
            return called(node.name, parts)
    raise NoOpinionError(Reason.UNREAD)


def power(base: Any, exponent: Any) -> Any:
    """A power of moderate size; an odd root of a negative number is its real root."""
    if base.is_Rational and exponent.is_Rational:
        bits = max(int(base.p).bit_length(), int(base.q).bit_length())
        if bits * abs(exponent) > BITS:
            raise NoOpinionError(Reason.LARGE)
    if exponent.is_Rational and exponent.q % 2 and exponent.q > 1 and base.is_negative:
        root = sympy.Pow(-base, exponent)
        return -root if exponent.p % 2 else root
    return sympy.Pow(base, exponent)


def called(name: str, arguments: tuple[Node, ...]) -> Any:
    """A function of its arguments; an angle may be in degrees."""
    values = [value(argument) for argument in arguments]
    if name in ANGULAR:
        angle = values[0] * sympy.pi / 180 if arguments[0].kind == "degree" else values[0]
        return ANGULAR[name](angle)
    if name in WHOLE:
        if not all(number.is_Integer and number >= 0 for number in values):
            raise NoOpinionError(Reason.UNREAD)
        if name in ("factorial", "binomial") and max(values) > NATURALS:
            raise NoOpinionError(Reason.LARGE)
        return WHOLE[name](*values)
    if name not in FUNCTIONS:
        raise NoOpinionError(Reason.UNREAD)
    return FUNCTIONS[name](*values)
