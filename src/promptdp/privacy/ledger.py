"""The ledger of one run: which rounds drew on the privacy budget, in an order nobody can rewrite unnoticed.

`begin(round)` is on the disk before the round's coins are drawn, `commit` after its weights are saved: every
attempt that can have touched a record is in the books, whatever was killed when. Each line holds the hash of
the line before it. Lines hold data-independent facts only: no clock, batch size or norm.
"""

import re
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

from promptdp.errors import InputError, PrivacyRefusal, PromptDPError
from promptdp.files import canonical_json, parse_json, sha256_bytes
from promptdp.privacy.journal import append_line, read_lines, recover_lines

SCHEMA = "promptdp/ledger/1"


@dataclass(frozen=True)
class LedgerSummary:
    """What the lines of a ledger say, taken together; `after` adds one line.

    Attributes:
        header: the data-independent facts the run was opened with (mechanism, digest of public settings).
        branch: the number of the current trajectory, from 1; it grows when a run starts over from round 1.
        rounds: the rounds committed on the current branch, those the released weights retain.
        attempts: the attempts begun at the round in progress, `rounds + 1`, on the current branch.
        begun_attempts: every attempt ever begun, on every branch: what `epsilon_all` charges.
        failed: the attempt begun last failed inside the mechanism, and can't be committed.
        failed_attempts: every attempt that failed so, on every branch; with one, nothing may be released.
        theta_sha256: the hash of the weights last committed on the current branch.
        closed: the run is complete; only a new branch may follow.
        length: the number of lines.
        head: the hash of the last line, which stands for all of them.
    """

    header: dict[str, Any] = field(default_factory=dict)
    branch: int = 0
    rounds: int = 0
    attempts: int = 0
    begun_attempts: int = 0
    failed: bool = False
    failed_attempts: int = 0
    theta_sha256: str | None = None
    closed: bool = False
    length: int = 0
    head: str = "0" * 64

    def after(self, line: bytes) -> "LedgerSummary":
        """The summary with one more line; ValueError says why the line can't stand here."""
        try:
            entry = parse_json(line, "ledger")
        except InputError:
            raise ValueError("is not JSON") from None
        if not isinstance(entry, dict):
            raise ValueError("is not an entry")
        if self.entry_line(str(entry.get("event")), entry.get("header"), entry.get("theta_sha256")) != line:
            raise ValueError("does not follow from the lines before it")
        return replace(self, **self._effect(entry), length=self.length + 1, head=sha256_bytes(line))

    def entry_line(self, event: str, header: Any = None, theta_sha256: Any = None) -> bytes:
        """The one line that can record `event` next; ValueError says why there is none."""
        if self.closed and event != "branch":
            raise ValueError("comes after the ledger was closed")
        entry = {"event": event, "previous": self.head, "branch": self.branch}
        match event:
            case "open" if not self.length and isinstance(header, dict):
                entry |= {"branch": 1, "schema": SCHEMA, "header": header}
            case "begin" if self.length:
                entry |= {"round": self.rounds + 1, "attempt": self.attempts + 1}
            case "failed" if self.attempts and not self.failed:
                entry |= {"round": self.rounds + 1, "attempt": self.attempts}
            case "commit" if self.attempts and not self.failed and _is_sha256(theta_sha256):
                entry |= {"round": self.rounds + 1, "attempt": self.attempts, "theta_sha256": theta_sha256}
            case "branch" if self.rounds or self.attempts:
                entry |= {"branch": self.branch + 1}
            case "closed" if self.rounds and not self.attempts:
                entry |= {"rounds": self.rounds}
            case _:
                raise ValueError(f"records {event!r}, which can't happen here")
        return canonical_json(entry).encode()

    def _effect(self, entry: dict[str, Any]) -> dict[str, Any]:
        match entry["event"]:
            case "open":
                return {"branch": 1, "header": entry["header"]}
            case "begin":
                return {
                    "attempts": self.attempts + 1,
                    "begun_attempts": self.begun_attempts + 1,
                    "failed": False,
                }
            case "failed":
                return {"failed": True, "failed_attempts": self.failed_attempts + 1}
            case "commit":
                return {"rounds": self.rounds + 1, "attempts": 0, "theta_sha256": entry["theta_sha256"]}
            case "branch":
                return {
                    "branch": self.branch + 1,
                    "rounds": 0,
                    "attempts": 0,
                    "failed": False,
                    "theta_sha256": None,
                    "closed": False,
                }
        return {"closed": True}


