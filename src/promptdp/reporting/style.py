"""How figures look: made for a journal's page, distinct in colour and in grey, reproducible to the byte."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib.style
from matplotlib.figure import Figure

from promptdp.files import atomic, with_ending

COLUMN, PAGE = 3.5, 7.16
"""The widths of one column and of both on an IEEE page, in inches."""

TEXT, SMALL = 8.6, 7.5
"""Sizes of text in points; the subscripts of a formula are 0.7 of it, so that none is below 6."""

STYLE: dict[str, Any] = {
    # Both families come with matplotlib: that of a page set in Times, and one for the letters that it lacks.
    "font.family": ["STIXGeneral", "DejaVu Sans"],
    "mathtext.fontset": "stix",
    "text.parse_math": False,  # a study's labels are plain text; formulas of ours say that they are formulas
    "font.size": TEXT,
    "axes.titlesize": TEXT,
    "axes.titlelocation": "left",
    "axes.labelsize": TEXT,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": TEXT,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # TrueType, embedded and editable
    "svg.fonttype": "path",
    "svg.hashsalt": "promptdp",
}

INK, GUIDE, GRID = "0.15", "0.45", "0.88"
"""Greys: of what is read, of lines that guide the eye, of the grid behind."""

MARKERS = (
    ("#44AA99", "o"),
    ("#882255", "s"),
    ("#C8642A", "D"),
    ("#000000", "^"),
    ("#0072B2", "v"),
    ("#DDAA33", "P"),
    ("#332288", "X"),
)
"""Colour and shape by arm, in the order of a study.

The colours differ in lightness, so that they differ in grey, and under each kind of colour blindness.
"""

MEAN: dict[str, Any] = {"markersize": 5.2, "linewidth": 1.8}
SEED: dict[str, Any] = {
    "markersize": 2.8,
    "linewidth": 0.6,
    "markerfacecolor": "white",
    "markeredgewidth": 0.7,
}

FORMATS: dict[str, dict[str, Any]] = {
    "pdf": {"metadata": {"CreationDate": None, "Producer": None, "Creator": None}},
    "svg": {"metadata": {"Date": None, "Creator": None}},
    "png": {"metadata": {"Software": None}, "dpi": 300},
}
"""What is said to each format's writer, so that no date and no version enters the file."""


def applied() -> AbstractContextManager[None]:
    """The context in which figures are drawn and saved; what a user has configured has no part in it."""
    return matplotlib.style.context(["default", STYLE])


def save(figure: Figure, stem: Path) -> None:
    """Write STEM.pdf, STEM.svg and STEM.png, each atomically."""
    for ending, settings in FORMATS.items():
        with atomic(with_ending(stem, ending)) as temporary:
            figure.savefig(temporary, format=ending, **settings)
