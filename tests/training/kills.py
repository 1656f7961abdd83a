"""Kill a run at a chosen moment, in a forked child, so that no handler runs and nothing is flushed."""

import json
import os
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptdp.privacy.randomness import Randomness


@dataclass(frozen=True)
class Moment:
    """Where a process dies.

    Attributes:
        arm: sets the trap, in the process that is to die.
        lost: the attempt in progress is lost, and its round must be drawn afresh.
        drawn: that attempt's coins were drawn.
    """

    arm: Callable[[], None]
    lost: bool = False
    drawn: bool = True


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed(run, moment: Moment, coins: Path | None = None) -> None:
    """Train until the moment comes; fail if it doesn't.

    Each attempt whose coins are drawn is forced to the disk in the file `coins`, if given.
    """
    child = os.fork()
    if child == 0:
        try:
            if coins:
                note_coins(coins)
            moment.arm()
            run()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, "the moment never came"


def note_coins(path: Path, patch: Callable[[Any, str, Any], None] = setattr) -> None:
    """Keep books of our own: (round, attempt) before the coins of an attempt are drawn."""
    original = Randomness.stream

    def noted(self, round, purpose, slot=None, attempt=1):
        if purpose == "coins":
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(descriptor, b"%d %d\n" % (round, attempt))
            os.fsync(descriptor)
            os.close(descriptor)
        return original(self, round, purpose, slot, attempt)

    patch(Randomness, "stream", noted)


# --- moments ---


def before(owner: Any, name: str, call: int = 1, onto: str | None = None, **fate: bool) -> Moment:
    """At the start of the `call`-th call of a function, of those whose last argument is a file `onto`."""
    return _at_call(owner, name, call, onto, die, **fate)


def after(owner: Any, name: str, call: int = 1, onto: str | None = None, **fate: bool) -> Moment:
    """At the end of that call."""

    def end(original, *args, **kwargs):
        original(*args, **kwargs)
        die()

    return _at_call(owner, name, call, onto, end, **fate)


def half_written(name: str, **fate: bool) -> Moment:
    """When half of a file is written, temporary or not, whose name holds `name`."""

    def arm():
        original = Path.write_bytes

        def half(path, content):
            if name in path.name:
                original(path, content[: len(content) // 2])
                die()
            return original(path, content)

        Path.write_bytes = half

    return Moment(arm, **fate)


def _at_call(owner: Any, name: str, call: int, onto: str | None, then: Callable, **fate: bool) -> Moment:
    def arm():
        original, calls = getattr(owner, name), [0]

        def trapped(*args, **kwargs):
            calls[0] += onto is None or Path(args[-1]).name == onto
            return then(original, *args, **kwargs) if calls[0] == call else original(*args, **kwargs)

        setattr(owner, name, trapped)

    return Moment(arm, **fate)


def torn(event: str, line: int = 1, **fate: bool) -> Moment:
    """When half of the ledger's `line`-th line about an event, of this process, is in the file."""

    def arm():
        original, lines = os.fdopen, [0]

        def opened(descriptor, mode):
            stream = original(descriptor, mode)
            return _Torn(stream, event, line, lines) if is_ledger(descriptor) else stream

        os.fdopen = opened

    return Moment(arm, **fate)


class _Torn:
    """A stream that dies in the middle of a line."""

    def __init__(self, stream, event, line, lines):
        self._stream, self._event, self._line, self._lines = stream, event, line, lines

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stream.close()

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def write(self, content):
        self._lines[0] += json.loads(content)["event"] == self._event
        if self._lines[0] == self._line:
            os.write(self._stream.fileno(), content[: len(content) // 2])
            die()
        self._stream.write(content)


def unforced(event: str, line: int = 1, **fate: bool) -> Moment:
    """When that line is in the file, and not yet forced to the disk."""

    def arm():
        original, lines = os.fsync, [0]

        def forced(descriptor):
            if is_ledger(descriptor):
                written = Path(os.readlink(f"/proc/self/fd/{descriptor}")).read_bytes().splitlines()
                lines[0] += bool(written) and json.loads(written[-1])["event"] == event
                if lines[0] == line:
                    die()
            original(descriptor)

        os.fsync = forced

    return Moment(arm, **fate)


def is_ledger(descriptor: int) -> bool:
    return Path(os.readlink(f"/proc/self/fd/{descriptor}")).name == "ledger.jsonl"
