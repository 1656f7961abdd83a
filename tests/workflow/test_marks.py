"""The search for leaks finds what is planted, in every form a program might write it in."""

import base64
import gzip
import json
import struct
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from tests.workflow.marks import Marks, leaks, public_files

MARKS = Marks(("ZEBRA",), frozenset({1117}), frozenset({0.7310585786300049}), frozenset({"ab" * 32}))
PLANTED = {
    "a text": b"the question was ZEBRA?",
    "a text in UTF-16": "ZEBRA".encode("utf-16-le"),
    "a text in hexadecimal": b"ZEBRA".hex().encode(),
    **{f"a text in base64 after {n}": base64.b64encode(b"x" * n + b"ZEBRA here") for n in range(4)},
    "a count": b"round 1: 1117 records",
    "a count with a comma": b"drew 1,117.",
    "a count as a number of JSON": json.dumps({"batch": 1117}).encode(),
    "a count as a float": b'{"batch":1117.0}',
    "a count as an integer of 64 bits": b"head" + struct.pack("<q", 1117),
    "a norm in full": b"norm=0.7310585786300049",
    "a norm of six digits": b"norm 0.731059, clipped",
    "a norm with an exponent": b"7.310586e-01",
    "a norm in binary": b"head" + struct.pack("<d", 0.7310585786300049),
    "a norm in single precision": struct.pack("<f", 0.7310585786300049),
    "a hash": b"sha256:" + b"AB" * 32,
    "a text in gzip": gzip.compress(b"ZEBRA"),
    "a text in a stream of a PDF": b"stream\n" + zlib.compress(b"ZEBRA") + b"\nendstream",
    "a count in a page's data": b"data:application/gzip;base64," + base64.b64encode(gzip.compress(b"n 1117")),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_leak_is_found(tmp_path, name):
    (tmp_path / "file").write_bytes(PLANTED[name])
    assert leaks(MARKS, public_files(tmp_path)), name


def test_a_leak_in_a_column_in_metadata_and_in_a_name_is_found(tmp_path):
    column = pa.table({"extracted": ["ZEBRA"] * 50})
    pq.write_table(column, tmp_path / "column.parquet")
    pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({"n": "1117"}), tmp_path / "metadata.parquet")
    save_file({"a": np.zeros(3)}, tmp_path / "weights.safetensors", {"mean_norm": "0.7310586"})
    (tmp_path / "ZEBRA.txt").write_text("")
    assert len(leaks(MARKS, public_files(tmp_path))) == 4


@pytest.mark.parametrize(
    "content",
    [
        b"11170 1.1117 a1117 0.1117 x.1117 1117ab 11e17",
        b"0.73105 0.731 0.7310",
        b"ZEBR A zebra",
        b"ab" * 31,
        struct.pack("<d", 0.7310585786300048),
    ],
)
def test_what_only_looks_like_a_mark_is_none(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    assert not leaks(MARKS, public_files(tmp_path))


def test_closed_folders_are_left_out_and_hidden_files_are_not(tmp_path):
    for name in ("private/a", ".hidden/b", "results/.c"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("ZEBRA")
    found = leaks(MARKS, public_files(tmp_path, tmp_path / "private"))
    assert {name.rsplit("/", 1)[1] for name in found} == {"b", ".c"}
