"""Finding in any file what must not be seen: marked texts, and numbers that private records decide on."""

import base64
import gzip
import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

TOKEN = re.compile(rb"(?<![\w.])\d[\d,]*\.?\d*(?:e[+-]?\d+)?(?!\w)", re.IGNORECASE)
"""A number as text writes it."""
HEXADECIMAL = re.compile(rb"[0-9a-f]{32,}", re.IGNORECASE)
DIGITS = range(6, 18)
"""How many significant digits of a number name it."""
REALS, INTEGERS = ("<d", ">d", "<f", ">f"), ("<q", ">q", "<i", ">i")


@dataclass(frozen=True)
class Marks:
    """What to look for.

    Attributes:
        texts: texts found in no public file by chance.
        counts: whole numbers of four digits or more.
        values: numbers with six significant digits or more.
        hashes: hexadecimal digests of private content.
    """

    texts: tuple[str, ...]
    counts: frozenset[int] = frozenset()
    values: frozenset[float] = frozenset()
    hashes: frozenset[str] = frozenset()

    def found_in(self, content: bytes) -> set[str]:
        """Which marks a file's content holds: as text or in base64, in decimal or as a machine writes it."""
        seen = {text for text in self.texts if any(form in content for form in text_forms(text))}
        tokens = {token.replace(b",", b"").rstrip(b".").lower() for token in TOKEN.findall(content)}
        seen |= {self.printed[token] for token in tokens & self.printed.keys()}
        seen |= {self.stored[word] for size in (4, 8) for word in self._words(content, size)}
        digests = {run.decode().lower() for run in HEXADECIMAL.findall(content)}
        return seen | digests & self.hashes

    @cached_property
    def printed(self) -> dict[bytes, str]:
        """Each number by what it may look like when it is printed."""
        counts = {form: f"{n}" for n in self.counts for form in (b"%d" % n, b"%d.0" % n)}
        return counts | {form: f"{value!r}" for value in self.values for form in decimals(value)}

    @cached_property
    def stored(self) -> dict[bytes, str]:
        """Each number by its bytes in memory: binary64 and binary32, a count as an integer too."""
        counts = {struct.pack(form, n): f"{n}" for n in self.counts for form in (*REALS, *INTEGERS)}
        return counts | {struct.pack(form, x): f"{x!r}" for x in self.values for form in REALS}

    def _words(self, content: bytes, size: int) -> Iterator[bytes]:
        """The stored forms of `size` bytes that stand anywhere in a content."""
        forms = b"".join(form for form in self.stored if len(form) == size)
        looked_for = np.frombuffer(forms, dtype=f"<u{size}")
        for start in range(min(size, max(len(content) - size + 1, 0))):
            count = (len(content) - start) // size
            words = np.frombuffer(content, dtype=f"<u{size}", offset=start, count=count)
            for word in np.intersect1d(words, looked_for):
                yield word.tobytes()


def text_forms(text: str) -> list[bytes]:
    """A text in UTF-8, in UTF-16, in hexadecimal, and inside base64 at each of its three alignments."""
    raw = text.encode()
    inside = []
    for shift in range(3):
        first, end = -(-8 * shift // 6), 8 * (shift + len(raw)) // 6  # the letters that `raw` alone decides
        inside.append(base64.b64encode(b"\0" * shift + raw)[first:end])
    return [raw, text.encode("utf-16-le"), raw.hex().encode(), *inside]


def decimals(value: float) -> set[bytes]:
    """What a number may look like when it is printed."""
    value = abs(value)
    forms = {repr(value), *(f"{value:.{n}g}" for n in DIGITS), *(f"{value:.{n - 1}e}" for n in DIGITS)}
    forms |= {text for n in DIGITS if len((text := f"{value:.{n}f}").strip("0.")) >= min(DIGITS)}
    return {form.encode() for form in forms}


def public_files(root: Path, *closed: Path) -> list[Path]:
    """Every file below `root`, hidden ones too, that lies in none of the closed folders."""
    files = (path for path in root.rglob("*") if path.is_file())
    return sorted(path for path in files if not any(path.is_relative_to(folder) for folder in closed))


def leaks(marks: Marks, files: Iterable[Path]) -> dict[str, set[str]]:
    """The marks in each file that holds any, in its name or in its content, however it is compressed."""
    found = {
        str(path): set().union(marks.found_in(str(path).encode()), *map(marks.found_in, layers(path)))
        for path in files
    }
    return {name: seen for name, seen in found.items() if seen}


def layers(path: Path) -> Iterator[bytes]:
    """A file's bytes, and what is packed in them: gzip, the columns of Parquet, PDF streams, base64."""
    content = path.read_bytes()
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        yield repr((table.schema.metadata, table.to_pylist())).encode()
    yield from unpacked(content)


def unpacked(content: bytes) -> Iterator[bytes]:
    """The bytes and all that they pack."""
    yield content
    if content[:2] == b"\x1f\x8b":
        yield from unpacked(gzip.decompress(content))
    for stream in re.findall(rb"stream\r?\n(x.*?)endstream", content, re.DOTALL):
        yield zlib.decompressobj().decompress(stream)
    for packed in re.findall(rb"base64,([A-Za-z0-9+/]+=*)", content):
        yield from unpacked(base64.b64decode(packed))
