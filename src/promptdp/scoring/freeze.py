"""Freezing a rule: the hashes of every file that can change its verdict (VII-D; Table VIII).

The files of a rule are its module, this package's frame, and what they import inside `promptdp.scoring`. From
outside a rule uses the standard library, mpmath and the package's errors, which decide no verdict.
"""

import re
from pathlib import Path

from promptdp.closure import SOURCE, import_closure
from promptdp.errors import InputError
from promptdp.files import sha256_bytes, sha256_file, write_text
from promptdp.scoring import RULES
from promptdp.scoring import __name__ as package


def closure(rule: str) -> tuple[Path, ...]:
    """The files of this package that decide a rule's verdicts, sorted by module.

    Raises:
        InputError: there is no such rule.
    """
    if rule not in RULES:
        raise InputError(f"{rule}: no such scorer; use one of {', '.join(sorted(RULES))}")
    imported = import_closure(f"{package}.rules.{rule}")
    return tuple(path for module, path in imported.items() if module.startswith(package))


def lock_text(rule: str) -> str:
    """The rule's files in the format of `sha256sum -c`, to be run from the root of the repository."""
    lines = [
        f"{sha256_file(path)}  src/{path.relative_to(SOURCE.parent).as_posix()}\n" for path in closure(rule)
    ]
    return "".join(lines)


def digest(rule: str) -> str:
    """One hash of a rule: the SHA-256 of its lock."""
    return sha256_bytes(lock_text(rule).encode())


def write_lock(rule: str, path: str | Path) -> None:
    """Freeze a rule as it is now: write its lock file."""
    write_text(path, lock_text(rule))


def check_lock(rule: str, path: str | Path) -> None:
    """Check that a rule is still the one that was frozen.

    Raises:
        InputError: the lock cannot be read, or a file of the rule differs from it, appeared or went away.
    """
    try:
        locked = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path}: cannot be read; write it with `promptdp freeze {rule}`") from None
    current = lock_text(rule)
    if locked != current:
        changed = sorted(set(locked.splitlines()) ^ set(current.splitlines()))
        files = [match[1] for line in changed if (match := re.fullmatch(r"[0-9a-f]{64}  (\S+)", line))]
        file = min(files, default=str(path))
        raise InputError(
            f"{file}: differs from the frozen {rule} ({path}); restore it, or run `promptdp freeze {rule}`"
        )
