"""What is frozen before it is used: scorers by their locks, the protocol's decisions by their stamps."""

from pathlib import Path

from pydantic import ValidationError

from promptdp.decisions import Decision
from promptdp.errors import InputError
from promptdp.files import read_object
from promptdp.protocol import read_lock
from promptdp.reporting.provenance.forms import StampForm, read_form
from promptdp.reporting.provenance.links import Book, Link, Status, above, found
from promptdp.scoring.freeze import digest
from promptdp.timeline import Job


def scorer(book: Book, rule: str, sha256: str) -> Link:
    """A scorer as it was when it was used; `sha256` is that of its lock, which names its files."""
    try:
        status: Status = "unchanged" if digest(rule) == sha256 else "changed"
    except InputError:
        status = "missing"
    link, fresh = book.link("scorer", f"{rule} {sha256}", None, sha256, status)
    if fresh:
        link.name, link.facts = rule, {"rule": rule}
        path = Path(f"config/frozen/{rule}.sha256")
        lock, _ = book.link("lock", rule, path, sha256)
        link.need(lock)
        if lock.status == "unchanged":
            for name, recorded in read_lock(path).items():
                lock.need(book.link("source", name, Path(name), recorded)[0])
    return link


def decision(book: Book, file: Path, sha256: str | None) -> Link:
    """The stamp of a decision: what it froze, and what it came after."""
    link, fresh = book.link("decision", file.stem, file, sha256)
    form = read_form(StampForm, file) if fresh and link.readable else None
    if form is not None:
        link.facts = {"statement": form.statement}
        for kind, hashes in (("frozen", form.frozen), ("seen", form.evidence)):
            for name, recorded in hashes.items():
                link.need(book.link(kind, name, found(name, above(file, 1)), recorded)[0])
    return link


def decisions_before(book: Book) -> list[Link]:
    """The stamps that had to be there before a job of the book."""
    return [
        decision(book, file, None)
        for root in dict.fromkeys(book.jobs.values())
        for file in sorted((root / "protocol").glob("*.json"))
        if _gates(file, [job for job, place in book.jobs.items() if place == root])
    ]


def _gates(stamp: Path, jobs: list[Job]) -> bool:
    """Whether a decision had to come before one of some jobs; a stamp that can't be read may have had to."""
    try:
        content = read_object(stamp)
        words = {key: content[key] for key in ("statement", "scorer", "settings", "before") if key in content}
        stamped = Decision.model_validate({**words, "freezes": content.get("frozen", {})})
    except (InputError, ValidationError):
        return True
    return any(stamped.precedes(job) for job in jobs)
