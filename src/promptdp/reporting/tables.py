"""The paper's tables for any study: I to VI, X and XI."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from promptdp.errors import InputError
from promptdp.reporting import accuracy_tables, contrast_tables, settings_tables
from promptdp.reporting.inputs import Inputs, read_inputs
from promptdp.reporting.notes import headline, warnings
from promptdp.reporting.table import Table, write_table
from promptdp.study import Study

__all__ = ["TABLES", "Table", "make_table", "write_table"]

TABLES: dict[int, Callable[[Study, Inputs], Table]] = {
    1: settings_tables.benchmarks,
    2: contrast_tables.gains,
    3: partial(accuracy_tables.benchmark, place=0),
    4: partial(accuracy_tables.benchmark, place=1),
    5: partial(accuracy_tables.benchmark, place=2),
    6: settings_tables.accounting,
    10: accuracy_tables.seeds,
    11: contrast_tables.seeds,
}

NEEDED = {
    1: "calibrations",
    2: "contrasts under the strict scorer",
    3: "scores",
    4: "scores",
    5: "scores",
    6: "calibrations",
    10: "scores",
    11: "contrasts",
}
"""What each table cannot do without."""


def make_table(number: int, study: Study, inputs: Sequence[Path]) -> Table:
    """Make a table by its number in the paper; what the study or the inputs lack is shown as absent.

    Args:
        number: a key of `TABLES`.
        study: the study; it gives rows, columns and captions.
        inputs: score files, contrasts, calibrations and compositions of the study, in any order.

    Raises:
        InputError: there is no such table, an input is not usable (`read_inputs`), or none holds anything
        that the table shows.
    """
    if number not in TABLES:
        raise InputError(f"table {number}: is not made here; there are {', '.join(map(str, TABLES))}")
    read = read_inputs(study, inputs)
    table = TABLES[number](study, read)
    if _shows_none(number, study, read, table):
        raise InputError(
            f"table {number}: no input holds what it shows; give the {NEEDED[number]} of {study.name}"
        )
    caption = f"{table.caption} Study {study.name}."
    return replace(
        table,
        number=number,
        caption=f"{warning}. {caption}" if (warning := headline(study)) else caption,
        notes=(*warnings(study), *table.notes),
        inputs=read.hashes,
    )


def _shows_none(number: int, study: Study, inputs: Inputs, table: Table) -> bool:
    """Whether the inputs hold nothing of what the study has for a table."""
    if number == 1:  # all but the noise multipliers comes from the study, which may calibrate none of its own
        return not inputs.calibrations and any(spec.private for spec in study.arms.values())
    return bool(table.rows) and table.rows == TABLES[number](study, Inputs()).rows
