"""Files that belong together: all of them are written, or none."""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from promptdp.errors import InputError
from promptdp.files import atomic


def write_together(contents: Mapping[Path, str]) -> None:
    """Write UTF-8 texts, each atomically, once every one of them lies beside its place.

    Raises:
        InputError: one of them cannot be written there.
    """
    with ExitStack() as stack:
        for path, text in contents.items():
            stack.enter_context(atomic(path)).write_bytes(text.encode())


def require_distinct(paths: Mapping[str, Path | None]) -> None:
    """Require that the paths of options lead to different files.

    Raises:
        InputError: two options name one file.
    """
    named: dict[Path, str] = {}
    for option, path in paths.items():
        if path is not None and (other := named.setdefault(path.resolve(), option)) != option:
            raise InputError(f"{path}: is named by {other} and by {option}; give each its own file")


def json_text(value: Any) -> str:
    """JSON with sorted keys, in which texts of any script can be read."""
    return json.dumps(value, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"