class Ledger:
    """The open ledger of a run in progress; make it with `Ledger.open`."""

    def __init__(self, path: Path, lines: list[bytes]) -> None:
        self._path = path
        self._size = sum(len(line) + 1 for line in lines)
        self._heads = [sha256_bytes(line) for line in lines]
        self._summary = _replay(path, lines)

    @classmethod
    def open(cls, path: str | Path, header: dict[str, Any]) -> "Ledger":
        """Open a ledger, or start it with a line that holds `header`.

        An incomplete last line, which a kill leaves, is removed.

        Args:
            path: the live ledger, in the run's recovery folder.
            header: data-independent facts, JSON values.

        Raises:
            InputError: a line is not the one that was written, or the header is another run's.
        """
        path = Path(path)
        ledger = cls(path, recover_lines(path))
        if not ledger.length:
            ledger._append("open", header=header)
        if canonical_json(ledger.summary.header) != canonical_json(header):
            raise InputError(f"{path}:1: belongs to a run with other settings; give each run its own folder")
        return ledger

    def begin(self, round: int) -> int:
        """Record that an attempt at `round` starts, before its coins are drawn; returns its number, from 1.

        Raises:
            PromptDPError: `round` is not `next_round()`, or the ledger is closed.
        """
        if round != self.next_round():
            raise PromptDPError(f"{self._path}: round {round} can't begin, round {self.next_round()} is next")
        self._append("begin")
        return self._summary.attempts

    def commit(self, round: int, attempt: int, theta_sha256: str) -> None:
        """Record that the weights after `round`, with this hash, are saved.

        Raises:
            PromptDPError: (round, attempt) is not the attempt in progress.
        """
        self._check_pending(round, attempt)
        self._append("commit", theta_sha256=theta_sha256)

    def fail(self, round: int, attempt: int) -> None:
        """Record that the attempt in progress failed inside the mechanism, for a reason that may be private.

        The round can be begun again, but whether it failed may depend on a record: nothing may be released.

        Raises:
            PromptDPError: (round, attempt) is not the attempt in progress.
        """
        self._check_pending(round, attempt)
        self._append("failed")

    def start_branch(self) -> int:
        """Abandon the trajectory so far and go back to round 1; returns the new branch's number.

        This reopens a closed ledger, for a complete run whose weights are lost. What was begun stays in the
        books: `epsilon_all` charges the attempts of every branch.
        """
        self._append("branch")
        return self._summary.branch

    def close(self) -> None:
        """Record that the run is complete; nothing but a new branch may follow.

        Raises:
            PromptDPError: an attempt is in progress, no round was committed, or the ledger is closed.
        """
        self._append("closed")

    def confirm(self, length: int, head: str) -> None:
        """Check a checkpoint's note of this ledger: line `length` must exist and have the hash `head`.

        Raises:
            PrivacyRefusal: the ledger is another, or shorter than the checkpoint: rounds would go uncharged.
        """
        if not 1 <= length <= self.length or self._heads[length - 1] != head:
            raise PrivacyRefusal(
                f"{self._path}: does not contain what its newest checkpoint was saved after; "
                "put back the ledger that belongs to it, or train another execution, charged beside this one"
            )

    @property
    def summary(self) -> LedgerSummary:
        """What the ledger says so far."""
        return self._summary

    @property
    def head(self) -> str:
        """The hash of the last line."""
        return self._summary.head

    @property
    def length(self) -> int:
        """The number of lines."""
        return self._summary.length

    @property
    def begun_attempts(self) -> int:
        """Every attempt ever begun, on every branch."""
        return self._summary.begun_attempts

    @property
    def closed(self) -> bool:
        """Whether the run is complete."""
        return self._summary.closed

    @property
    def pending(self) -> tuple[int, int] | None:
        """The (round, attempt) begun last, neither committed nor failed, or None."""
        in_progress = self._summary.attempts and not self._summary.failed
        return (self.next_round(), self._summary.attempts) if in_progress else None

    def next_round(self) -> int:
        """The first round that is not committed, from 1."""
        return self._summary.rounds + 1

    def _check_pending(self, round: int, attempt: int) -> None:
        if (round, attempt) != self.pending:
            raise PromptDPError(f"{self._path}: attempt {attempt} at round {round} is not in progress")

    def _append(self, event: str, **free: Any) -> None:
        try:
            line = self._summary.entry_line(event, **free)
            summary = self._summary.after(line)
        except ValueError as error:
            raise PromptDPError(f"{self._path}: a line {error}") from None
        append_line(self._path, line, size=self._size)
        self._summary = summary
        self._size += len(line) + 1
        self._heads.append(summary.head)


def verify_ledger(path: str | Path, require_closed: bool = True) -> LedgerSummary:
    """Check every line of a ledger against those before it.

    Raises:
        InputError: the file can't be read, or a line (named) is broken.
        PrivacyRefusal: the ledger is not closed, where that is required.
    """
    path = Path(path)
    lines, rest = read_lines(path)
    if rest or not lines:
        raise InputError(f"{path}:{len(lines) + 1}: the line is incomplete; resume the run, which repairs it")
    summary = Ledger(path, lines).summary
    if require_closed and not summary.closed:
        raise PrivacyRefusal(f"{path}: is not closed, so the run is not complete; finish it first")
    return summary


def read_live_ledger(path: str | Path) -> Ledger:
    """A ledger that a run may be writing, every complete line checked against those before it.

    An incomplete last line counts for nothing, as nothing was done on its strength.

    Raises:
        InputError: the file can't be read, or a line (named) is broken.
    """
    return Ledger(Path(path), read_lines(Path(path))[0])


def _replay(path: Path, lines: list[bytes]) -> LedgerSummary:
    def step(summary: LedgerSummary, line: bytes) -> LedgerSummary:
        try:
            return summary.after(line)
        except ValueError as error:
            raise InputError(
                f"{path}:{summary.length + 1}: the line {error}; put back the ledger as it was, "
                "or train another execution, charged beside this one"
            ) from None

    return reduce(step, lines, LedgerSummary())


def _is_sha256(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None
