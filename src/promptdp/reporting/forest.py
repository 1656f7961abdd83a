"""The frame of figures 2 and 3: named rows on the left, and a panel of gains for each evaluation set."""

import string
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.ticker import MaxNLocator

from promptdp.reporting import style
from promptdp.reporting.notes import DAGGER, headline
from promptdp.reporting.points import Point
from promptdp.reporting.shown import scorers_of
from promptdp.study import Study

INCHES_PER_LINE, INCHES_PER_ENTRY = 0.085, 0.15
INCHES_AROUND_PANEL, INCHES_AROUND_KEY = 0.75, 0.2  # titles and axis; the space above and below
PANELS_ABREAST = 3
CHARACTERS, LINES_OF_TEXT = 27, 1.6  # of a row's name before it goes on below, and how far below


def frame(
    study: Study,
    points: Sequence[Point],
    rows: Mapping[float, str],
    lines: float,
    key: Sequence[Line2D],
    headings: Collection[float] = (),
) -> tuple[Figure, dict[str, Axes]]:
    """A figure with a panel for each evaluation set of some points, to be filled by `mark`.

    It is as wide as a column of a page for one panel, as both columns for more.

    Args:
        study: gives the panels' titles, and the warning above them.
        points: at least one.
        rows: their names, by their line from the top.
        lines: how many lines a panel is high.
        key: what the marks mean.
        headings: the lines of rows that only say what the rows below have in common.
    """
    sets = {point.evaluation_set: point.base_accuracy_pp for point in points}
    key = [*key, *_dagger(points)]
    abreast = min(len(sets), PANELS_ABREAST)
    deep = -(-len(sets) // abreast)
    entries_abreast = 1 if abreast == 1 else len(key)
    height = (
        deep * (INCHES_AROUND_PANEL + INCHES_PER_LINE * (lines + 1))
        + INCHES_AROUND_KEY
        + INCHES_PER_ENTRY * len(key) / entries_abreast
    )
    figure = Figure(figsize=(style.COLUMN if abreast == 1 else style.PAGE, height), layout="constrained")
    grid = figure.subplots(deep, abreast, sharey=True, squeeze=False)
    for axis in grid.flat[len(sets) :]:
        axis.set_visible(False)
    axes = dict(zip(sets, grid.flat, strict=False))
    for letter, (name, axis) in zip(string.ascii_lowercase, axes.items(), strict=False):
        _furnish(axis)
        title = f"({letter}) {name}" if len(sets) > 1 else name
        _title(axis, title, f"{scorers_of(study, name)['strict']}, base {sets[name]:.1f}%")
    for axis in grid[:, 0]:
        _name_rows(axis, rows, headings)
    grid[0, 0].set_ylim(lines, -1)
    figure.legend(handles=key, loc="outside lower center", ncols=entries_abreast)
    if warning := headline(study):
        figure.suptitle(warning, fontsize=9, fontweight="bold")
    return figure, axes


def mark(axis: Axes, line: float, point: Point, color: str, marker: str, look: Mapping[str, Any]) -> None:
    """A point with its interval on a line of a panel."""
    axis.plot([point.low_pp, point.high_pp], [line, line], color=color, linewidth=look["linewidth"])
    axis.plot(point.difference_pp, line, marker=marker, color=color, **look)


def room(name: str) -> float:
    """How many lines the name of a row takes above the row, and as many below, if it is long."""
    return LINES_OF_TEXT * (len(textwrap.wrap(name, CHARACTERS)) - 1) / 2


def key_of(looks: Iterable[tuple[str, str, str, Mapping[str, Any]]]) -> list[Line2D]:
    """Entries of a key, from what each says, its colour, its marker and its look."""
    return [
        Line2D([], [], label=text, color=color, marker=marker, **look) for text, color, marker, look in looks
    ]


def statement(study: Study, text: str) -> Figure:
    """A figure that says why it shows no data."""
    figure = Figure(figsize=(style.COLUMN, 0.9))
    lines = [headline(study), *textwrap.wrap(text, 56)]
    figure.text(0.5, 0.5, "\n".join(filter(None, lines)), ha="center", va="center")
    return figure


def _furnish(axis: Axes) -> None:
    axis.axvline(0, color=style.GUIDE, linewidth=0.8, zorder=0)
    axis.grid(axis="x", color=style.GRID, linewidth=0.5, zorder=-1)
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)
    axis.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axis.set_xlabel("Gain over the base (percentage points)")


def _title(axis: Axes, title: str, below: str) -> None:
    axis.set_title(title, fontweight="bold", pad=14)
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axis.annotate(below, (0, 1), (0, 4), fontsize=style.SMALL, **place)


def _name_rows(axis: Axes, rows: Mapping[float, str], headings: Collection[float]) -> None:
    axis.set_yticks(list(rows), [textwrap.fill(name, CHARACTERS) for name in rows.values()])
    for line, label in zip(rows, axis.get_yticklabels(), strict=True):
        label.set(linespacing=0.85, fontweight="bold" if line in headings else "normal")


def _dagger(points: Sequence[Point]) -> list[Line2D]:
    """What the dagger beside an arm's name means, where one carries it."""
    if all(point.private for point in points):
        return []
    outline = TextPath((0, 0), DAGGER)
    centred = Path(outline.vertices - outline.get_extents().get_points().mean(axis=0), outline.codes)
    entry = Line2D([], [], linestyle="", marker=centred, color=style.INK, label="not private")
    entry.set(markersize=6, markeredgewidth=0)
    return [entry]
