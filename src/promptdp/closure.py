"""Which source files a module's behaviour depends on: its import closure inside this package, by hash.

The workflow reruns a step when the code it runs changes, and only then; a scorer is frozen by the same means.
"""

import ast
from functools import cache
from pathlib import Path

from promptdp.files import sha256_bytes, sha256_file

PACKAGE = __name__.partition(".")[0]
SOURCE = Path(__file__).resolve().parent


def import_closure(module: str) -> dict[str, Path]:
    """Every module of this package that `module` imports, directly or through others, itself included.

    Imports inside functions count, those for type checkers alone do not. Packages on the way down to a module
    count too, since Python runs them.

    Returns:
        {dotted module name: source file}, sorted by name.
    """
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _source(name)
        if name in found or path is None:
            continue
        found[name] = path
        waiting += [*_parents(name), *_imports(name)]
    return dict(sorted(found.items()))


def code_digest(*modules: str) -> str:
    """The SHA-256 of the import closures of some modules: one line `<hash>  <module>` each, sorted."""
    union = {name: path for module in modules for name, path in import_closure(module).items()}
    lines = [f"{sha256_file(path)}  {name}\n" for name, path in sorted(union.items())]
    return sha256_bytes("".join(lines).encode())


def _source(module: str) -> Path | None:
    """The source file of a module of this package, or None where there is no such module."""
    head, *rest = module.split(".")
    if head != PACKAGE:
        return None
    stem = SOURCE.joinpath(*rest)
    for path in (stem / "__init__.py", stem.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def _parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:depth]) for depth in range(1, len(parts))]


@cache
def _imports(module: str) -> tuple[str, ...]:
    """The names a module may import; a name that is no module of this package is dropped by the caller."""
    path = _source(module)
    assert path is not None
    names: list[str] = []
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(names)
