"""The paper's tables for any study, and the checks beside them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from promptdp.errors import InputError
from promptdp.reporting import (
    accuracy_tables,
    arms_table,
    block_table,
    checks,
    contrast_tables,
    decomposition_table,
    mechanism_tables,
    protocol_table,
    settings_tables,
    transfer_table,
)
from promptdp.reporting.inputs import Inputs, read_inputs
from promptdp.reporting.notes import headline, warnings
from promptdp.reporting.table import Table, write_table
from promptdp.reporting.twin import settings_sha256
from promptdp.study import Study

__all__ = ["TABLES", "Table", "make_checks", "make_table", "write_table"]

TABLES: dict[int, Callable[[Study, Inputs], Table]] = {
    1: settings_tables.benchmarks,
    2: contrast_tables.gains,
    3: partial(accuracy_tables.benchmark, place=0),
    4: partial(accuracy_tables.benchmark, place=1),
    5: partial(accuracy_tables.benchmark, place=2),
    6: mechanism_tables.accounting,
    7: mechanism_tables.parameters,
    8: protocol_table.decisions,
    9: arms_table.arms,
    10: accuracy_tables.seeds,
    11: contrast_tables.seeds,
    12: block_table.blocks,
    13: transfer_table.transfer,
    14: decomposition_table.decomposition,
}

NEEDED = {
    1: "calibrations",
    2: "contrasts under the strict scorer",
    3: "scores",
    4: "scores",
    5: "scores",
    6: "calibrations",
    7: "calibrations",
    8: "stamps",
    10: "scores",
    11: "contrasts",
    12: "contrasts under the strict scorer",
    13: "scores",
    14: "scores",
}
"""What each table cannot do without; the study alone is enough for the others."""


def make_table(number: int, study: Study, inputs: Sequence[Path]) -> Table:
    """Make a table by its number in the paper; what the study or the inputs lack is shown as absent.

    Args:
        number: a key of `TABLES`.
        study: the study; it gives rows, columns and captions.
        inputs: score files, contrasts, calibrations, compositions and stamps of the study, in any order.

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
    return replace(_finished(table, study, read), number=number)


def make_checks(study: Study, inputs: Sequence[Path]) -> Table:
    """The `checks` of a study.

    Raises:
        InputError: an input is not usable (`read_inputs`), or none is a file of scores.
    """
    read = read_inputs(study, inputs)
    if not read.score_files:
        raise InputError(f"checks: no input is a file of scores; give those of {study.name}")
    return _finished(checks.checks(study, read), study, read)


def _finished(table: Table, study: Study, inputs: Inputs) -> Table:
    """A table with what every table of a study says: its warnings, its name, what it was made from."""
    caption = f"{table.caption} Study {study.name}."
    return replace(
        table,
        caption=f"{warning}. {caption}" if (warning := headline(study)) else caption,
        notes=(*warnings(study), *table.notes),
        study=study.name,
        study_sha256=settings_sha256(study),
        inputs=inputs.hashes,
    )


def _shows_none(number: int, study: Study, inputs: Inputs, table: Table) -> bool:
    """Whether the inputs hold nothing of what the study has for a table."""
    if number == 1:  # all but the noise multipliers comes from the study, which may calibrate none of its own
        return not inputs.calibrations and any(spec.private for spec in study.arms.values())
    if number == 8:  # its rows are the stamps themselves
        return study.protocol is not None and not inputs.decisions
    return number in NEEDED and bool(table.rows) and table.rows == TABLES[number](study, Inputs()).rows
