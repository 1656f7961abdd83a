"""Decisions freeze files; stamps are deterministic; what changed is named with the command that amends."""

import json

import pytest

from promptdp.errors import InputError
from promptdp.files import sha256_bytes
from promptdp.protocol import amend, decide, load_protocol
from promptdp.timeline import Job


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A protocol with one decision over one file and one lock, frozen."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rule.py").write_text("answer = 1\n")
    digest = sha256_bytes(b"answer = 1\n")
    (tmp_path / "rule.sha256").write_text(f"{digest}  rule.py\n")
    (tmp_path / "choice.yaml").write_text("rate: 1\n")
    (tmp_path / "p.yaml").write_text(
        "# a comment that stays\n"
        "decisions:\n"
        "  first:\n"
        "    statement: We chose.\n"
        "    freezes:\n"
        "      choice.yaml: null\n"
        "      rule.sha256: null\n"
        "    before: [train, score]\n"
        "    scorer: gsm8k\n"
        "  second:\n"
        "    statement: And again.\n"
        "    freezes:\n"
        "      choice.yaml: null\n"
        "    before: [records_eval]\n"
    )
    amend("first", "p.yaml", "first freeze")
    amend("second", "p.yaml", "first freeze")
    return tmp_path


def test_a_stamp_is_the_same_whenever_it_is_made(folder):
    decide("first", "p.yaml", "one.json")
    decide("first", "p.yaml", "two.json")
    assert (folder / "one.json").read_bytes() == (folder / "two.json").read_bytes()
    assert set(json.loads((folder / "one.json").read_text())["frozen"]) == {
        "choice.yaml",
        "rule.sha256",
        "rule.py",
    }


@pytest.mark.parametrize("file", ["choice.yaml", "rule.py", "rule.sha256"])
@pytest.mark.parametrize("how", ["edited", "removed"])
def test_a_frozen_file_that_changed_stops_the_decision_by_name(folder, file, how):
    path = folder / file
    path.write_text(path.read_text().replace("1", "2")) if how == "edited" else path.unlink()
    with pytest.raises(InputError) as error:
        decide("first", "p.yaml", "stamp.json")
    assert file.split(".")[0] in str(error.value) and not (folder / "stamp.json").exists()


def test_the_error_gives_the_command_that_amends(folder):
    (folder / "choice.yaml").write_text("rate: 2\n")
    with pytest.raises(InputError, match=r"promptdp decide first --protocol p.yaml --amend REASON"):
        decide("first", "p.yaml", "stamp.json")


def test_an_amendment_freezes_anew_and_stays_on_record(folder):
    (folder / "choice.yaml").write_text("rate: 2\n")
    amend("first", "p.yaml", "the rate was mistyped")
    decide("first", "p.yaml", "stamp.json")
    (amendment,) = json.loads((folder / "stamp.json").read_text())["amendments"]
    assert amendment["reason"] == "the rate was mistyped" and set(amendment["changed"]) == {"choice.yaml"}
    assert (folder / "p.yaml").read_text().startswith("# a comment that stays\n")
    with pytest.raises(InputError):
        decide("second", "p.yaml", "stamp2.json")


def test_the_first_freeze_is_no_amendment(folder):
    decide("second", "p.yaml", "stamp.json")
    assert json.loads((folder / "stamp.json").read_text())["amendments"] == []


def test_gates_are_those_of_the_rule_and_the_scorer(folder):
    protocol = load_protocol("p.yaml")
    assert protocol.gates(Job("train", "stories", "gsm8k", "gold", 1)) == ["first"]
    assert protocol.gates(Job("train", "arithmetic", "math_strict", "gold", 1)) == []
    assert protocol.gates(Job("predict", "stories", None, "gold", 1)) == []
    assert protocol.gates(Job("records_eval", "stories")) == ["second"]


def test_an_unknown_decision_names_those_that_exist(folder):
    with pytest.raises(InputError, match=r"'third'.*first, second"):
        decide("third", "p.yaml", "stamp.json")


@pytest.mark.parametrize(
    "bad", ["decisions: {a: {statement: s}}\n", "decisons: {}\n", "decisions: {A: {}}\n"]
)
def test_a_malformed_protocol_is_one_line(bad, tmp_path):
    path = tmp_path / "p.yaml"
    path.write_text(bad)
    with pytest.raises(InputError) as error:
        load_protocol(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_an_amendment_touches_its_own_decision_alone(folder):
    (folder / "choice.yaml").write_text("rate: 2\n")
    before = (folder / "p.yaml").read_text()
    amend("second", "p.yaml", "again")
    after = (folder / "p.yaml").read_text()
    assert before.partition("  second:")[0] == after.partition("  second:")[0] and before != after


def test_hashes_that_can_not_be_rewritten_are_refused_and_nothing_changes(folder):
    text = "decisions:\n  first:\n    statement: s\n    freezes: {choice.yaml: null}\n    before: [train]\n"
    (folder / "p.yaml").write_text(text)
    with pytest.raises(InputError, match=r"write 'choice.yaml: HASH' once, on a line of its own"):
        amend("first", "p.yaml", "why")
    assert (folder / "p.yaml").read_text() == text


def test_every_frozen_file_of_the_micro_study_is_as_it_was_frozen(tmp_path):
    for name in load_protocol("config/protocol/micro.yaml").decisions:
        decide(name, "config/protocol/micro.yaml", tmp_path / f"{name}.json")
