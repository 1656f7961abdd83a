"""The values of our tables beside the published ones."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptdp.files import read_object
from promptdp.forms import Form, validated
from promptdp.reporting.published.printed import middle
from promptdp.reporting.published.values import Published, Value
from promptdp.reporting.table import SCHEMA

UNITS = {"pp", "ε"}
SAME = {"advantage": "adv", "accuracy": "strict", "final": "robust"}
ENDPOINT = {"strict", "format", "answer"}
"""Words that one of both leaves out where the other has them."""


class CellForm(Form):
    """A cell of a table."""

    text: str
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
        number = str(content["number"])
        entries = list(_entries(content))
        for value in published:
            if value.table == number and value.kind != "words":
                ours = _ours(published, value, entries, content)
                theirs = float(middle(value.span))
                found.append(
                    {
                        "table": value.table,
                        "row": value.row,
                        "column": value.column,
                        "published": value.text,
                        "ours": ours,
                        "difference": None if ours is None else ours - theirs,
                    }
                )
    return found


def _entries(content: dict[str, Any]) -> Iterator[Entry]:
    for row in content["rows"]:
        labels = " ".join(cell["text"] for cell in row if isinstance(cell["values"].get(""), str))
        for column, cell in zip(content["columns"], row, strict=True):
            for ending, value in cell["values"].items():
                if isinstance(value, int | float) and math.isfinite(value):
                    yield Entry(_words(labels), _words(f"{column} {ending}", keep=True), float(value))


def _ours(published: Published, value: Value, entries: list[Entry], content: dict[str, Any]) -> float | None:
    row, column = _words(value.row), _words(value.column, keep=True)
    if value.table in ("6", "7"):
        candidates = _of_mechanism(published, value, content)
    else:
        candidates = [entry for entry in entries if entry.row == row]
    numbers = {entry.value for entry in candidates if entry.column == column}
    return numbers.pop() if len(numbers) == 1 else None


def _of_mechanism(published: Published, value: Value, content: dict[str, Any]) -> list[Entry]:
    """The numbers of our row with the same n, m, T and, within a thousandth, noise multiplier."""
    wanted = [float(middle(published.span(value.table, value.row, name))) for name in ("n", "m", "T", "σ")]
    found = []
    for row in content["rows"]:
        one = list(_entries(content | {"rows": [row]}))
        numbers = {next(iter(entry.column)): entry.value for entry in one if len(entry.column) == 1}
        ours = [numbers.get(name, math.inf) for name in ("n", "m", "t", "σ")]
        if ours[:3] == wanted[:3] and abs(ours[3] - wanted[3]) <= 1e-3:
            found += one
    return found


def _words(text: str, keep: bool = False) -> frozenset[str]:
    words = {SAME.get(word, word) for word in re.findall(r"[^\W_]+(?:\.\d+)?", text.lower())}
    return frozenset(words - UNITS - (ENDPOINT - {"strict"} if keep else ENDPOINT))
