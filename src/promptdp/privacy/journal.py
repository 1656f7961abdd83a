"""Files of lines that only grow, and that a kill at any moment leaves readable.

A line is complete when it ends in a newline. A kill or a full disk can leave one incomplete line at the end;
its append had not returned, so nothing was done on the strength of it, and it may go.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from promptdp.errors import InputError, PromptDPError
from promptdp.files import sync, writing


def read_lines(path: Path) -> tuple[list[bytes], bytes]:
    """The complete lines of a file without their newlines, and the incomplete rest (empty if none).

    Raises:
        InputError: the file cannot be read.
    """
    try:
        *lines, rest = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    return lines, rest


def recover_lines(path: Path) -> list[bytes]:
    """The complete lines of a file, made if missing; an incomplete rest is removed from it.

    Errors are those of `files.writing`.
    """
    with writing(path), _sound_tail(path):
        return read_lines(path)[0]


def append_line(path: Path, line: bytes, size: int | None = None) -> None:
    """Append a line and return when the disk has it; an incomplete rest is removed first.

    Args:
        path: the file, made if missing.
        line: without a newline.
        size: the size in bytes that the writer believes the file has; None for any.

    Raises:
        PromptDPError: the size is another, so that somebody else wrote to the file; or, as InputError too,
            for the reasons of `files.writing`: then the line may stand there or not.
    """
    with writing(path), _sound_tail(path) as descriptor:
        if size is not None and os.fstat(descriptor).st_size != size:
            raise PromptDPError(f"{path}: changed while in use; let one run at a time use it")
        with os.fdopen(os.dup(descriptor), "ab") as stream:
            stream.write(line + b"\n")
            stream.flush()
            os.fsync(stream.fileno())


@contextmanager
def _sound_tail(path: Path) -> Iterator[int]:
    """A descriptor at the end of the file, locked against other writers, the last line complete."""
    existed = path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if not existed:
            sync(path.parent)
        if rest := read_lines(path)[1]:
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - len(rest))
            os.fsync(descriptor)
        yield descriptor
    finally:
        os.close(descriptor)
