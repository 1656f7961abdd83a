import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from promptdp.errors import InputError
from promptdp.privacy.ledger import Ledger
from promptdp.privacy.register import Look, Register


def test_entries_come_back_in_the_order_they_were_made(tmp_path):
    register = Register(tmp_path / "new" / "register.jsonl")
    assert register.entries() == []
    entries = [{"event": "train", "seed": seed, "arm": "dpgrpo"} for seed in (1, 2, 1)]
    for entry in entries:
        register.append(entry)
    assert Register(tmp_path / "new" / "register.jsonl").entries() == entries


def test_the_register_stays_out_of_folders_that_others_read():
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        with pytest.raises(InputError, match="others can read this folder"):
            Register(Path(name) / "x.jsonl").append({"seed": 1})
        assert Path(name).stat().st_mode & 0o777 == 0o755 and not list(Path(name).iterdir())
        Register(Path(name) / "private" / "x.jsonl").append({"seed": 1})
        assert (Path(name) / "private").stat().st_mode & 0o777 == 0o700


def test_an_entry_is_never_rewritten(tmp_path):
    path = tmp_path / "register.jsonl"
    Register(path).append({"seed": 1})
    before = path.read_bytes()
    Register(path).append({"seed": 2})
    assert path.read_bytes().startswith(before)


def test_a_line_torn_by_a_kill_is_no_entry_and_gives_way_to_the_next(tmp_path):
    path = tmp_path / "register.jsonl"
    register = Register(path)
    register.append({"seed": 1})
    with path.open("ab") as stream:
        stream.write(b'{"seed": 2')
    assert register.entries() == [{"seed": 1}]
    register.append({"seed": 3})
    assert register.entries() == [{"seed": 1}, {"seed": 3}]


@pytest.mark.parametrize("line", ["", "7", "{", "[]"])
def test_a_broken_line_is_refused_with_its_number(tmp_path, line):
    path = tmp_path / "register.jsonl"
    path.write_text('{"seed":1}\n' + line + "\n")
    with pytest.raises(InputError, match=r"register.jsonl:2: "):
        Register(path).entries()


def test_processes_that_append_at_once_lose_nothing(tmp_path):
    code = (
        "import sys; from promptdp.privacy.register import Register\n"
        "for i in range(40): Register(sys.argv[1]).append({'who': sys.argv[2], 'i': i, 'long': 'x' * 5000})"
    )
    path = tmp_path / "register.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), who]) for who in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    entries = Register(path).entries()
    for who in "abc":
        assert [entry["i"] for entry in entries if entry["who"] == who] == list(range(40))


def look(folder, **changes):
    facts = {"study": "micro", "benchmark": "sums", "arm": "dp", "seed": 1, "execution": 1, "run": "ab" * 8}
    return Look(**facts | {"ledger": folder.resolve() / "recovery/ab/ledger.jsonl"} | changes)


def test_looks_come_back_by_benchmark_in_the_order_they_began(tmp_path):
    register = Register(tmp_path / "register.jsonl")
    first, other, again = look(tmp_path, seed=2), look(tmp_path, benchmark="stories"), look(tmp_path)
    for one in (first, other, again):
        register.append({"event": "reads records", "benchmark": one.benchmark})
        register.add_look(one, settings_sha256="cd" * 32)
    assert register.looks("sums") == [first, again]
    assert register.looks("stories") == [other]
    assert register.looks("choices") == []


def test_a_zone_that_moves_takes_its_ledgers_along_and_leaves_those_outside(tmp_path):
    outside = tmp_path.resolve() / "elsewhere/ledger.jsonl"
    register = Register(tmp_path / "old" / "register.jsonl")
    register.add_look(look(tmp_path / "old"))
    register.add_look(look(tmp_path / "old", ledger=outside))
    assert [entry["ledger"] for entry in register.entries()] == ["recovery/ab/ledger.jsonl", str(outside)]
    moved = (tmp_path / "old").rename(tmp_path / "new")
    ledgers = [found.ledger for found in Register(moved / "register.jsonl").looks("sums")]
    assert ledgers == [moved.resolve() / "recovery/ab/ledger.jsonl", outside]


@pytest.mark.parametrize("change", [{"ledger": None}, {"execution": None}, {"seed": "1"}, {"run": 7}])
def test_a_look_that_does_not_say_all_is_refused_with_its_line(tmp_path, change):
    register = Register(tmp_path / "register.jsonl")
    register.append({"event": "reads records"})
    register.append({"event": "run"} | vars(look(tmp_path)) | {"ledger": "ledger.jsonl"} | change)
    with pytest.raises(InputError, match=rf"register\.jsonl:2: a run without its {next(iter(change))}"):
        register.looks("sums")


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ({"event": "Run"}, "its event"),
        ({"event": None}, "its event"),
        ({}, "its event"),
        *[
            ({"event": event, key: name}, f"its {key} is no plain name")
            for event in ("run", "reads records")
            for key in ("study", "benchmark", "arm")
            for name in ("sums ", "Sums", "", "a\n", None, 7)
        ],
    ],
)
def test_a_line_edited_so_that_it_is_no_look_any_more_is_refused_with_its_number(tmp_path, entry, what):
    register = Register(tmp_path / "register.jsonl")
    register.add_look(look(tmp_path))
    edited = vars(look(tmp_path)) | {"ledger": "ledger.jsonl"}
    edited.pop("event", None)
    register.append(edited | entry)
    with pytest.raises(InputError, match=rf"register\.jsonl:2: {what}"):
        register.looks("stories")


@pytest.mark.parametrize("line", ["[" * 100_000, '{"event":"run","event":"x"}', '{"arm":"\\ud800"}'])
def test_a_line_that_is_unsound_json_is_refused_with_its_number(tmp_path, line):
    (tmp_path / "register.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match=r"register\.jsonl:1: "):
        Register(tmp_path / "register.jsonl").looks("sums")


@pytest.mark.parametrize("place", ["recovery/ab", "recovery/sums/dp/seed1/ab"])
def test_a_live_ledger_that_has_begun_a_round_and_that_no_line_names_is_a_stray(tmp_path, place):
    path = tmp_path / place / "ledger.jsonl"
    path.parent.mkdir(parents=True)
    register = Register(tmp_path / "register.jsonl")
    ledger = Ledger.open(path, {"benchmark": "sums"})
    assert register.strays("sums") == []
    ledger.begin(1)
    with path.open("ab") as stream:
        stream.write(b'{"torn')
    assert register.strays("sums") == [path.resolve()] and register.strays("stories") == []
    register.add_look(look(tmp_path, ledger=path.resolve(), benchmark="stories"))
    assert register.strays("sums") == [path.resolve()]
    register.add_look(look(tmp_path, ledger=path.resolve()))
    assert register.strays("sums") == []
