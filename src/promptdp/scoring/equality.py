"""Exact equality of two answers: by structure, by exact rationals, by values at fixed points (VII-D).

Both answers are parsed under caps by this package's own parser; nothing of either reaches an evaluator of
code. An answer over a cap, or in no known notation, equals only an answer that is written the same.
"""

import re
from collections.abc import Iterable
from fractions import Fraction
from functools import cmp_to_key
from itertools import zip_longest
from typing import Any

from promptdp.scoring import realsets, words
from promptdp.scoring.evaluate import POINTS, Evaluator, UndefinedError
from promptdp.scoring.forms import expanded, is_closed, is_name, scaled
from promptdp.scoring.limits import ANSWER_CHARACTERS, Budget, LimitError
from promptdp.scoring.nodes import Node, negated, walk
from promptdp.scoring.parser import Answer, ParseError, parse
from promptdp.scoring.tokens import Token, tokenize
from promptdp.scoring.units import canonical_unit
from promptdp.scoring.verdict import Judgement, Reason, judged

BASE_NUMERAL = re.compile(
    r"(?:\\(?:text|mathrm)\{)?\(?([0-9A-Z.]+)\)?\}?_\{?(?:\\text\{)?([0-9]{1,2})\}{0,2}"
)
SCOUT = 256
"""Bits of the first evaluation, which tells how wide the numbers are; two more precise ones decide."""
MIRRORED = str.maketrans("<>", "><")


def equal(answer: str, gold: str, budget: Budget | None = None) -> Judgement:
    """Whether an answer equals the reference; not when one, or the work of comparing them, is over a cap."""
    try:
        return _equal(answer, gold, budget or Budget())
    except LimitError:
        return Judgement(False, Reason.LIMIT)


def _equal(answer: str, gold: str, budget: Budget) -> Judgement:
    if max(len(answer), len(gold)) > ANSWER_CHARACTERS:
        raise LimitError
    budget.read(answer + gold)
    ours, theirs = tokenize(answer), tokenize(gold)
    if ours == theirs:
        return judged(bool(ours) or answer.strip() == gold.strip())
    if _is_text(ours) or _is_text(theirs):
        if words.items(answer) == words.items(gold):
            return judged(True)
        answer, gold = words.in_symbols(answer), words.in_symbols(gold)
    numerals = [BASE_NUMERAL.fullmatch(re.sub(r"[\s$]", "", text)) for text in (answer, gold)]
    if all(numerals):
        (digits, base), (other_digits, other_base) = (match.groups() for match in numerals if match)
        return judged(digits.lstrip("0") == other_digits.lstrip("0") and int(base) == int(other_base))
    try:
        reference = parse(_unwrapped(gold), budget)
        candidate = parse(_unwrapped(answer), budget)
        if reference.value.kind == "list" and candidate.value.kind != "list":
            candidate = parse(_unwrapped(answer), budget, commas_group=False)
    except ParseError:
        return Judgement(False, Reason.UNREADABLE)
    if _units_conflict(candidate, reference):
        return Judgement(False, Reason.UNIT)
    return judged(_Comparison(budget).answers(candidate.value, reference.value))


def _is_text(tokens: list[Token]) -> bool:
    """Whether an answer has words and no mathematics."""
    kinds = {token.kind for token in tokens if not (token.kind == "sign" and token.text in "().:-'!?")}
    return "text" in kinds and kinds <= {"text", "letter", "separator"}


def _unwrapped(source: str) -> str:
    r"""The content of a text command that is the whole answer and starts with a digit (`\text{1:03 PM}`)."""
    match = re.fullmatch(r"\s*\\(?:text|mbox)\s*\{\s*([0-9][^{}\\]*)\}\s*", source)
    return match[1] if match else source


def _units_conflict(candidate: Answer, reference: Answer) -> bool:
    """Whether both name a known unit and none in common."""
    ours, theirs = (
        {canonical_unit(text) for text in answer.units} - {None} for answer in (candidate, reference)
    )
    return bool(ours and theirs and not ours & theirs)


