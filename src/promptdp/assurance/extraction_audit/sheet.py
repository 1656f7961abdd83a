"""The sheet that a reader fills in: a CSV file whose texts no spreadsheet runs or rewrites.

Every text that the sheet gives begins with an apostrophe, so that none is taken for a formula, a number, a
date or a missing value. It comes off again when the sheet is read, or a spreadsheet has taken it off before.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from promptdp.errors import InputError
from promptdp.files import canonical_json, read_bytes, sha256_bytes

Asks = Literal["reading", "consistent"]
"""What the reader fills in: their own reading, or whether a candidate agrees with the response."""
GIVEN: dict[Asks, tuple[str, ...]] = {
    "reading": ("question", "response"),
    "consistent": ("question", "response", "candidate"),
}
NO_ANSWER = "no answer"
"""What a reader writes, and a candidate says, where a response gives no final answer."""
GUARD = "'"
_VISIBLE = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n"} | {0x7F: "\u2421"}
_SEPARATOR = re.compile(r"[,;\t]")  # what spreadsheets write, by the language of the machine


@dataclass(frozen=True)
class Item:
    """One row as it is given to the reader: its number and a text for each given column."""

    number: int
    texts: tuple[str, ...]

    @property
    def sha256(self) -> str:
        """The digest of what the reader is given, kept in the key."""
        return sha256_bytes(canonical_json([self.number, *self.texts]).encode())


@dataclass(frozen=True)
class Answer:
    """One row as it comes back: the line it begins on, what was given, and what the reader wrote."""

    line: int
    item: Item
    answer: str
    note: str

    def of(self, sha256: str) -> bool:
        """Whether this is still the item with this digest."""
        stripped = Item(self.item.number, tuple(text.removeprefix(GUARD) for text in self.item.texts))
        return sha256 in (stripped.sha256, self.item.sha256)


def columns(asks: Asks) -> tuple[str, ...]:
    """The header of a sheet."""
    return ("item", *GIVEN[asks], asks, "note")


def printable(text: str) -> str:
    """A text with one kind of line end and with control characters made visible."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_VISIBLE)


def as_csv(items: Sequence[Item], asks: Asks) -> str:
    """The empty sheet, behind the mark by which spreadsheets know UTF-8."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns(asks))
    for item in items:
        writer.writerow((item.number, *(GUARD + text for text in item.texts), "", ""))
    return "\ufeff" + text.getvalue()


def read_sheet(path: Path, asks: Asks) -> Iterator[Answer]:
    """The rows of a sheet that comes back, in its order; rows that are wholly blank are passed over.

    Raises:
        InputError: the file cannot be read, is not CSV in UTF-8, has other columns, or a row has no number.
    """
    rows, header = iter(_rows(path)), columns(asks)
    line, cells = next(rows, (1, []))
    if tuple(_within(cells, len(header), f"{path}:{line}")) != header:
        raise InputError(f"{path}:{line}: lacks one of {', '.join(header)}; give the sheet of this key")
    for line, cells in rows:
        where = f"{path}:{line}"
        number, *texts, answer, note = _within(cells, len(header), where)
        if not (number.isascii() and number.isdigit() and len(number) < 10):
            raise InputError(f"{where}: has no item number; restore the row")
        yield Answer(line, Item(int(number), tuple(texts)), _written(answer), _written(note))


def _within(cells: list[str], width: int, where: str) -> list[str]:
    """A row as wide as the header: programs add blank cells at its end, or leave them out."""
    if any(cell.strip() for cell in cells[width:]):
        raise InputError(f"{where}: a cell stands beyond the last column; move it into note")
    return cells[:width] + [""] * (width - len(cells))


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """The rows of a CSV file that are not blank, each with the line that it begins on."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8; save the sheet as CSV UTF-8") from None
    separator = _SEPARATOR.search(text)
    found, line = [], 1
    usual = csv.field_size_limit(len(text) + 1)
    try:
        rows = csv.reader(
            io.StringIO(text, newline=""), delimiter=separator.group() if separator else ",", strict=True
        )
        for cells in rows:
            if any(cell.strip() for cell in cells):
                found.append((line, [printable(cell) for cell in cells]))
            line = rows.line_num + 1
    except csv.Error:
        raise InputError(f"{path}:{line}: is not CSV; save the sheet as CSV UTF-8") from None
    finally:
        csv.field_size_limit(usual)
    return found


def _written(cell: str) -> str:
    return " ".join(cell.strip().removeprefix(GUARD).split())
