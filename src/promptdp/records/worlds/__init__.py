"""Three synthetic worlds that mirror the paper's benchmarks, and the public corpus the tiny base learns from.

Splits are disjoint by a hash of the problem's unit, so no unit of the dev, train or eval split, in whatever
phrasing, occurs in the public corpus.
"""

import random
from collections.abc import Callable, Mapping
from types import MappingProxyType

from promptdp.errors import InputError
from promptdp.records.record import Record
from promptdp.records.worlds import arithmetic, choices, stories
from promptdp.records.worlds.problem import Problem, Split, World, split_of

__all__ = ["TOPICS", "WORLDS", "Problem", "World", "draw", "split_of"]

WORLDS: Mapping[str, World] = MappingProxyType(
    {"arithmetic": arithmetic.WORLD, "stories": stories.WORLD, "choices": choices.WORLD}
)

TOPICS: Mapping[str, Callable[[random.Random], tuple[str, str]]] = MappingProxyType(
    {
        **{name: world.public_example for name, world in WORLDS.items()},
        "facts": choices.fact,
        "letters": choices.letters,
    }
)
"""The topics of the public corpus: each draws a (prompt, completion) pair."""

PATIENCE = 20_000
"""Draws without a new unit after which a split counts as exhausted."""


def draw(world: str, split: Split, count: int, seed: int) -> list[Record]:
    """Draw `count` records of distinct units of one split of a world, the same for the same seed.

    Raises:
        InputError: the split holds fewer units.
    """
    rng = random.Random(f"{world} {split} {seed}")
    problems: dict[str, Problem] = {}
    idle = 0
    while len(problems) < count:
        problem = WORLDS[world].sample(rng)
        if split_of(problem.unit) == split and problem.unit not in problems:
            problems[problem.unit] = problem
            idle = 0
        elif (idle := idle + 1) > PATIENCE:
            raise InputError(
                f"{world}: its {split} split holds about {len(problems)} problems; ask for fewer"
            )
    return [problem.record(f"{world}-{split}-{i:05d}") for i, problem in enumerate(problems.values())]
