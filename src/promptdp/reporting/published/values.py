"""The published values: one CSV file for each table of the paper, and one for the numbers of its text."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from promptdp.errors import InputError
from promptdp.files import read_bytes, sha256_file, shown
from promptdp.reporting.published.printed import Span, printed

COLUMNS = ("table", "row", "column", "value", "unit", "kind", "source", "repeats")
WHOLE = {"bound", "count", "setting"}
"""Kinds of numbers that are exact when they are printed without decimals."""
KINDS = WHOLE | {
    "MDE",
    "accuracy",
    "difference",
    "epsilon",
    "high",
    "length",
    "low",
    "noise multiplier",
    "order",
    "p",
    "ratio",
    "sd",
    "share",
    "time",
    "words",
}

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Value:
    """One published value.

    Attributes:
        table, row, column: where it stands; `table` is a number, or for the text the section.
        text: the value as printed.
        unit: what it counts or measures; empty for a pure number.
        kind: one of `KINDS`; "low" and "high" are ends of intervals.
        source: the place in the paper.
        repeats: `TABLE/ROW/COLUMN` of a value it states once more, "-" before it where the sign is turned.
    """

    table: str
    row: str
    column: str
    text: str
    unit: str
    kind: str
    source: str
    repeats: str

    @property
    def key(self) -> Key:
        """Its place among all values."""
        return self.table, self.row, self.column

    @property
    def name(self) -> str:
        """Its place in words."""
        return f"{self.source}: {self.row}, {self.column}"

    @cached_property
    def span(self) -> Span:
        """All numbers that round to it; asked of numbers only."""
        return printed(self.text, self.kind in WHOLE)

    @property
    def original(self) -> tuple[Key, bool] | None:
        """The place of the value it repeats, and whether the sign is turned."""
        if not self.repeats:
            return None
        table, row, column = self.repeats.removeprefix("-").split("/")
        return (table, row, column), self.repeats.startswith("-")


class Published:
    """All published values, by place."""

    def __init__(self, values: Sequence[Value], hashes: dict[str, str] | None = None):
        self.values = {value.key: value for value in values}
        self.hashes = hashes or {}

    def __iter__(self) -> Iterator[Value]:
        """Every value, in the order of the files."""
        return iter(self.values.values())

    def __getitem__(self, key: Key) -> Value:
        """The value at a place.

        Raises:
            InputError: there is none.
        """
        if key not in self.values:
            raise InputError(f"resources/published: has no value {'/'.join(key)}; give all published values")
        return self.values[key]

    def get(self, table: str, row: str, column: str) -> Value | None:
        """The value at a place, or None."""
        return self.values.get((table, row, column))

    def span(self, table: str, row: str, column: str) -> Span:
        """All numbers that round to the value at a place."""
        return self[table, row, column].span


def read_published(paths: Sequence[Path]) -> Published:
    """Read files of published values.

    Raises:
        InputError: a file can't be read or is malformed, a place occurs twice, a value has no source, is no
            number where its kind is one, or repeats one that is not there.
    """
    found: dict[Key, Value] = {}
    lines: dict[Key, str] = {}
    for path in paths:
        for where, row in read_rows(path, COLUMNS):
            value = _value(where, row)
            if value.key in found:
                raise InputError(f"{where}: its place is that of {lines[value.key]}; give each value once")
            found[value.key], lines[value.key] = value, where
    for value in found.values():
        original = value.original
        if original is None:
            continue
        if original[0] not in found or original[0] == value.key or found[original[0]].kind == "words":
            raise InputError(f"{lines[value.key]}: repeats no published number; correct its place")
    return Published(list(found.values()), {str(path): sha256_file(path) for path in paths})


def _value(where: str, row: dict[str, str]) -> Value:
    for column in ("table", "row", "column", "value", "kind", "source"):
        if not row[column].strip():
            raise InputError(f"{where}: has no {column}; every value needs one")
    if "/" in row["row"] + row["column"]:
        raise InputError(f"{where}: a row or column holds a slash, which parts places; write another sign")
    if row["kind"] not in KINDS:
        raise InputError(f"{where}: its kind is {shown(row['kind'])}; give one of {', '.join(sorted(KINDS))}")
    if row["repeats"] and row["repeats"].count("/") != 2:
        raise InputError(f"{where}: repeats is no place; write TABLE/ROW/COLUMN")
    value = Value(**{"text" if column == "value" else column: row[column] for column in COLUMNS})
    if value.kind != "words":
        try:
            printed(value.text, value.kind in WHOLE)
        except ValueError as error:
            raise InputError(f"{where}: {shown(value.text)} {error}; write it as printed") from None
    return value


def read_rows(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    """Every row of a CSV file that has exactly these columns, with its place.

    Raises:
        InputError: the file cannot be read or has other columns.
    """
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; write it again") from None
    reader = csv.DictReader(text.splitlines())
    if tuple(reader.fieldnames or ()) != columns:
        raise InputError(f"{path}: its columns are not {', '.join(columns)}; write it again")
    for row in reader:
        where = f"{path}:{reader.line_num}"
        if None in row or None in row.values():
            raise InputError(f"{where}: the row has not as many fields as the header; write it again")
        yield where, row
