"""One record, and the JSON-lines file that holds many.

The file may be private: an error names its path, a line number and a key of the format, never what it holds.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from promptdp.errors import InputError
from promptdp.files import read_bytes, write_text

REQUIRED = ("id", "question", "answer")
OPTIONAL = ("solution", "choices", "contributor")
MAKE_AGAIN = "make the file again, one record a line"


@dataclass(frozen=True)
class Record:
    """A problem with its reference answer: the unit of privacy (Sec. III-D).

    Attributes:
        id: the problem's name, unique within its file.
        question: all that the model is shown, the options of a multiple-choice problem included.
        answer: the reference answer the verifier compares with.
        solution: a worked reference answer, the target of gold imitation.
        choices: the options, in the order of their letters.
        contributor: who gave the record, where one person may have given several.
    """

    id: str
    question: str
    answer: str
    solution: str | None = None
    choices: tuple[str, ...] | None = None
    contributor: str | None = None


def read_records(path: str | Path) -> list[Record]:
    """Read records from a JSON-lines file, in its order.

    Raises:
        InputError: the file cannot be read, or a line is not a record or repeats an id.
    """
    return parse_records(read_bytes(path), path)


def parse_records(data: bytes, path: str | Path) -> list[Record]:
    """The records in the content of a JSON-lines file; `path` is its name in errors.

    Raises:
        InputError: a line is not a record or repeats an id.
    """
    lines = data.splitlines()
    records = [_record(line, f"{path}:{number}") for number, line in enumerate(lines, start=1)]
    first: dict[str, int] = {}
    for number, record in enumerate(records, start=1):
        if first.setdefault(record.id, number) != number:
            raise InputError(
                f"{path}:{number}: key 'id' repeats line {first[record.id]}; give every record its own"
            )
    return records


def write_records(path: str | Path, records: Iterable[Record], private: bool = False) -> None:
    """Write records as JSON lines, atomically; keys that are None are left out; private: mode 0600."""
    write_text(path, "".join(f"{_line(record)}\n" for record in records), private)


def _line(record: Record) -> str:
    given = {key: value for key, value in asdict(record).items() if value is not None}
    return json.dumps(given, sort_keys=True, ensure_ascii=False)


def _record(line: bytes, where: str) -> Record:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{where}: not a JSON object in UTF-8; {MAKE_AGAIN}") from None
    if not isinstance(fields, dict):
        raise InputError(f"{where}: not a JSON object in UTF-8; {MAKE_AGAIN}")
    if not fields.keys() <= {*REQUIRED, *OPTIONAL}:
        raise InputError(f"{where}: a key is none of {', '.join(REQUIRED + OPTIONAL)}; rename or remove it")
    for key in REQUIRED:
        if not _is_text(fields.get(key)):
            raise InputError(f"{where}: key '{key}' must be a text that is not empty; {MAKE_AGAIN}")
    for key in ("solution", "contributor"):
        if fields.get(key) is not None and not _is_text(fields[key]):
            raise InputError(
                f"{where}: key '{key}' must be a text that is not empty, or left out; {MAKE_AGAIN}"
            )
    choices = fields.get("choices")
    if choices is not None:
        if not isinstance(choices, list) or not choices or not all(map(_is_text, choices)):
            raise InputError(f"{where}: key 'choices' must be a list of texts, or left out; {MAKE_AGAIN}")
        fields["choices"] = tuple(choices)
    return Record(**fields)


def _is_text(value: Any) -> bool:
    """Whether a JSON value is a text that is not blank and that UTF-8 can write (no lone surrogate)."""
    try:
        return isinstance(value, str) and bool(value.strip()) and bool(value.encode())
    except UnicodeEncodeError:
        return False
