"""Differences to the public base, by arm and by seed: what figures 2 and 3 plot."""

from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any

import numpy as np

from promptdp.errors import InputError
from promptdp.reporting.inputs import Inputs
from promptdp.reporting.shown import base_of, endpoint, scorers_of
from promptdp.statistics.contrast import CONFIDENCE
from promptdp.statistics.lattice import bootstrap_quantiles
from promptdp.study import Study


@dataclass(frozen=True)
class Point:
    """A difference to the base in points with its 95% interval; `seed` is None for the mean of seeds."""

    evaluation_set: str
    arm: str
    label: str
    private: bool
    base_accuracy_pp: float
    seed: int | None
    difference_pp: float
    low_pp: float
    high_pp: float

    def row(self) -> dict[str, Any]:
        """The point as a row of a figure's data."""
        return {**asdict(self), "seed": "mean" if self.seed is None else self.seed}


COLUMNS = tuple(field.name for field in fields(Point))


def endpoints(study: Study) -> list[str]:
    """The evaluation set that each benchmark is reported on, where it has one."""
    return [name for benchmark in study.benchmarks if (name := endpoint(study, benchmark))]


def against_base(study: Study, inputs: Inputs, evaluation_set: str, arm: str) -> list[Point]:
    """An arm's mean and then each of its seeds against the base, under the strict scorer of a set.

    The mean's interval is its contrast's, a seed's is the exact bootstrap of its own differences. Without
    such a contrast among the inputs there is no point.
    """
    rule = scorers_of(study, evaluation_set)["strict"]
    contrast = inputs.contrasts.get((evaluation_set, rule, arm, base_of(study) or ""))
    if contrast is None:
        return []
    spec = study.arms[arm]
    point = partial(Point, evaluation_set, arm, spec.label, spec.private, contrast["versus_accuracy_pp"])
    seeds = zip(contrast["mcnemar"], contrast["per_seed_pp"], strict=True)
    return [
        point(None, contrast["difference_pp"], *contrast["ci95_pp"]),
        *(point(test["seed"], value, *_seed_interval(test, contrast["n_problems"])) for test, value in seeds),
    ]


def no_contrasts(number: int, study: Study) -> InputError:
    """The error of a figure whose contrasts the study names and no input holds."""
    return InputError(
        f"figure {number}: no input is one of the contrasts it shows; give those of {study.name} with its "
        "base under the strict scorer"
    )


def _seed_interval(test: dict[str, Any], problems: int) -> tuple[float, float]:
    wins, losses = test["b"], test["c"]
    units = np.repeat([1, -1, 0], [wins, losses, problems - wins - losses])
    low, high = bootstrap_quantiles(units, CONFIDENCE)
    return 100 * low / problems, 100 * high / problems
