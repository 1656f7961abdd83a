"""Figure 1: one round of Algorithm 1, and what of it is private and what public."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import BoxStyle, FancyArrowPatch, FancyBboxPatch, Rectangle

from promptdp.reporting import style
from promptdp.reporting.drawing import Drawing
from promptdp.reporting.notes import headline
from promptdp.study import Study


@dataclass(frozen=True)
class Part:
    """A part of the diagram, in inches from the lower left corner; its words may hold formulas.

    `lines` are those of Algorithm 1. An arrow starts at (x, y) and goes by (width, height).
    """

    kind: str
    title: str
    text: str
    lines: str
    x: float
    y: float
    width: float
    height: float


HEIGHT, HEADLINE = 3.3, 0.22  # the second is added where there is a warning to give
COLUMNS, WIDE = (0.18, 1.55, 3.0, 4.37, 5.74), 1.17
STEP, SUM, SAMPLE, HIGH = 0.14, 1.26, 2.17, 0.64  # the lower ends of the rows of boxes, and how high they are
BOUNDARY = (0.86, 1.1)  # between the zones
SLOTS = ("rr.drr", "r.rrd.")
SLOT, BETWEEN_SLOTS = 0.12, 0.165
CONTENTS = {".": "none", "r": "record", "d": "record drawn"}
ACCENT = "#0072B2"


def _box(
    column: int, row: float, title: str, *texts: str, lines: str = "", kind: str = "box", columns: int = 1
) -> Part:
    x = COLUMNS[column]
    width = COLUMNS[column + columns - 1] + WIDE - x
    return Part(kind, title, "\n".join(texts), lines, x, row, round(width, 3), HIGH)


def _slots() -> list[Part]:
    left, top = COLUMNS[0] + (WIDE - 5 * BETWEEN_SLOTS - SLOT) / 2, SAMPLE + 0.33
    return [
        Part(
            "slot",
            CONTENTS[content],
            "",
            "",
            round(left + place * BETWEEN_SLOTS, 3),
            round(top - row * BETWEEN_SLOTS, 3),
            SLOT,
            SLOT,
        )
        for row, contents in enumerate(SLOTS)
        for place, content in enumerate(contents)
    ]


def _across(start: int, end: int, row: float) -> Part:
    """An arrow between boxes that stand beside one another."""
    right = start < end
    x = COLUMNS[start] + (WIDE if right else 0)
    to = COLUMNS[end] + (0 if right else WIDE)
    return Part("arrow", "", "", "", round(x, 3), row + HIGH / 2, round(to - x, 3), 0.0)


def _along(x: float, start: float, end: float, text: str = "") -> Part:
    return Part("arrow", "", text, "", round(x, 3), start, 0.0, round(end - start, 3))


PARTS = (
    Part("private", "Private: never leaves the curator", "", "", 0.07, BOUNDARY[1], 7.02, 2.14),
    Part("public", "Public", "known to the\nadversary, or\nreleased", "", 0.07, 0.06, 7.02, 0.8),
    Part("lane", r"For each record $i\in B_t$, on its own", "", "", 2.89, 1.17, 4.11, 1.91),
    _box(0, SAMPLE, "Records in slots", r"$n$ slots, $b_i=0$ if empty", kind="slots"),
    *_slots(),
    _box(
        1,
        SAMPLE,
        "Poisson sampling",
        r"$c_{t,i}\sim\mathrm{Bernoulli}(q)$",
        r"$B_t=\{i:\,c_{t,i}=b_i=1\}$",
        lines="2, 3",
        kind="mechanism",
    ),
    _box(
        2,
        SAMPLE,
        "Rollouts",
        r"$y_{i,g}\sim\pi_{\theta}(\cdot\,|\,x_i)$ at $\tau$,",
        r"$\theta=\theta_t$, $g=1,\ldots,G$",
        lines="4",
    ),
    _box(3, SAMPLE, "Verifier", r"$r_{i,g}=r(x_i,y_{i,g})$", lines="5"),
    _box(4, SAMPLE, "Advantages", r"$A_{i,g}=\dfrac{r_{i,g}-\mu_i}{s_i+c}$", lines="5"),
    _box(
        3,
        SUM,
        "Gradient of the record",
        r"$g_i=\nabla_{\!\theta}\,\ell_i(\theta_t)$ over all $G$ completions,",
        "accumulated over chunks of them",
        lines="6",
        columns=2,
    ),
    _box(
        2,
        SUM,
        "Clip once",
        r"$\bar g_i=g_i\,\min\!\left(1,\dfrac{C}{\|g_i\|_2}\right)$",
        lines="7",
        kind="mechanism",
    ),
    _box(
        1,
        SUM,
        "Noisy mean",
        r"$\hat g_t=\dfrac{1}{qn}\left(\sum_i\,\bar g_i+z_t\right)$",
        lines="8",
        kind="mechanism",
    ),
    _box(0, SUM, "Noise", r"$z_t\sim\mathcal{N}(0,\sigma^2C^2I_p)$", lines="8", kind="mechanism"),
    _box(1, STEP, "AdamW step", r"$\theta_{t+1}$ from $\theta_t$ and $\hat g_t$", lines="9"),
    _box(2, STEP, "Released weights", r"$\theta_2,\ldots,\theta_{T+1}$"),
    _box(
        3,
        STEP,
        "Public inputs",
        r"base model, $\theta_1$, $\pi_{\mathrm{ref}}$, verifier $r$, optimizer,",
        r"$q,\ C,\ \sigma,\ T,\ G,\ \tau,\ \beta$ and $n$",
        columns=2,
    ),
    *(_across(column, column + 1, SAMPLE) for column in range(4)),
    _along(COLUMNS[4] + WIDE / 2, SAMPLE, SUM + HIGH),
    *(_across(start, end, SUM) for start, end in ((3, 2), (2, 1), (0, 1))),
    _along(COLUMNS[1] + WIDE / 2, SUM, STEP + HIGH, r"$\hat g_t$"),
    _across(1, 2, STEP),
    _along(COLUMNS[2] + WIDE / 2, STEP + HIGH, 1.17, r"$\theta_t$ of the next round"),
    _along((COLUMNS[3] + COLUMNS[4] + WIDE) / 2, STEP + HIGH, BOUNDARY[1], "in every round"),
)


def draw(study: Study, paths: Sequence[Path]) -> Drawing:
    """Figure 1, which takes no data: what a study gives it is the warning that its runs are not private."""
    del paths
    warning = headline(study)
    height = HEIGHT + (HEADLINE if warning else 0)
    figure = Figure(figsize=(style.PAGE, height))
    if warning:
        figure.suptitle(warning, y=1 - 0.04 / height, fontsize=9, fontweight="bold")
    axis = figure.add_axes((0, 0, 1, HEIGHT / height))
    axis.set(xlim=(0, style.PAGE), ylim=(0, HEIGHT))
    axis.set_axis_off()
    for part in PARTS:
        _draw(axis, part)
    return Drawing(figure, tuple(field.name for field in fields(Part)), [asdict(part) for part in PARTS])


def _draw(axis: Axes, part: Part) -> None:
    left, top, centre = part.x + 0.11, part.y + part.height, part.x + part.width / 2
    match part.kind:
        case "private":
            _rectangle(axis, part, "0.9")
            _title(axis, left, top - 0.07, part.title, ha="left")
        case "public":
            _rectangle(axis, part, "white")
            _title(axis, left, top - 0.07, part.title, ha="left")
            _text(axis, left, top - 0.24, part.text, ha="left", va="top", linespacing=1.05)
        case "lane":  # one of many, the others behind it
            for offset in (0.06, 0.03, 0.0):
                _rectangle(axis, part, "0.97", offset, edgecolor=style.GUIDE)
            _title(axis, left, top - 0.05, part.title, ha="left")
        case "slots":
            _title(axis, centre, top - 0.02, part.title)
            _text(axis, centre, part.y + 0.06, part.text)
        case "slot":
            inside = {"none": "white", "record": "0.65", "record drawn": ACCENT}[part.title]
            _rectangle(axis, part, inside, linewidth=1.4 if inside == ACCENT else 0.5)
        case "box":
            _rounded(axis, part)
        case "mechanism":
            _rounded(axis, part, edgecolor=ACCENT, linewidth=1.4)
        case "arrow":
            end = (part.x + part.width, part.y + part.height)
            axis.add_patch(
                FancyArrowPatch(
                    (part.x, part.y),
                    end,
                    arrowstyle="-|>",
                    mutation_scale=7,
                    shrinkA=0,
                    shrinkB=0,
                    color=style.INK,
                    linewidth=0.9,
                )
            )
            _text(axis, part.x + 0.06, sum(BOUNDARY) / 2, part.text, ha="left")


def _rectangle(
    axis: Axes,
    part: Part,
    inside: str,
    offset: float = 0.0,
    edgecolor: str = style.INK,
    linewidth: float = 0.6,
) -> None:
    corner = (part.x + offset, part.y + offset)
    axis.add_patch(
        Rectangle(
            corner,
            part.width,
            part.height,
            facecolor=inside,
            edgecolor=edgecolor,
            linewidth=linewidth,
        )
    )


def _rounded(axis: Axes, part: Part, edgecolor: str = style.INK, linewidth: float = 0.6) -> None:
    """A box with its title above its text, and the lines of the algorithm on its edge."""
    axis.add_patch(
        FancyBboxPatch(
            (part.x, part.y),
            part.width,
            part.height,
            boxstyle=BoxStyle.Round(pad=0, rounding_size=0.05),
            facecolor="white",
            edgecolor=edgecolor,
            linewidth=linewidth,
        )
    )
    centre, top = part.x + part.width / 2, part.y + part.height
    _title(axis, centre, top - 0.06, part.title)
    _text(axis, centre, part.y + (part.height - 0.17) / 2, part.text, linespacing=1.05)
    if part.lines:
        tag = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": edgecolor, "linewidth": 0.6}
        _text(axis, part.x + 0.12, top + 0.02, part.lines, fontsize=6.5, bbox=tag)


def _title(axis: Axes, x: float, y: float, text: str, ha: str = "center") -> None:
    _text(axis, x, y, text, ha=ha, va="top", fontweight="bold")


def _text(
    axis: Axes, x: float, y: float, text: str, ha: str = "center", va: str = "center", **how: Any
) -> None:
    axis.text(x, y, text, ha=ha, va=va, parse_math=True, **how)
