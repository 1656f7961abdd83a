"""Equality of two values of any type: expressions, collections, tuples, sets of reals, relations."""

from itertools import zip_longest

from promptdp.scoring import points, realsets
from promptdp.scoring.applied import as_letters
from promptdp.scoring.forms import arranged, expanded
from promptdp.scoring.limits import Budget
from promptdp.scoring.matching import covered, matched
from promptdp.scoring.matrices import computed
from promptdp.scoring.nodes import Node, quotient
from promptdp.scoring.relations import relations

PASSES = 8
"""How often the nodes of two expressions are passed over to be prepared for comparison."""
COLLECTIONS = {"list", "set"}
TUPLES = {"bracket", "matrix", "row", "ratio", "numeral", "union", "intersection", "difference"}


class Comparison:
    """One comparison within a budget of work."""

    def __init__(self, budget: Budget):
        self.budget = budget

    def values(self, ours: Node, theirs: Node) -> bool:
        """Equality of two values of any type.

        Raises:
            LimitError: the work is too much.
        """
        self.budget.spend(ours.size + theirs.size)
        if ours == theirs:
            return True
        if ours.kind == theirs.kind == "number":
            return False
        ours, theirs = (computed(expanded(node), self.budget) for node in (ours, theirs))
        kinds = (ours.kind, theirs.kind)
        if kinds == ("relation", "relation") and relations(ours, theirs, self.values, self.budget):
            return True
        ours, theirs = realsets.solved(ours), realsets.solved(theirs)
        if realsets.is_set(ours) or realsets.is_set(theirs):
            return self.sets(ours, theirs)
        if COLLECTIONS & {ours.kind, theirs.kind}:
            return self.collections(ours, theirs)
        if "percent" in kinds:
            return self.percentages(ours, theirs)
        if kinds[0] == kinds[1] and kinds[0] in TUPLES:
            return self.tuples(ours, theirs)
        return self.expressions(ours, theirs)

    def expressions(self, ours: Node, theirs: Node) -> bool:
        """Equality of two expressions: but for the order of terms and factors, or of their values."""
        self.budget.spend(PASSES * (ours.size + theirs.size))
        if arranged(ours) == arranged(theirs):
            return True
        left, right = as_letters((ours, theirs), self.values)
        return points.expressions(left, right, self.budget)

    def percentages(self, ours: Node, theirs: Node) -> bool:
        """Equality of percentages; one over 1 may be written without its sign, any as a fraction."""
        if ours.kind == theirs.kind:
            return self.values(ours.children[0], theirs.children[0])
        percentage, other = (ours, theirs) if ours.kind == "percent" else (theirs, ours)
        if other.kind == "degree":
            return False
        if self.expressions(percentage, other):
            return True
        size = points.real_value(other, self.budget)
        return bool(size is not None and abs(size) > 1) and self.values(percentage.children[0], other)

    def tuples(self, ours: Node, theirs: Node) -> bool:
        """Equality in order; a ratio is that of its terms to the first."""
        if ours.name != theirs.name or len(ours.children) != len(theirs.children):
            return False
        if ours.kind == "ratio" and not any(
            part.value == 0 for node in (ours, theirs) for part in node.children
        ):
            ratios = (
                [quotient(part, node.children[0]) for part in node.children[1:]] for node in (ours, theirs)
            )
            if all(map(self.values, *ratios)):
                return True
        if ours.kind in ("union", "intersection"):
            return matched(ours.children, theirs.children, self.values)
        return self.each(ours, theirs)

    def each(self, ours: Node, theirs: Node) -> bool:
        """Equality child by child."""
        pairs = zip_longest(ours.children, theirs.children)
        return all(a is not None and b is not None and self.values(a, b) for a, b in pairs)

    def collections(self, ours: Node, theirs: Node) -> bool:
        """Equality of lists and sets, in any order; a single value is no set of one member."""
        if not all(node.kind in COLLECTIONS for node in (ours, theirs)):
            return False
        same = covered if "set" in (ours.kind, theirs.kind) else matched
        return same(ours.children, theirs.children, self.values)

    def sets(self, ours: Node, theirs: Node) -> bool:
        """Equality of sets of reals; sets of anything else are compared part by part."""
        try:
            ends = [end for node in (ours, theirs) for end in realsets.endpoints(node)]
            ranks = self.ranks(ends)
            left, right = (realsets.cells(node, ranks.__getitem__) for node in (ours, theirs))
        except realsets.NotASetError:
            if COLLECTIONS & {ours.kind, theirs.kind}:
                return self.collections(ours, theirs)
            return ours.kind == theirs.kind and ours.kind in TUPLES and self.tuples(ours, theirs)
        return left == right

    def ranks(self, ends: list[Node]) -> dict[Node, int]:
        """The odd cell number of each endpoint, in increasing order, equal endpoints together.

        Raises:
            NotASetError: an endpoint is no real constant.
        """
        reals = {end: points.real_value(end, self.budget) for end in ends}
        if None in reals.values():
            raise realsets.NotASetError
        ranks: dict[Node, int] = {}
        previous = None
        for end in sorted(reals, key=reals.__getitem__):
            again = previous is not None and self.expressions(previous, end)
            ranks[end] = ranks[previous] if previous is not None and again else 2 * len(ranks) + 1
            previous = end
        return ranks
