"""The private zone: folders only their owner can read, used by one run at a time."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from promptdp.errors import InputError

_OWNER_ONLY = 0o700


def private_directory(path: str | Path) -> Path:
    """Make a folder, and those above it that are missing, with mode 0700; tighten it if it exists.

    Raises:
        InputError: the folder can't be made, or can't be closed to others.
    """
    path = Path(path)
    try:
        missing = [folder for folder in (path, *path.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=_OWNER_ONLY, exist_ok=True)
        path.chmod(_OWNER_ONLY)
    except OSError as error:
        raise InputError(
            f"{path}: can't be a private folder ({error.strerror}); choose another place"
        ) from None
    return path


@contextmanager
def run_lock(path: str | Path) -> Iterator[None]:
    """Hold an exclusive lock on a file, waiting for a living holder and saying so once on stderr.

    The operating system frees the lock of a process that dies, so a stale file never blocks.
    """
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
