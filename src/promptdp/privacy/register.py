"""The register of a study: one line for every run, written before it reads a private record.

Several runs on the same slots are several looks at the same records; the register is how a later
statement knows of all of them. It outlives reruns and is never rewritten.
"""

import json
from pathlib import Path
from typing import Any

from promptdp.errors import InputError
from promptdp.files import canonical_json, private_directory
from promptdp.privacy.journal import append_line, read_lines


class Register:
    """An append-only file of JSON objects, safe to share between processes."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def append(self, entry: dict[str, Any]) -> None:
        """Add an entry of data-independent facts; on return it is on the disk.

        Raises:
            InputError: others can reach the register's folder.
        """
        private_directory(self._path.parent)
        append_line(self._path, canonical_json(entry).encode())

    def entries(self) -> list[dict[str, Any]]:
        """The entries in the order they were made; none if the file does not exist.

        Raises:
            InputError: a line is not a JSON object.
        """
        if not self._path.exists():
            return []
        return [self._parse(number, line) for number, line in enumerate(read_lines(self._path)[0], start=1)]

    def _parse(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if not isinstance(entry, dict):
            raise InputError(f"{self._path}:{number}: is not an entry; put back the register as it was")
        return entry
