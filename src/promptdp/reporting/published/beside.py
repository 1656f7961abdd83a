"""The values of our tables beside the published ones."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from promptdp.files import read_object
from promptdp.forms import Form, validated
from promptdp.reporting.published.printed import middle
from promptdp.reporting.published.values import Published, Value
from promptdp.reporting.table import SCHEMA

OURS = {
    "adv": "advantage",
    "accuracy": "strict",
    "final": "robust",
    "training prompts": "slots",
    "qt": "mt n",
}
"""Words of the paper's tables, and ours for them."""
IMPLIED = {"pp", "ε", "tokens", "format", "answer"}
"""Words that the one may have and the other not: units, and what an endpoint is called in full."""
MECHANISMS = ("6", "7")
WITHIN = 1e-3
"""Noise multipliers of one mechanism in the paper and in ours differ by at most this."""


class CellForm(Form):
    """A cell of a table."""

    values: dict[str, float | int | str | None]


class TableForm(Form):
    """The JSON twin of a table, as far as its numbers are read."""

    number: int
    columns: list[str]
    rows: list[list[CellForm]]


@dataclass(frozen=True)
class Entry:
    """A number of one of our tables."""

    row: frozenset[str]
    column: frozenset[str]
    value: float


def beside(published: Published, tables: Sequence[Path]) -> list[dict[str, Any]]:
    """Every published number of some tables with ours, or with None where our table has no such number.

    Rows and columns are the same where their words are, whatever their order, signs and case; a mechanism of
    Tables VI and VII is known by its n, m, T and noise multiplier.

    Raises:
        InputError: a file is no JSON twin of a table.
    """
    found = []
    for path in tables:
        content = validated(TableForm, read_object(path, SCHEMA), path)
        rows = [list(_entries(content["columns"], row)) for row in content["rows"]]
        for value in published:
            if value.table == str(content["number"]) and value.kind != "words":
                ours = _ours(published, value, rows)
                difference = None if ours is None else ours - float(middle(value.span))
                table, row, column = value.key
                found.append(
                    {
                        "table": table,
                        "row": row,
                        "column": column,
                        "published": value.text,
                        "ours": ours,
                        "difference": difference,
                    }
                )
    return found


def _entries(columns: list[str], row: list[dict[str, Any]]) -> Iterator[Entry]:
    """The numbers of a row; the cells of words that it begins with name it."""
    texts = (cell["values"].get("") for cell in row)
    name = " ".join(takewhile(lambda text: isinstance(text, str), texts))
    for column, cell in zip(columns, row, strict=True):
        for ending, value in cell["values"].items():
            if isinstance(value, int | float) and math.isfinite(value):
                yield Entry(_words(name) - {"strict"}, _words(f"{column} {ending}"), float(value))


def _ours(published: Published, value: Value, rows: list[list[Entry]]) -> float | None:
    if value.table in MECHANISMS:
        entries = [entry for row in rows if _same_mechanism(published, value, row) for entry in row]
    else:
        name = _words(value.row) - {"strict"}
        entries = [entry for row in rows for entry in row if entry.row == name]
    numbers = {entry.value for entry in entries if entry.column == _words(value.column)}
    return numbers.pop() if len(numbers) == 1 else None


def _same_mechanism(published: Published, value: Value, row: list[Entry]) -> bool:
    theirs = {
        column: float(middle(published.span(value.table, value.row, column)))
        for column in ("n", "m", "T", "σ")
    }
    ours = {entry.column: entry.value for entry in row}
    return all(
        abs(ours.get(_words(column), math.inf) - number) <= (WITHIN if column == "σ" else 0)
        for column, number in theirs.items()
    )


def _words(text: str) -> frozenset[str]:
    plain = " ".join(re.findall(r"[^\W_]+(?:\.\d+)?", text.lower()))
    for theirs, ours in OURS.items():
        plain = re.sub(rf"\b{theirs}\b", ours, plain)
    return frozenset(plain.split()) - IMPLIED
