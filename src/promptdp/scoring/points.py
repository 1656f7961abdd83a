"""Equality of expressions by their values: at one place if they are constant, else at several fixed places.

The places of a variable follow from its name. A constant is zero when nothing of it shows at two precisions
that its size gives. Expressions in pieces (absolute values, roots of squares, floors) are also compared at
the numbers in them, around these and far out, where another piece holds.
"""

import hashlib
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, NamedTuple

from promptdp.scoring.evaluate import CONSTANTS, Evaluator, Place, UndefinedError
from promptdp.scoring.forms import is_closed
from promptdp.scoring.limits import Budget
from promptdp.scoring.nodes import Node, negated, number, replaced, symbol, walk
from promptdp.scoring.separation import separation

POINTS = 5
"""Places at which all expressions with variables are compared."""
PRIMES = (997, 1009, 1013, 1019, 1021, 1031, 1033, 1039)
FAR = (12, 700)
"""Sizes of the variables in expressions in pieces, besides those that the numbers in them suggest."""
NUMERALS = 8
"""Most numbers of an expression in pieces around which it is compared."""
DIVISORS = 2
"""Most of them whose quotients are used so."""
SCOUT = 256
"""Bits of the first evaluation, which tells how wide the numbers are; two more precise ones decide."""
SLACK = 64
"""Bits that rounding may cost besides those of the widest number."""
SMOOTH = {"sin", "cos", "tan", "sec", "csc", "cot", "sinh", "cosh", "tanh", "exp", "factorial", "binomial"}
"""Functions of one piece."""
IMAGINARY = symbol("i")


def point(name: str, index: int) -> Fraction:
    """The value of a variable at a fixed place: below one, above one, negative, then of either sign.

    Denominators are odd, and the numerators of both parities, so that a power of -1 takes both its values.
    """
    seed = int.from_bytes(
        hashlib.sha256(f"{index} {name}".encode("utf-8", "surrogatepass")).digest()[:8], "big"
    )
    prime = PRIMES[seed >> 32 & 7]
    top = 1 + seed % (prime - 1)
    unit = Fraction(top if top % 2 == index // 2 % 2 else prime - top, prime)
    sign = -1 if index == 2 or (index > 2 and seed >> 60 & 1) else 1
    return sign * (unit if index == 0 else 1 + 2 * unit if index == 1 else 3 * unit)


def in_pieces(node: Node) -> bool:
    """Whether different formulas may hold for different values of the variables."""
    return any(
        (part.kind == "call" and part.name not in SMOOTH)
        or (part.kind == "power" and not is_closed(part.children[0]) and _is_root(part.children[1]))
        for part in walk(node)
    )


def _is_root(exponent: Node) -> bool:
    """Whether a constant exponent is no integer, or is not seen to be one."""
    parts = walk(exponent)
    return is_closed(exponent) and any(
        part.kind == "power" or (part.value is not None and part.value.denominator > 1) for part in parts
    )


def places(nodes: tuple[Node, ...]) -> list[tuple[Place, bool]]:
    """The places to compare expressions at, and whether each is a general one.

    At a number of the expressions one of them may lack a value without being different, and they may agree
    there alone.
    """
    if all(map(is_closed, nodes)):
        return [(place_of(0), True)]
    chosen = [(place_of(index), True) for index in range(POINTS)]
    if any(map(in_pieces, nodes)):
        chosen += [(_scaled(index, size), True) for index, size in product(range(2, 6), FAR)]
        around = _around(nodes)
        chosen += [(_rotated(around, index), False) for index in range(len(around))]
    return chosen


def place_of(index: int) -> Place:
    """A fixed place."""
    return lambda name: point(name, index)


def _scaled(index: int, size: int) -> Place:
    return lambda name: size * point(f"{size} {name}", index)


def _rotated(values: list[Fraction], index: int) -> Place:
    """The place that gives a variable one of some values; other variables have others of them."""

    def place(name: str) -> Fraction:
        shift = int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:2], "big")
        return values[(index + shift) % len(values)]

    return place


