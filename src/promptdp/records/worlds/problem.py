"""What the three worlds have in common: a problem, and the split that its unit falls into."""

import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from promptdp.records.record import Record

Split = Literal["public", "dev", "train", "eval"]
SPLIT_OF_TENTH: tuple[Split, ...] = ("public",) * 5 + ("dev",) + ("train",) * 2 + ("eval",) * 2


@dataclass(frozen=True)
class Problem:
    """One problem of a world.

    Attributes:
        unit: what may not stand in two splits (the expression; the scenario and its numbers; the word and its
            set of options): two phrasings of one unit are one problem.
        kind: the phrasing or scenario, which decides the mixture of styles in the public corpus.
        question: what the model is shown.
        answer: the reference answer.
        completions: style -> a completion in that style, right but not always in the scored form.
        reference: the style of the worked solution, which the world's scorer accepts.
        choices: the options in the order of their letters, where there are options.
    """

    unit: str
    kind: str
    question: str
    answer: str
    completions: Mapping[str, str]
    reference: str
    choices: tuple[str, ...] | None = None

    def record(self, id: str) -> Record:
        """The problem as a record, its worked solution included."""
        solution = self.completions[self.reference]
        return Record(id, self.question, self.answer, solution, self.choices)


@dataclass(frozen=True)
class World:
    """A source of synthetic problems.

    Attributes:
        sample: draws a problem of any split.
        styles: kind -> style -> its share of the public corpus: what the base has to be talked out of.
        commonness: how often a problem that comes up is kept in the public corpus, in [0, 1]: what the base
            has rarely seen.
    """

    sample: Callable[[random.Random], Problem]
    styles: Mapping[str, Mapping[str, float]]
    commonness: Callable[[Problem], float] = lambda problem: 1.0

    def public_example(self, rng: random.Random) -> tuple[str, str]:
        """A (prompt, completion) pair of the public corpus, its unit in the public split."""
        while True:
            problem = self.sample(rng)
            if split_of(problem.unit) == "public" and rng.random() < self.commonness(problem):
                break
        styles = self.styles[problem.kind]
        (style,) = rng.choices(list(styles), list(styles.values()))
        return problem.question, problem.completions[style]


def split_of(unit: str) -> Split:
    """The split of a unit: half of all units are public, a tenth dev, a fifth train, a fifth eval."""
    return SPLIT_OF_TENTH[int.from_bytes(hashlib.sha256(unit.encode()).digest()[:8]) % 10]
