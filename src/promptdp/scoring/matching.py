"""Pairing of the items of two unordered collections, whose equality need not be transitive."""

from collections.abc import Sequence

from promptdp.scoring.applied import Same
from promptdp.scoring.nodes import Node


def matched(left: Sequence[Node], right: Sequence[Node], same: Same) -> bool:
    """Whether each item of one collection can be paired with its own equal item of the other."""
    if len(left) != len(right):
        return False
    equals: list[list[int]] = []
    for item in left:
        equals.append([index for index, other in enumerate(right) if same(item, other)])
        if not equals[-1]:
            return False
    partners: dict[int, int] = {}
    return all(_paired(item, equals, partners) for item in range(len(left)))


def _paired(item: int, equals: list[list[int]], partners: dict[int, int]) -> bool:
    """Pair an item on the left, moving others to another of their equals where they stand in the way."""
    taken = {right: left for left, right in partners.items()}
    reached: dict[int, int] = {}
    waiting = [item]
    for left in waiting:
        for right in equals[left]:
            if right in reached:
                continue
            reached[right] = left
            if right in taken:
                waiting.append(taken[right])
                continue
            free: int | None = right
            while free is not None:
                mover = reached[free]
                partners[mover], free = free, partners.get(mover)
            return True
    return False


def covered(left: Sequence[Node], right: Sequence[Node], same: Same) -> bool:
    """Whether each item of either collection equals some item of the other, as members of sets do."""
    return all(any(same(item, other) for other in right) for item in left) and all(
        any(same(other, item) for other in left) for item in right
    )
