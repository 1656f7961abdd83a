"""The private zone: folders only their owner can read (`files.private_directory`), one run at a time."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from promptdp.files import writing


@contextmanager
def run_lock(path: str | Path) -> Iterator[None]:
    """Hold an exclusive lock on a file, waiting for a living holder and saying so once on stderr.

    The operating system frees the lock of a process that dies, so a stale file never blocks. Errors are those
    of `files.writing`.
    """
    with writing(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(
                f"promptdp: {path} is held by another run; waiting for it to end", file=sys.stderr, flush=True
            )
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
