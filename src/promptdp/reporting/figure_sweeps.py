"""Figure 3: the arms of each supporting block, budgets and clipping norms say, against the public base."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from promptdp.reporting import style
from promptdp.reporting.drawing import Drawing
from promptdp.reporting.forest import frame, key_of, mark, room, statement
from promptdp.reporting.inputs import Inputs, read_inputs
from promptdp.reporting.notes import arm_label
from promptdp.reporting.points import COLUMNS, Point, against_base, endpoints, no_contrasts
from promptdp.reporting.shown import ALTERNATIVE, REFERENCE, sweeps
from promptdp.study import Study

Place = tuple[str, str]
"""A block and an arm in it."""

LOOKS = {REFERENCE: ("#000000", "D"), ALTERNATIVE: ("#0072B2", "o")}
LINES_TO_ARM, LINES_TO_SEEDS, LINES_BETWEEN_ARMS, LINES_BETWEEN_BLOCKS = 2.3, 1.2, 2.8, 0.8
KEY = (
    ("reference of its block, 95% interval", *LOOKS[REFERENCE], style.MEAN),
    ("alternative, 95% interval", *LOOKS[ALTERNATIVE], style.MEAN),
    ("one seed", style.INK, "o", style.SEED | {"linestyle": ""}),
)
GUIDE_LOOK: dict[str, Any] = {"color": style.GUIDE, "linewidth": 0.8, "linestyle": ":", "zorder": 0}


@dataclass(frozen=True)
class BlockPoint:
    """A point of an arm in a block, of which it is the reference or an alternative to that."""

    block: str
    role: str
    point: Point

    @property
    def place(self) -> Place:
        """The row of the point."""
        return self.block, self.point.arm

    def row(self) -> dict[str, Any]:
        """The point as a row of the figure's data."""
        return {"block": self.block, "role": self.role, **self.point.row()}


def draw(study: Study, paths: Sequence[Path]) -> Drawing:
    """Figure 3 from the study's contrasts with its base under the strict scorers.

    Raises:
        InputError: an input is not usable, or none is such a contrast though the study names some.
    """
    columns = ("block", "role", *COLUMNS)
    points = differences_to_base(study, read_inputs(study, paths))
    if points:
        return Drawing(_draw(study, points), columns, [point.row() for point in points])
    if any(sweeps(study, name) for name in endpoints(study)):
        raise no_contrasts(3, study)
    return Drawing(statement(study, "No block of this study contrasts an arm with the base."), columns, [])


def differences_to_base(study: Study, inputs: Inputs) -> list[BlockPoint]:
    """Each arm of each block and its seeds, on the evaluation set of every benchmark."""
    return [
        BlockPoint(block, role, point)
        for name in endpoints(study)
        for block, roles in sweeps(study, name).items()
        for arm, role in roles.items()
        for point in against_base(study, inputs, name, arm)
    ]


def _draw(study: Study, points: Sequence[BlockPoint]) -> Figure:
    headings, lines = _rows(study, points)
    guide = Line2D([], [], label="the reference's gain", **GUIDE_LOOK)
    figure, axes = frame(
        study,
        [shown.point for shown in points],
        headings | {line: arm_label(study, arm) for (_, arm), line in lines.items()},
        max(lines.values()) + LINES_TO_SEEDS + 1,
        [*key_of(KEY), guide],
        headings,
    )
    for shown in points:
        axis, line = axes[shown.point.evaluation_set], lines[shown.place]
        color, marker = LOOKS[shown.role]
        if shown.point.seed is not None:
            below = line + LINES_TO_SEEDS
            axis.plot(shown.point.difference_pp, below, marker=marker, color=color, **style.SEED)
            continue
        mark(axis, line, shown.point, color, marker, style.MEAN)
        if shown.role == REFERENCE:
            block = [line for place, line in lines.items() if place[0] == shown.block]
            ends = [min(block), max(block) + LINES_TO_SEEDS]
            axis.plot([shown.point.difference_pp] * 2, ends, **GUIDE_LOOK)
    return figure


def _rows(study: Study, points: Sequence[BlockPoint]) -> tuple[dict[float, str], dict[Place, float]]:
    """The headings of blocks by their line from the top, and the line of each place."""
    headings: dict[float, str] = {}
    lines: dict[Place, float] = {}
    line = 0.0
    for block in dict.fromkeys(point.block for point in points):
        headings[line + room(block)] = block
        line += 2 * room(block) + LINES_TO_ARM
        for arm in dict.fromkeys(point.point.arm for point in points if point.block == block):
            space = room(arm_label(study, arm))
            lines[block, arm] = line + space
            line += 2 * space + LINES_BETWEEN_ARMS
        line += LINES_BETWEEN_BLOCKS
    return headings, lines
