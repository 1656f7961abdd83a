"""Output folders: replaced as a whole, and only where they hold nothing but an earlier output."""

import shutil
from collections.abc import Collection
from pathlib import Path

from promptdp.errors import InputError


def check_replaceable(folder: Path, names: Collection[str]) -> None:
    """Refuse a folder that holds a file whose path inside it is none of `names`; a missing one is fine.

    Raises:
        InputError: such a file, or no folder at all, is in the way.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder}: is in the way of an output folder; move it or choose another place")
    for path in folder.rglob("*"):
        inside = str(path.relative_to(folder))
        if inside not in names and (path.is_symlink() or not path.is_dir()):
            raise InputError(
                f"{folder}: holds {inside}, which is not of this output and would be lost; "
                "choose another folder"
            )


def replace_folder(folder: Path, fresh: Path, names: Collection[str]) -> None:
    """Put the folder `fresh` in the place of `folder`, which may hold an earlier output alone.

    Raises:
        InputError: see `check_replaceable`.
    """
    check_replaceable(folder, names)
    if folder.exists():
        shutil.rmtree(folder)
    fresh.rename(folder)