class _Comparison:
    """One comparison within a budget of work."""

    def __init__(self, budget: Budget):
        self.budget = budget

    # -- answers: the value that an answer states, where it states one through a name or a chain

    def answers(self, ours: Node, theirs: Node) -> bool:
        """Whether the value that our answer states is one that the reference states."""
        if self.values(ours, theirs):
            return True
        if _names_differ(ours, theirs):
            return False
        references = [theirs, *self.stated(theirs, every=True)]
        return any(
            self.values(value, reference)
            for value in [ours, *self.stated(ours)]
            for reference in references
            if (value, reference) != (ours, theirs)
        )

    def stated(self, node: Node, every: bool = False) -> list[Node]:
        """The values that an answer states: the end of a chain of equalities, the set of a membership.

        Args:
            node: the answer.
            every: give each member of the chain; a reference may say one value in several forms.
        """
        if node.kind == "list":
            return self.stated_items(node)
        if node.kind != "relation":
            return []
        operators = node.name.split()
        if operators == ["in"]:
            return [node.children[1]]
        if not set(operators) <= {"=", "~"}:
            return []
        end = operators.index("~") + 1 if "~" in operators else len(node.children)
        exact, rounded = node.children[:end], node.children[end : end + 1]
        if is_name(exact[0]):
            values = exact[1:]
        elif len(exact) == 1 or is_closed(node) or self.values(exact[0], exact[-1]):
            values = exact
        else:
            return []
        kept = values if every else values[-1:]
        return [*kept, *(value for value in rounded if not values or self.rounds(values[-1], value))]

    def stated_items(self, node: Node) -> list[Node]:
        """A list without the one name that its items share (`x = 2, x = 3`; `n = 2, 3, 4`)."""
        names = {
            child.children[0] for child in node.children if child.kind == "relation" and child.name == "="
        }
        first = node.children[0]
        if len(names) != 1 or not is_name(next(iter(names))) or first.kind != "relation":
            return []
        return [
            Node(
                "list", node.name, tuple(c.children[1] if c.kind == "relation" else c for c in node.children)
            )
        ]

    def rounds(self, exact: Node, rounded: Node) -> bool:
        """Whether a decimal is an exact value correctly rounded to the decimal's own last place."""
        evaluator = Evaluator(0, SCOUT, self.budget)
        try:
            value, decimal = evaluator.value(exact), evaluator.value(rounded)
        except UndefinedError:
            return False
        if not isinstance(decimal, Fraction):
            return False
        places = next((n for n in range(50) if (decimal * 10**n).denominator == 1), 50)
        return bool(abs(evaluator.inexact(value) - evaluator.inexact(decimal)) * 2 * 10**places <= 1)

    # -- values by their type

    def values(self, ours: Node, theirs: Node) -> bool:
        """Equality of two values of any type."""
        self.budget.spend(ours.size + theirs.size)
        if ours == theirs:
            return True
        ours, theirs = expanded(ours), expanded(theirs)
        if ours.kind == theirs.kind == "relation" and self.relations(ours, theirs):
            return True
        if realsets.is_set(ours) or realsets.is_set(theirs):
            return self.sets(ours, theirs)
        collections = [node.kind in ("list", "set") for node in (ours, theirs)]
        if any(collections):
            return self.collections(ours, theirs)
        if ours.kind == theirs.kind == "percent":
            return self.values(ours.children[0], theirs.children[0])
        if "percent" in (ours.kind, theirs.kind):
            percentage, other = (ours, theirs) if ours.kind == "percent" else (theirs, ours)
            return self.values(percentage.children[0], other) or self.expressions(percentage, other)
        if ours.kind == theirs.kind == "ratio" and len(ours.children) != len(theirs.children):
            return False
        ours, theirs = scaled(ours), scaled(theirs)
        if ours.kind == theirs.kind and ours.kind in ("bracket", "matrix", "row", "ratio", "numeral"):
            if ours.kind == "ratio" and len(ours.children) == 2:
                return self.expressions(ours, theirs)
            return ours.name == theirs.name and self.each(ours, theirs)
        return self.expressions(ours, theirs)

    def each(self, ours: Node, theirs: Node) -> bool:
        """Equality child by child."""
        pairs = zip_longest(ours.children, theirs.children)
        return all(a is not None and b is not None and self.values(a, b) for a, b in pairs)

    def collections(self, ours: Node, theirs: Node) -> bool:
        """Equality of unordered collections: each item of one matches its own item of the other."""
        rows = [list(node.children) if node.kind in ("list", "set") else [node] for node in (ours, theirs)]
        if "set" in (ours.kind, theirs.kind):
            rows = [self.distinct(row) for row in rows]
        left, right = rows
        if len(left) != len(right):
            return False
        for item in left:
            match = next((i for i, other in enumerate(right) if self.values(item, other)), None)
            if match is None:
                return False
            del right[match]
        return True

    def distinct(self, nodes: list[Node]) -> list[Node]:
        """The nodes without repetitions of a value."""
        kept: list[Node] = []
        for node in nodes:
            if not any(self.values(node, other) for other in kept):
                kept.append(node)
        return kept

    def sets(self, ours: Node, theirs: Node) -> bool:
        """Equality of sets of reals; sets with variables are compared end by end."""
        try:
            ends = realsets.endpoints(ours) + realsets.endpoints(theirs)
            ranks = self.ranks(ends)
            left, right = (realsets.cells(node, ranks.__getitem__) for node in (ours, theirs))
        except realsets.NotASetError:
            return False
        except UndefinedError:
            return ours.kind == theirs.kind and ours.name == theirs.name and self.each(ours, theirs)
        return left == right

    def ranks(self, ends: Iterable[Node]) -> dict[Node, int]:
        """The odd cell number of each real endpoint, in increasing order, equal endpoints together."""
        evaluator = Evaluator(0, SCOUT, self.budget)
        nodes = list(dict.fromkeys(ends))
        if any(not is_closed(node) for node in nodes):
            raise UndefinedError
        numbers = {node: evaluator.value(node) for node in nodes}
        if not all(evaluator.is_real(value) for value in numbers.values()):
            raise UndefinedError
        reals = {node: evaluator.inexact(value).real for node, value in numbers.items()}
        nodes.sort(key=cmp_to_key(lambda a, b: (reals[a] > reals[b]) - (reals[a] < reals[b])))
        ranks: dict[Node, int] = {}
        rank = -1
        for previous, node in zip([None, *nodes], nodes, strict=False):
            if previous is None or not self.expressions(previous, node):
                rank += 2
            ranks[node] = rank
        return ranks

    def relations(self, ours: Node, theirs: Node) -> bool:
        """Equality of equations, inequalities and chains, up to direction and (of two members) a factor."""
        forms = [
            (theirs.name, theirs.children),
            (" ".join(reversed(theirs.name.translate(MIRRORED).split())), theirs.children[::-1]),
        ]
        if any(
            ours.name == name and self.each(ours, Node("row", children=children)) for name, children in forms
        ):
            return True
        if (
            len(ours.children) != 2
            or len(theirs.children) != 2
            or ours.name not in ("=", "!=", "<", "<=", ">", ">=")
        ):
            return False
        differences = [
            Node("sum", children=(node.children[0], negated(node.children[1]))) for node in (ours, theirs)
        ]
        factor = self.factor(*differences)
        if factor is None:
            return False
        if ours.name in ("=", "!="):
            return ours.name == theirs.name
        return theirs.name == (ours.name if factor > 0 else ours.name.translate(MIRRORED))

    def factor(self, ours: Node, theirs: Node) -> Any:
        """The nonzero real constant that one expression is of another; None when there is none."""
        if is_closed(ours) or is_closed(theirs):
            return None
        evaluator = Evaluator(0, 2 * SCOUT, self.budget)
        ratios: list[Any] = []
        for index in range(POINTS):
            evaluator.index = index
            try:
                inverse = evaluator.raise_to(evaluator.value(theirs), Fraction(-1))
                ratios.append(evaluator.inexact(evaluator.multiply(evaluator.value(ours), inverse)))
            except UndefinedError:
                continue
        if not ratios or not all(evaluator.is_real(ratio) for ratio in ratios):
            return None
        first = ratios[0].real
        constant = all(
            abs(ratio.real - first) <= abs(first) * evaluator.mp.mpf(2) ** -SCOUT for ratio in ratios
        )
        return first if constant and first else None

    # -- expressions

    def expressions(self, ours: Node, theirs: Node) -> bool:
        """Equality of two expressions at every fixed point where both are real, and somewhere."""
        closed = is_closed(ours) and is_closed(theirs)
        complex_valued = any(
            node.name == "i" for node in (*walk(ours), *walk(theirs)) if node.kind == "symbol"
        )
        points = [self.at_point(index, ours, theirs) for index in range(1 if closed else POINTS)]
        outcomes = [outcome for outcome in points if outcome is not None]
        decisive = [same for same, real in outcomes if real or complex_valued]
        return bool(outcomes) and all(decisive or [same for same, _ in outcomes])

    def at_point(self, index: int, ours: Node, theirs: Node) -> tuple[bool, bool] | None:
        """Whether two expressions agree at a point, and whether one is real; None if both are undefined."""
        scout = Evaluator(index, SCOUT, self.budget)
        values = [_defined(scout, node) for node in (ours, theirs)]
        if None in values:
            return None if values == [None, None] else (False, True)
        real = any(scout.is_real(value) for value in values)
        if all(isinstance(value, Fraction) for value in values):
            return values[0] == values[1], True
        precision = SCOUT + 2 * scout.widest
        for bits in (precision, 2 * precision):
            evaluator = Evaluator(index, bits, self.budget)
            a, b = (evaluator.inexact(_defined(evaluator, node)) for node in (ours, theirs))
            if (
                a is None
                or b is None
                or abs(a - b) > max(abs(a), abs(b), 1) * evaluator.mp.mpf(2) ** (-bits // 2)
            ):
                return False, real
        return True, real


def _defined(evaluator: Evaluator, node: Node) -> Any:
    """The value of an expression; None where it has none."""
    try:
        return evaluator.value(node)
    except UndefinedError:
        return None


def _names_differ(ours: Node, theirs: Node) -> bool:
    """Whether two equations name different variables (`x = 2` and `y = 2`)."""
    names = [node.children[0] for node in (ours, theirs) if node.kind == "relation" and node.name == "="]
    return len(names) == 2 and names[0] != names[1] and all(name.kind == "symbol" for name in names)
