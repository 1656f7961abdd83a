"""The published values as the tests read and change them."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from promptdp.reporting.published.values import Key, Published, read_published

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "resources/published"
EXCEPTIONS = FOLDER / "exceptions.csv"
FILES = [*(FOLDER / f"table{number}.csv" for number in range(1, 15)), FOLDER / "text.csv"]


@cache
def published() -> Published:
    return read_published(FILES)


def changed(key: Key, text: str) -> Published:
    """All values, one of them printed otherwise."""
    assert published()[key].text != text
    return Published([replace(one, text=text) if one.key == key else one for one in published()])
