"""How figures look: made for a journal's page, distinct in colour and in grey, reproducible to the byte."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from promptdp.files import atomic, with_ending

WIDTH = 7.16  # inches, two columns of an IEEE page

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 8,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # TrueType, embedded and editable
    "svg.fonttype": "path",
    "svg.hashsalt": "promptdp",
}

MARKERS = (
    ("#0072B2", "o"),
    ("#D55E00", "s"),
    ("#009E73", "D"),
    ("#000000", "^"),
    ("#CC79A7", "v"),
    ("#56B4E9", "P"),
    ("#E69F00", "X"),
)
"""Colour and shape by arm, in the order of a study: Okabe and Ito's colours, told apart by shape in grey."""

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
    "png": {"metadata": {"Software": None}, "dpi": 200},
}
"""What is said to each format's writer, so that no date and no version enters the file."""


def save(figure: Figure, stem: Path) -> None:
    """Write STEM.pdf, STEM.svg and STEM.png, each atomically."""
    for ending, settings in FORMATS.items():
        with atomic(with_ending(stem, ending)) as temporary:
            figure.savefig(temporary, format=ending, **settings)
