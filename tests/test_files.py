"""Files appear whole or not at all, and JSON never holds what JSON cannot say."""

import hashlib

import pytest

from promptdp.errors import InputError
from promptdp.files import atomic, canonical_json, read_json, sha256_file, write_json


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "value.json"
    write_json(path, {"a": 1})
    with pytest.raises(RuntimeError), atomic(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert read_json(path) == {"a": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["value.json"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_json_lacks_are_refused_and_nothing_is_written(value, tmp_path):
    with pytest.raises(ValueError, match="Out of range"):
        write_json(tmp_path / "value.json", {"a": value})
    assert list(tmp_path.iterdir()) == []


def test_equal_values_have_one_text():
    assert (
        canonical_json({"b": 1, "a": [1, 2]}) == canonical_json({"a": [1, 2], "b": 1}) == '{"a":[1,2],"b":1}'
    )


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}"])
def test_broken_json_is_named_with_its_line(text, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"broken.json:1: not valid JSON"):
        read_json(path)


def test_missing_files_are_input_errors(tmp_path):
    for read in (read_json, sha256_file):
        with pytest.raises(InputError, match="cannot be read"):
            read(tmp_path / "missing")


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(b"\x00\xff" * 100_000)
    assert sha256_file(path) == hashlib.sha256(path.read_bytes()).hexdigest()