def _around(nodes: tuple[Node, ...]) -> list[Fraction]:
    """The numbers in some expressions, quotients of the least, and a value between each two of these."""
    numerals = sorted({abs(part.value) for node in nodes for part in walk(node) if part.value})[:NUMERALS]
    few = numerals[:DIVISORS]
    positive = {*numerals, *(top / low for top in few for low in few)}
    kinks = sorted({Fraction(0), *positive, *(-value for value in positive)})
    return sorted({*kinks, *((low + high) / 2 for low, high in pairwise(kinks))})


class _Outcome(NamedTuple):
    """What a place says of two expressions: equal there; either real there; both defined there."""

    same: bool
    real: bool
    defined: bool


def expressions(ours: Node, theirs: Node, budget: Budget) -> bool:
    """Equality of two expressions at every place where either is real, and somewhere.

    Raises:
        LimitError: the work is too much, or two constants too near one another to be told apart.
    """
    nodes = (ours, theirs)
    closed = all(map(is_closed, nodes))
    imaginary = any(part == IMAGINARY for node in nodes for part in walk(node))
    agreements: dict[bool, list[bool]] = {True: [], False: []}
    for place, general in places(nodes):
        outcome = _at(place, ours, theirs, closed, budget)
        if outcome is None or not (outcome.defined or general):
            continue
        decisive = outcome.real or imaginary
        if decisive and not outcome.same:
            return False
        if general:
            agreements[decisive].append(outcome.same)
    return bool(agreements[True]) or (bool(agreements[False]) and all(agreements[False]))


def _at(place: Place, ours: Node, theirs: Node, closed: bool, budget: Budget) -> _Outcome | None:
    """What one place says of two expressions; None where both are undefined."""
    scout = Evaluator(place, SCOUT, budget)
    a, b = (defined(scout, node) for node in (ours, theirs))
    if a is None or b is None:
        return None if a is None and b is None else _Outcome(False, True, False)
    real = scout.is_real(a) or scout.is_real(b)
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return _Outcome(a == b, True, True)
    lost = SLACK + 3 * scout.widest + (ours.size + theirs.size).bit_length()
    if _apart(scout, a, b, SCOUT - lost):
        return _Outcome(False, real, True)
    needed = separation(Node("sum", children=(ours, negated(theirs))), scout, closed)
    precision = max(SCOUT, needed + lost)
    for bits in (precision, 2 * precision):
        evaluator = Evaluator(place, bits, budget)
        a, b = (defined(evaluator, node) for node in (ours, theirs))
        if a is None or b is None or _apart(evaluator, a, b, needed):
            return _Outcome(False, real, True)
    return _Outcome(True, real, True)


def _apart(evaluator: Evaluator, a: Any, b: Any, bits: int) -> bool:
    """Whether two values differ by more than 2^-bits."""
    return bool(abs(evaluator.inexact(a) - evaluator.inexact(b)) > evaluator.mp.mpf(2) ** -bits)


def defined(evaluator: Evaluator, node: Node) -> Any:
    """The value of an expression; None where it has none."""
    try:
        return evaluator.value(node)
    except UndefinedError:
        return None


def fixed_to_numbers(node: Node, index: int) -> Node:
    """An expression with the numbers of a fixed place for its variables."""
    return replaced(
        node, "symbol", lambda part: part if part.name in CONSTANTS else number(point(part.name, index))
    )


def real_value(node: Node, budget: Budget) -> Any:
    """The value of a constant as a real of the first precision; None when it is not constant or not real."""
    if not is_closed(node):
        return None
    evaluator = Evaluator(place_of(0), SCOUT, budget)
    value = defined(evaluator, node)
    return evaluator.inexact(value).real if value is not None and evaluator.is_real(value) else None
