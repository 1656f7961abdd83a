"""One file, or one thing made of files, on the way from a table to what it was made from."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from promptdp.errors import InputError
from promptdp.files import sha256_file
from promptdp.timeline import Job

Status = Literal["unchanged", "changed", "missing", "unrecorded", "not kept", "withheld"]
PRIVATE, RECORDED = "private", "recorded"
"""The folder that is never opened here, whatever a file says stands in it; the one above recorded studies."""
NOT_KEPT = ("adapter", "records", "base file")
"""What a recorded study leaves out: weights, and problems that are made again where they are needed."""


@dataclass(eq=False)
class Link:
    """A link of the chain.

    Attributes:
        kind: what it is, such as `contrast`.
        name: what tells it from others of its kind.
        file: where it lies; None for what is no single file.
        sha256: its hash as another file recorded it; None where none did.
        status: `unchanged` or `changed` since its hash was recorded, `missing`, `unrecorded` (it is there,
            no file recorded its hash), `not kept` (a recorded study leaves it out), `withheld`.
        facts: what it says of itself.
        made_from: the next links down.
    """

    kind: str
    name: str
    file: Path | None
    sha256: str | None
    status: Status
    facts: dict[str, Any] = field(default_factory=dict)
    made_from: list["Link"] = field(default_factory=list)

    @property
    def broken(self) -> bool:
        """Whether it is no longer what the chain was made from."""
        return self.status in ("changed", "missing")

    @property
    def readable(self) -> bool:
        """Whether its file is there to be followed."""
        return self.status in ("unchanged", "changed", "unrecorded")

    def need(self, *links: "Link | None") -> None:
        """Add what it was made from, each once."""
        self.made_from += [link for link in links if link is not None and link not in self.made_from]


@dataclass
class Book:
    """Every link of a chain, once, in the order in which they were found.

    `jobs` are the jobs that made them, each with the folder of the study that holds its outputs.
    """

    links: list[Link] = field(default_factory=list)
    jobs: dict[Job, Path] = field(default_factory=dict)
    _known: dict[tuple[str, str], Link] = field(default_factory=dict)

    def link(
        self, kind: str, name: str, file: Path | None, sha256: str | None, status: Status | None = None
    ) -> tuple[Link, bool]:
        """The link of a file, and whether it is new; its status follows from the hash, unless it is given.

        Where files recorded two hashes of it, it can't be unchanged by both.
        """
        status = status or _status(kind, file, sha256)
        known = self._known.get((kind, str(file or name)))
        if known is None:
            link = self._known[kind, str(file or name)] = Link(kind, name, file, sha256, status)
            self.links.append(link)
            return link, True
        if sha256 not in (None, known.sha256) and not known.broken:
            known.sha256, known.status = sha256, status
        return known, False


def is_private(file: Path) -> bool:
    """Whether a file lies in the private zone of the working folder, by whatever way."""
    return file.resolve().is_relative_to(Path(PRIVATE).resolve())


def above(file: Path, folders: int) -> Path:
    """The folder so many folders above that of a file, or the topmost of its path."""
    return file.parents[min(folders, len(file.parents) - 1)]


def found(named: str, root: Path) -> Path:
    """Where a file lies that was named by one of the study whose folder is `root`.

    A study is recorded by moving it out of results/: its files are then looked for beside each other.
    """
    path = Path(named)
    if path.parts[:1] == ("results",) and len(path.parts) > 2:
        moved = root.joinpath(*path.parts[2:])
        if moved.is_file():
            return moved
    return path


def _status(kind: str, file: Path | None, sha256: str | None) -> Status:
    if file is None:
        return "unrecorded"
    if is_private(file):
        return "withheld"
    if not file.is_file():
        return "not kept" if kind in NOT_KEPT and RECORDED in file.parts else "missing"
    if sha256 is None:
        return "unrecorded"
    try:
        return "unchanged" if sha256_file(file) == sha256 else "changed"
    except InputError:
        return "missing"
