"""The paper's figures for any study, each drawn by a module of its own."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from promptdp.errors import InputError
from promptdp.study import Study

MODULES = {
    1: "promptdp.reporting.figure_round",
    2: "promptdp.reporting.figure_arms",
    3: "promptdp.reporting.figure_sweeps",
}


def module_of(number: int) -> str:
    """The module that draws a figure, found by name alone: what it imports decides what the figure shows.

    Raises:
        InputError: there is no such figure.
    """
    if number not in MODULES:
        raise InputError(f"figure {number}: is not made here; there are {', '.join(map(str, MODULES))}")
    return MODULES[number]


def make_figure(number: int, study: Study, inputs: Sequence[Path], stem: str | Path) -> None:
    """Write a figure by its number in the paper as STEM.pdf, STEM.svg and STEM.png, and its data as STEM.csv.

    STEM.json says what it was made from. The same inputs give the same bytes.

    Raises:
        InputError: there is no such figure, an input is not usable (`read_inputs`), or none holds what the
        figure shows.
    """
    module = import_module(module_of(number))
    # Imported here, since the workflow asks for the modules without needing matplotlib.
    from promptdp.reporting.drawing import write_drawing

    write_drawing(number, module.draw, study, inputs, Path(stem))
