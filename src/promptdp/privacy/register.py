"""The register of a study: one line for every run, written before it reads a private record.

Several runs on the same slots are several looks at the same records; the register is how a later
statement knows of all of them. It outlives reruns and is never rewritten.
"""

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from promptdp.errors import InputError
from promptdp.files import canonical_json, parse_json, private_directory
from promptdp.privacy.journal import append_line, read_lines
from promptdp.privacy.ledger import read_live_ledger

RUN = "run"
"""The event of a look: a run whose ledger is open, before its first round."""
EVENTS = {RUN, "reads records"}
NAME = re.compile("[a-z][a-z0-9_-]*")
"""What a study calls itself, its benchmarks and its arms (`study.Name`)."""
NAMES = ("study", "benchmark", "arm")


@dataclass(frozen=True)
class Look:
    """A run that looked at the slots of a benchmark, or was about to.

    Attributes:
        study, benchmark, arm, seed, execution: which run of the study.
        run: its fingerprint, the name of its recovery folder; private.
        ledger: its live ledger, which counts the attempts it began; an absolute path.
    """

    study: str
    benchmark: str
    arm: str
    seed: int
    execution: int
    run: str
    ledger: Path


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

    def add_look(self, look: Look, **facts: Any) -> None:
        """Add a look, with further data-independent facts.

        Its ledger is noted by the path inside the register's folder, so that the zone can move as a whole.
        """
        zone = self._path.parent.resolve()
        inside = look.ledger.is_relative_to(zone)
        ledger = look.ledger.relative_to(zone) if inside else look.ledger
        self.append({"event": RUN} | facts | vars(look) | {"ledger": str(ledger)})

    def looks(self, benchmark: str) -> list[Look]:
        """Every look at a benchmark's slots, in the order they began.

        Raises:
            InputError: a line is no entry that this software writes, so that it may be a look that was
                edited, or it is a look that doesn't say all that `Look` holds.
        """
        looks = []
        for number, entry in enumerate(self.entries(), start=1):
            self._check(number, entry)
            if entry["event"] == RUN:
                looks.append(self._look(number, entry))
        return [look for look in looks if look.benchmark == benchmark]

    def strays(self, benchmark: str) -> list[Path]:
        """The live ledgers beside the register in which a round was begun and that no look at a benchmark
        names, though they say that they are of it.

        Raises:
            InputError: as `looks`, or a line of such a ledger is broken.
        """
        named = {look.ledger.resolve() for look in self.looks(benchmark)}
        found = (path.resolve() for path in (self._path.parent / "recovery").rglob("ledger.jsonl"))
        return [path for path in sorted(set(found) - named) if _has_looked(path, benchmark)]

    def _check(self, number: int, entry: dict[str, Any]) -> None:
        if entry.get("event") not in EVENTS:
            raise InputError(f"{self._path}:{number}: its event is unknown; put back the register as it was")
        for key in NAMES:
            if key in entry and not (isinstance(entry[key], str) and NAME.fullmatch(entry[key])):
                raise InputError(
                    f"{self._path}:{number}: its {key} is no plain name; put back the register as it was"
                )

    def _look(self, number: int, entry: dict[str, Any]) -> Look:
        for field in fields(Look):
            if type(entry.get(field.name)) is not (int if field.type is int else str):
                raise InputError(
                    f"{self._path}:{number}: a run without its {field.name}; put back the register, "
                    "or note what is missing in this line of an earlier version"
                )
        noted = {field.name: entry[field.name] for field in fields(Look)}
        return Look(**noted | {"ledger": self._path.parent.resolve() / noted["ledger"]})

    def _parse(self, number: int, line: bytes) -> dict[str, Any]:
        entry = parse_json(line, self._path, number)
        if not isinstance(entry, dict):
            raise InputError(f"{self._path}:{number}: is not an entry; put back the register as it was")
        return entry


def _has_looked(path: Path, benchmark: str) -> bool:
    summary = read_live_ledger(path).summary
    return summary.header.get("benchmark") == benchmark and summary.begun_attempts > 0
