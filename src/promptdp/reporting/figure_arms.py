"""Figure 2: every arm and every seed against the public base, per benchmark."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from promptdp.reporting import style
from promptdp.reporting.drawing import Drawing
from promptdp.reporting.forest import frame, key_of, mark, room, statement
from promptdp.reporting.inputs import Inputs, read_inputs
from promptdp.reporting.notes import arm_label
from promptdp.reporting.points import COLUMNS, Point, against_base, endpoints, no_contrasts
from promptdp.reporting.shown import arms_against_base
from promptdp.study import Study

LINES_TO_SEED, LINES_BETWEEN_ARMS = 1.6, 2.8  # an arm's mean, its seeds a line apart below, then the next arm
KEY = (
    ("mean of seeds, 95% interval over problems", style.INK, "o", style.MEAN),
    ("one seed, 95% interval over problems", style.INK, "o", style.SEED),
)


def draw(study: Study, paths: Sequence[Path]) -> Drawing:
    """Figure 2 from the study's contrasts with its base under the strict scorers.

    Raises:
        InputError: an input is not usable, or none is such a contrast though the study names some.
    """
    points = differences_to_base(study, read_inputs(study, paths))
    if points:
        return Drawing(_draw(study, points), COLUMNS, [point.row() for point in points])
    if any(arms_against_base(study, name) for name in endpoints(study)):
        raise no_contrasts(2, study)
    return Drawing(statement(study, "No arm of this study is contrasted with the public base."), COLUMNS, [])


def differences_to_base(study: Study, inputs: Inputs) -> list[Point]:
    """Each arm outside blocks and each of its seeds, on the evaluation set of every benchmark."""
    return [
        point
        for name in endpoints(study)
        for arm in arms_against_base(study, name)
        for point in against_base(study, inputs, name, arm)
    ]


def _draw(study: Study, points: Sequence[Point]) -> Figure:
    rows = _rows(study, points)
    names = {line: arm_label(study, arm) for (arm, seed), line in rows.items() if seed is None}
    figure, axes = frame(study, points, names, max(rows.values()) + 1, key_of(KEY))
    trained = [arm for arm, spec in study.arms.items() if spec.trained]
    for point in points:
        color, marker = style.MARKERS[trained.index(point.arm) % len(style.MARKERS)]
        look = style.MEAN if point.seed is None else style.SEED
        mark(axes[point.evaluation_set], rows[point.arm, point.seed], point, color, marker, look)
    return figure


def _rows(study: Study, points: Sequence[Point]) -> dict[tuple[str, int | None], float]:
    """The line of each (arm, seed), from the top: an arm's mean, then its seeds."""
    rows: dict[tuple[str, int | None], float] = {}
    line = 0.0
    for arm in study.arms:
        seeds = sorted({point.seed for point in points if point.arm == arm and point.seed is not None})
        if seeds:
            space = room(arm_label(study, arm))
            rows[arm, None] = line + space
            rows |= {(arm, seed): line + space + LINES_TO_SEED + n for n, seed in enumerate(seeds)}
            line = rows[arm, seeds[-1]] + space + LINES_BETWEEN_ARMS
    return rows
