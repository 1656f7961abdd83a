"""Files appear whole or not at all, and JSON never holds what JSON cannot say."""

import hashlib
import os
import stat
import tempfile
from pathlib import Path

import pytest

from promptdp.errors import InputError
from promptdp.files import (
    atomic,
    canonical_json,
    private_directory,
    read_json,
    sha256_file,
    write_json,
    write_text,
)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_folder():
    """A folder that others can reach; pytest's own are closed to them."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_every_folder_made_on_the_way_to_a_private_one_is_its_owners_alone(open_folder, umask):
    before = os.umask(umask)
    try:
        made = private_directory(open_folder / "private" / "micro" / "recovery")
    finally:
        os.umask(before)
    assert [mode(folder) for folder in (made, *made.parents[:2])] == [0o700] * 3
    assert mode(open_folder) == 0o755
    assert private_directory(made) == made


def test_a_folder_that_others_can_read_is_refused_and_left_as_it_is(open_folder):
    with pytest.raises(InputError, match="others can read this folder"):
        private_directory(open_folder)
    assert mode(open_folder) == 0o755


def test_a_folder_below_a_closed_one_is_private_already(open_folder):
    private_directory(open_folder / "private")
    (open_folder / "private" / "logs").mkdir(mode=0o755)
    private_directory(open_folder / "private" / "logs")
    assert mode(open_folder / "private" / "logs") == 0o755


@pytest.mark.parametrize("path", ["file", "file/folder"])
def test_a_file_in_the_way_of_a_private_folder_is_refused(tmp_path, path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="can't be a private folder"):
        private_directory(tmp_path / path)


def test_a_private_file_is_its_owners_alone_from_the_start(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text("old, open to all")
    with atomic(path, private=True) as temporary:
        assert mode(temporary) == 0o600
        temporary.write_text("new")
    assert (mode(path), path.read_text()) == (0o600, "new")
    write_text(path, "newer", private=True)
    assert (mode(path), path.read_text()) == (0o600, "newer")


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
