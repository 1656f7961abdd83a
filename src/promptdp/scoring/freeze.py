"""Freezing a rule: the hashes of every file that can change its verdict (VII-D; Table VIII).

The files of a rule are its module, this package's frame, and everything they import inside `promptdp.scoring`, found in
the syntax trees rather than listed by hand. What a rule imports from outside is the standard library and mpmath.
"""

import ast
from pathlib import Path

import promptdp.scoring as frame
from promptdp.errors import InputError
from promptdp.files import sha256_bytes, sha256_file, write_text

PACKAGE = frame.__name__
FOLDER = Path(frame.__file__).parent


def _path(module: str) -> Path | None:
    """The file of a module of this package; None when there is no such module."""
    if module != PACKAGE and not module.startswith(f"{PACKAGE}."):
        return None
    stem = FOLDER.joinpath(*module.split(".")[len(PACKAGE.split(".")) :])
    candidates = (stem / "__init__.py", stem.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)


def _imports(path: Path) -> set[str]:
    """The names of the modules that a file may import, written absolutely; names that are no modules do no harm."""
    parts = (*PACKAGE.split("."), *path.relative_to(FOLDER).with_suffix("").parts)
    package = parts[:-1]
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *([node.module] if node.module else [])))
            names.update({module}, (f"{module}.{alias.name}" for alias in node.names))
    return names


def closure(rule: str) -> tuple[Path, ...]:
    """The files of this package that decide a rule's verdicts, sorted.

    Raises:
        InputError: there is no such rule.
    """
    if rule not in frame.RULES:
        raise InputError(f"{rule}: no such scorer; use one of {', '.join(sorted(frame.RULES))}")
    waiting = {PACKAGE, f"{PACKAGE}.rules.{rule}"}
    paths: set[Path] = set()
    while waiting:
        module = waiting.pop()
        if (path := _path(module)) is not None and path not in paths:
            paths.add(path)
            waiting |= _imports(path)
        if module.startswith(f"{PACKAGE}."):
            waiting.add(module.rpartition(".")[0])
    return tuple(sorted(paths))


def lock_text(rule: str) -> str:
    """The rule's files in the format of `sha256sum -c`, to be run from the root of the repository."""
    root = FOLDER.parent.parent
    return "".join(f"{sha256_file(path)}  src/{path.relative_to(root).as_posix()}\n" for path in closure(rule))


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
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); run `promptdp freeze {rule}`") from None
    locked, current = set(lines), set(lock_text(rule).splitlines())
    if locked != current:
        changed = min(line.partition("  ")[2] for line in locked ^ current)
        raise InputError(
            f"{changed}: differs from the frozen {rule} ({path}); restore it, or run `promptdp freeze {rule}`"
        )
