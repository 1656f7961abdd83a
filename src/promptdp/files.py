"""Folders, atomic writes, canonical JSON and file hashes: how every file of the road is made and named."""

import errno
import glob
import hashlib
import json
import math
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from promptdp.errors import InputError, PromptDPError

WRONG_PLACE = {
    errno.EACCES,
    errno.EEXIST,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EPERM,
    errno.EROFS,
}
"""Failures to write that another path cures; for the others, a full disk say, no input is to blame."""


def private_directory(path: str | Path) -> Path:
    """Make a folder, and those above it that are missing, with mode 0700.

    A folder that exists is left as it is: it, or a folder above it, must be closed to others already.

    Raises:
        InputError: the folder can't be made there, or others can reach it.
        PromptDPError: it can't be made for another reason, a full disk for one.
    """
    path = Path(path)
    try:
        missing = [folder for folder in (path, *path.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
        whole = path.resolve(strict=True)
        if not whole.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        closed = any(folder.stat().st_mode & 0o077 == 0 for folder in (whole, *whole.parents))
    except OSError as error:
        kind = InputError if error.errno in WRONG_PLACE else PromptDPError
        raise kind(f"{path}: can't be a private folder ({error.strerror}); choose another place") from None
    if not closed:
        raise InputError(
            f"{path}: others can read this folder; give a new one, or close it yourself (chmod 700)"
        )
    return path


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Tell in one line why a file or folder could not be written.

    Raises:
        InputError: nothing can be written at this path.
        PromptDPError: writing failed for another reason, a full disk for one.
    """
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the write failed"
        if error.errno in WRONG_PLACE:
            raise InputError(f"{path}: cannot be written ({reason}); choose another path") from None
        raise PromptDPError(f"{path}: was not written ({reason}); see to the disk and run again") from None


@contextmanager
def atomic(path: str | Path, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `path`, renamed onto it if the block succeeds and removed if it fails.

    A private file has mode 0600 from its first byte on. Errors are those of `writing`.
    """
    path = Path(path)
    temporary = path.parent / f".{path.name}.{os.getpid()}.tmp"
    try:
        with writing(path):
            if os.path.isdir(path):
                raise InputError(f"{path}: is a folder; name a file")
            path.parent.mkdir(parents=True, exist_ok=True)
            if private:
                temporary.unlink(missing_ok=True)
                temporary.touch(mode=0o600, exist_ok=False)
            yield temporary
            os.replace(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def clear_unfinished(path: str | Path) -> None:
    """Remove what killed writers of a file or folder left beside it; the caller is its only writer."""
    path = Path(path)
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()


def with_ending(stem: str | Path, ending: str) -> Path:
    """The file STEM.ending of a group of files that share a stem.

    Raises:
        InputError: the stem is a folder.
    """
    stem = Path(stem)
    if os.path.isdir(stem):
        raise InputError(f"{stem}: is a folder; name the files in it without their ending")
    return stem.with_name(f"{stem.name}.{ending}")


def sync(path: Path) -> None:
    """Return when the disk has a file's content, or a folder's names."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_text(path: str | Path, text: str, private: bool = False) -> None:
    """Write UTF-8 text atomically; a private file has mode 0600."""
    with atomic(path, private) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | Path, value: Any, private: bool = False) -> None:
    """Write JSON with sorted keys atomically; NaN and infinities are refused (ValueError), use None.

    A private file has mode 0600.
    """
    write_text(path, json.dumps(value, indent=1, sort_keys=True, allow_nan=False) + "\n", private)


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
        InputError: the file is missing or is not JSON (`parse_json`).
    """
    return parse_json(read_bytes(path), path)


def read_object(path: str | Path, schema: str | None = None) -> dict[str, Any]:
    """Read a JSON file that holds an object, and if `schema` is given, says it is of this schema.

    Raises:
        InputError: as `read_json`, or the file holds something else.
    """
    value = read_json(path)
    if not isinstance(value, dict):
        raise InputError(f"{path}: is no JSON object; make it again with the rule that wrote it")
    if schema is not None and value.get("schema") != schema:
        raise InputError(f"{path}: its schema is not {schema}; give a file of that schema")
    return value


def parse_json(content: str | bytes, path: str | Path, line: int | None = None, halves: bool = False) -> Any:
    """The value of a JSON text, held to the standard: UTF-8, no NaN or infinity, no key twice.

    `path` and `line` say where the text stands; errors never quote it. Half of a surrogate pair, which no
    file could hold again, is refused unless `halves` lets it pass, as in a response that may be any text.

    Raises:
        InputError: the text is not JSON, or it nests too deeply or holds too long a number to be read.
    """
    where = f"{path}:{line}" if line else f"{path}"
    try:
        text = content if isinstance(content, str) else content.decode("utf-8")
        value = json.loads(text, parse_float=_finite, parse_constant=_finite, object_pairs_hook=_unrepeated)
        if not halves and "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except json.JSONDecodeError as error:
        where, why = f"{path}:{line or error.lineno}", ""
    except UnicodeDecodeError:
        why = " (not UTF-8)"
    except UnicodeEncodeError:
        why = " (half of a surrogate pair)"
    except RecursionError:
        why = " (nested too deeply)"
    except _Unsound as error:
        why = f" ({error})"
    except ValueError:
        why = " (a number has too many digits)"
    raise InputError(f"{where}: not valid JSON{why}; correct it, or make it again")


class _Unsound(ValueError):
    """What Python reads as JSON though it is not."""


def _finite(literal: str) -> float:
    value = float(literal)
    if not math.isfinite(value):
        raise _Unsound("a number is not finite")
    return value


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _Unsound("a key stands twice in one object")
    return value


def shown(value: Any) -> str:
    """A value as an error shows it, on one line: a text as it stands, all else as JSON."""
    return value if isinstance(value, str) and value.isprintable() else canonical_json(value)


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
