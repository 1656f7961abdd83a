"""Folders, atomic writes, canonical JSON and file hashes: how every file of the road is made and named."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOTDIR
from pathlib import Path
from typing import Any

from promptdp.errors import InputError


def private_directory(path: str | Path) -> Path:
    """Make a folder, and those above it that are missing, with mode 0700.

    A folder that exists is left as it is: it, or a folder above it, must be closed to others already.

    Raises:
        InputError: the folder can't be made, or others can reach it.
    """
    path = Path(path)
    try:
        missing = [folder for folder in (path, *path.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
        whole = path.resolve(strict=True)
        if not whole.is_dir():
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR))
        closed = any(folder.stat().st_mode & 0o077 == 0 for folder in (whole, *whole.parents))
    except OSError as error:
        raise InputError(
            f"{path}: can't be a private folder ({error.strerror}); choose another place"
        ) from None
    if not closed:
        raise InputError(
            f"{path}: others can read this folder; give a new one, or close it yourself (chmod 700)"
        )
    return path


@contextmanager
def atomic(path: str | Path, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed onto it if the block succeeds and removed if it fails.

    A private file has mode 0600 from its first byte on.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if private:
            temporary.unlink(missing_ok=True)
            temporary.touch(mode=0o600, exist_ok=False)
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str, private: bool = False) -> None:
    """Write UTF-8 text atomically; a private file has mode 0600."""
    with atomic(path, private) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | Path, value: Any) -> None:
    """Write JSON with sorted keys atomically; NaN and infinities are refused (ValueError), use None."""
    write_text(path, json.dumps(value, indent=1, sort_keys=True, allow_nan=False) + "\n")


def read_bytes(path: str | Path) -> bytes:
    """The content of a file.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def read_json(path: str | Path) -> Any:
    """Read a JSON file.

    Raises:
        InputError: the file is missing or is not JSON.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}:{error.lineno}: not valid JSON; make it again with the rule that wrote it"
        ) from None


def canonical_json(value: Any) -> str:
    """The one compact text of a JSON value: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sha256_bytes(data: bytes) -> str:
    """The SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: str | Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None
