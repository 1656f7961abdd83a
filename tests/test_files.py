"""Files appear whole or not at all, and JSON never holds what JSON cannot say."""

import errno
import hashlib
import os
import stat
import tempfile
from pathlib import Path

import pytest

from promptdp.errors import InputError, PromptDPError
from promptdp.files import (
    atomic,
    canonical_json,
    clear_unfinished,
    parse_json,
    private_directory,
    read_json,
    read_object,
    sha256_file,
    shown,
    with_ending,
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


UNSOUND = {
    "not UTF-8": b'{"a": "\xff"}',
    "nested too deeply": b"[" * 100_000,
    "a number has too many digits": b"[" + b"7" * 6000 + b"]",
    "a number is not finite": [b"[NaN]", b"[-Infinity]", b"[1e999]"],
    "a key stands twice": b'[{"a": 1, "b": 2, "a": 3}]',
    "half of a surrogate pair": [rb'["\ud800"]', rb'{"a\uDfff": 1}', rb'"\ud83d \ude00"'],
}


@pytest.mark.parametrize(
    ("why", "content"),
    [(why, c) for why, given in UNSOUND.items() for c in (given if isinstance(given, list) else [given])],
)
def test_what_python_would_read_but_json_lacks_is_refused_in_one_line_without_its_text(
    why, content, tmp_path
):
    path = tmp_path / "unsound.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"unsound\.json: not valid JSON \({why}") as caught:
        read_json(path)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < len(str(path)) + 120


def test_a_whole_surrogate_pair_and_its_escape_are_read():
    assert parse_json(rb'["\ud83d\ude00", "\\ud800"]', "x") == ["\U0001f600", r"\ud800"]


def test_a_line_of_a_file_is_named_by_its_number():
    for text in ("{", "[NaN]"):
        with pytest.raises(InputError, match=r"^lines\.jsonl:7: not valid JSON"):
            parse_json(text, "lines.jsonl", 7)


@pytest.mark.parametrize("text", ["[]", "null", "7", '"{}"'])
def test_what_is_no_object_is_refused_where_one_is_due(text, tmp_path):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError, match=r"x\.json: is no JSON object"):
        read_object(tmp_path / "x.json")


@pytest.mark.parametrize("content", [{}, {"schema": "a/2"}, {"schema": ["a/1"]}])
def test_an_object_of_another_schema_is_refused(content, tmp_path):
    write_json(tmp_path / "x.json", content)
    assert read_object(tmp_path / "x.json") == content
    with pytest.raises(InputError, match=r"x\.json: its schema is not a/1"):
        read_object(tmp_path / "x.json", "a/1")


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("folder", "is a folder"),
        (".", "is a folder"),
        ("file/below", "Not a directory|File exists"),
        ("file/far/below", "Not a directory"),
        ("n" * 300, "File name too long"),
    ],
)
def test_a_path_where_no_file_can_be_is_bad_input_and_nothing_is_left(place, reason, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("kept")
    with pytest.raises(InputError, match=reason) as caught:
        write_text(tmp_path / place, "text")
    assert str(caught.value).startswith(f"{tmp_path / place}: ") and "\n" not in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_a_full_disk_is_nobodys_input_and_leaves_the_old_file(tmp_path):
    path = tmp_path / "value.txt"
    write_text(path, "old")
    with (
        pytest.raises(
            PromptDPError, match=r"value\.txt: was not written \(No space left on device\)"
        ) as caught,
        atomic(path) as temporary,
    ):
        temporary.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.exit_status == 1
    assert [p.name for p in tmp_path.iterdir()] == ["value.txt"] and path.read_text() == "old"


def test_a_stem_may_hold_dots_but_is_no_folder(tmp_path):
    assert with_ending(tmp_path / "table.v2", "csv") == tmp_path / "table.v2.csv"
    for stem in (tmp_path, ".", "..", "/"):
        with pytest.raises(InputError, match="is a folder"):
            with_ending(stem, "csv")


@pytest.mark.parametrize(
    ("value", "text"), [("p-1", "p-1"), ("a\nb", '"a\\nb"'), ("\ud800", '"\\ud800"'), ({"a": 1}, '{"a":1}')]
)
def test_an_error_shows_any_value_on_one_line(value, text):
    assert shown(value) == text


def test_missing_files_are_input_errors(tmp_path):
    for read in (read_json, read_object, sha256_file):
        with pytest.raises(InputError, match="cannot be read"):
            read(tmp_path / "missing")


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(b"\x00\xff" * 100_000)
    assert sha256_file(path) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_killed_writers_left_beside_a_file_goes_and_all_else_stays(tmp_path):
    (tmp_path / ".out[1].77.tmp").mkdir()
    (tmp_path / ".out[1].77.tmp" / "part").write_text("x")
    for name in (".out[1].8.tmp", ".out1.8.tmp", "out[1]", ".other.8.tmp"):
        (tmp_path / name).write_text("x")
    clear_unfinished(tmp_path / "out[1]")
    clear_unfinished(tmp_path / "nowhere" / "out")
    assert {path.name for path in tmp_path.iterdir()} == {".out1.8.tmp", "out[1]", ".other.8.tmp"}
