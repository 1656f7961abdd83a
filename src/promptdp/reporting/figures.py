"""The paper's figures for any study: figure 2, every arm and every seed against the public base."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from promptdp.errors import InputError
from promptdp.files import with_ending, write_text
from promptdp.reporting import style
from promptdp.reporting.inputs import Inputs, read_inputs
from promptdp.reporting.notes import DAGGER, arm_label, headline
from promptdp.reporting.shown import base_of, endpoint, scorers_of
from promptdp.statistics.contrast import CONFIDENCE
from promptdp.statistics.lattice import bootstrap_quantiles
from promptdp.study import Study

INCHES_PER_LINE = 0.085
LINES_TO_SEED, LINES_BETWEEN_ARMS = 1.6, 2.8  # an arm's mean, its seeds a line apart below, then the next arm


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


def make_figure(number: int, study: Study, inputs: Sequence[Path], stem: str | Path) -> None:
    """Write a figure by its number in the paper as STEM.pdf, STEM.svg and STEM.png, and its data as STEM.csv.

    The same inputs give the same bytes.

    Raises:
        InputError: there is no such figure, an input is not usable (`read_inputs`), or none holds what the
        figure shows.
    """
    if number != 2:
        raise InputError(f"figure {number}: is not made here; there is 2")
    stem = Path(stem)
    points = differences_to_base(study, read_inputs(study, inputs))
    if not points and _contrasts_with_base(study):
        raise InputError(
            f"figure 2: no input is one of the contrasts it shows; give those of {study.name} with its base "
            "under the strict scorer"
        )
    with matplotlib.style.context(["default", style.STYLE]):
        style.save(_draw(study, points), stem)
    write_text(with_ending(stem, "csv"), _as_csv(points))


def differences_to_base(study: Study, inputs: Inputs) -> list[Point]:
    """Each arm and each of its seeds against the base, under the strict scorer of every benchmark's
    evaluation set.

    A seed's interval is the exact bootstrap of its own differences, an arm's is its contrast's.
    """
    points = []
    for benchmark in study.benchmarks:
        evaluation_set = endpoint(study, benchmark)
        if evaluation_set is None:
            continue
        rule = scorers_of(study, evaluation_set)["strict"]
        for arm, spec in study.arms.items():
            contrast = inputs.contrasts.get((evaluation_set, rule, arm, base_of(study) or ""))
            if contrast is None:
                continue
            point = partial(
                Point, evaluation_set, arm, spec.label, spec.private, contrast["versus_accuracy_pp"]
            )
            points.append(point(None, contrast["difference_pp"], *contrast["ci95_pp"]))
            for test, value in zip(contrast["mcnemar"], contrast["per_seed_pp"], strict=True):
                points.append(point(test["seed"], value, *_seed_interval(test, contrast["n_problems"])))
    return points


def _contrasts_with_base(study: Study) -> bool:
    """Whether the study has a contrast for the figure."""
    sets = filter(None, (endpoint(study, benchmark) for benchmark in study.benchmarks))
    return any(spec.versus == base_of(study) for name in sets for spec in study.evaluated_contrasts(name))


def _seed_interval(test: dict[str, Any], problems: int) -> tuple[float, float]:
    wins, losses = test["b"], test["c"]
    units = np.repeat([1, -1, 0], [wins, losses, problems - wins - losses])
    low, high = bootstrap_quantiles(units, CONFIDENCE)
    return 100 * low / problems, 100 * high / problems


def _draw(study: Study, points: list[Point]) -> Figure:
    panels = list(dict.fromkeys(point.evaluation_set for point in points))
    rows = _rows(study, points)
    height = max(rows.values(), default=0) + LINES_BETWEEN_ARMS
    columns = max(1, len(panels))
    figure = Figure(figsize=(style.WIDTH, 1.1 + INCHES_PER_LINE * height), layout="constrained")
    axes = figure.subplots(1, columns, sharey=True, squeeze=False)[0]
    for axis, panel in zip(axes, panels, strict=False):
        _panel(axis, rows, [point for point in points if point.evaluation_set == panel])
    arms = {arm: row for (arm, seed), row in rows.items() if seed is None}
    axes[0].set_yticks(list(arms.values()), [arm_label(study, arm) for arm in arms])
    axes[0].set_ylim(height - 1, -1.5)
    figure.legend(handles=_key(study, list(arms)), loc="outside lower center", ncols=4)
    if warning := headline(study):
        figure.suptitle(warning, fontsize=9, fontweight="bold")
    if not panels:
        axes[0].set_title("No arm is contrasted with the public base.")
    return figure


def _rows(study: Study, points: list[Point]) -> dict[tuple[str, int | None], float]:
    """The height of each (arm, seed), in lines from the top: an arm's mean, then its seeds."""
    rows: dict[tuple[str, int | None], float] = {}
    line = 0.0
    for arm in study.arms:
        seeds = sorted({point.seed for point in points if point.arm == arm and point.seed is not None})
        if seeds:
            rows[arm, None] = line
            rows |= {(arm, seed): line + LINES_TO_SEED + place for place, seed in enumerate(seeds)}
            line = rows[arm, seeds[-1]] + LINES_BETWEEN_ARMS
    return rows


def _panel(axis: Axes, rows: dict[tuple[str, int | None], float], points: list[Point]) -> None:
    axis.axvline(0, color="0.45", linewidth=0.8, zorder=0)
    axis.grid(axis="x", color="0.9", linewidth=0.5, zorder=-1)
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)
    axis.set_title(f"{points[0].evaluation_set}, strict (base {points[0].base_accuracy_pp:.1f}%)")
    axis.set_xlabel("Gain over the base (points)")
    arms = list(dict.fromkeys(arm for arm, _ in rows))
    for point in points:
        color, marker = style.MARKERS[arms.index(point.arm) % len(style.MARKERS)]
        look = style.SEED if point.seed is not None else style.MEAN
        row = rows[point.arm, point.seed]
        axis.plot([point.low_pp, point.high_pp], [row, row], color=color, linewidth=look["linewidth"])
        axis.plot(point.difference_pp, row, marker=marker, color=color, **look)


def _key(study: Study, arms: list[str]) -> list[Line2D]:
    """What the marks mean; which arm is which stands beside the rows."""
    key = [
        Line2D([], [], color="0.25", marker="o", label="mean of seeds", **style.MEAN),
        Line2D([], [], color="0.25", marker="o", label="one seed", **style.SEED),
        Line2D([], [], color="0.25", linewidth=1.2, label="95% interval over problems"),
    ]
    if any(not study.arms[arm].private for arm in arms):
        key.append(Line2D([], [], linestyle="", label=f"{DAGGER} not private"))
    return key


def _as_csv(points: list[Point]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Point)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {**asdict(point), "seed": "mean" if point.seed is None else point.seed} for point in points
    )
    return text.getvalue()
