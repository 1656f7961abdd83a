"""Decisions freeze files; stamps are deterministic; what changed is named with the command that amends."""

import json

import pytest

from promptdp.errors import InputError
from promptdp.files import sha256_bytes
from promptdp.protocol import amend, check_decision, decide, load_protocol
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


@pytest.mark.parametrize("study", ["micro", "paper"])
def test_all_that_a_protocol_of_the_repository_fixes_is_as_it_was_fixed(study):
    path = f"config/protocol/{study}.yaml"
    for name in load_protocol(path).decisions:
        check_decision(name, path)


SCORED = "results/tiny/scores/stories/gsm8k/{}/seed1.parquet"


@pytest.fixture
def seeds(folder, root):
    """A protocol that fixes settings of a study, and came after scores and a table."""
    (folder / "study.yaml").write_text(f"extends: {root}/config/studies/micro.yaml\nname: tiny\n")
    (folder / "pilot.csv").write_text("rate,accuracy\n")
    (folder / "s.yaml").write_text(
        "study: study.yaml\n"
        "reenacts: a story\n"
        "decisions:\n"
        "  seeds:\n"
        "    statement: Two more.\n"
        "    taken: After a look.\n"
        "    settings:\n"
        "      arms.gold.seeds: [1, 2]\n"
        "      arms.gold.learning_rate: 0.001\n"
        "      benchmarks.stories.prompt: '{question}'\n"
        "    after:\n"
        "      - score: {evaluation_sets: [stories], arms: [dp_grpo, control], seeds: [1]}\n"
        "      - file: pilot.csv\n"
        "    before:\n"
        "      - train: {arms: [gold], seeds: [2]}\n"
    )
    evidence = [SCORED.format("control"), SCORED.format("dp_grpo")]
    for path in evidence:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path)
    return [*evidence, "pilot.csv"]


def test_a_stamp_holds_what_was_fixed_what_had_been_seen_and_what_must_follow(seeds, folder):
    decide("seeds", "s.yaml", "stamp.json", seeds)
    stamp = json.loads((folder / "stamp.json").read_text())
    assert stamp["evidence"] == {path: sha256_bytes((folder / path).read_bytes()) for path in seeds}
    assert stamp["settings"]["arms.gold.seeds"] == [1, 2] and stamp["frozen"] == {}
    assert stamp["before"] == [{"train": {"arms": ["gold"], "seeds": [2]}}]
    chosen = {"evaluation_sets": ["stories"], "arms": ["dp_grpo", "control"], "seeds": [1]}
    assert stamp["after"] == [{"score": chosen}, {"file": "pilot.csv"}]
    assert stamp["taken"] == "After a look." and stamp["reenacts"] == "a story"


@pytest.mark.parametrize("given", [[], [0, 1], [0, 0, 1], [0, 1, 2, "p.yaml"]])
def test_a_stamp_is_made_from_all_that_had_been_seen_and_nothing_else(given, seeds, folder):
    evidence = [path if isinstance(path, str) else seeds[path] for path in given]
    with pytest.raises(InputError, match="the decision 'seeds' came after 3 files, not"):
        decide("seeds", "s.yaml", "stamp.json", evidence)
    assert not (folder / "stamp.json").exists()


def test_evidence_that_changed_changes_the_stamp(seeds, folder):
    decide("seeds", "s.yaml", "one.json", seeds)
    (folder / seeds[0]).write_text("another")
    decide("seeds", "s.yaml", "two.json", seeds)
    assert (folder / "one.json").read_bytes() != (folder / "two.json").read_bytes()


@pytest.mark.parametrize(
    ("change", "key", "value"),
    [
        ("arms: {gold: {seeds: [1, 2, 3]}}", "arms.gold.seeds", [1, 2, 3]),
        ("arms: {gold: {learning_rate: 5.0e-6}}", "arms.gold.learning_rate", 5e-6),
        (
            "benchmarks: {stories: {prompt: 'Q: {question}\n\n\n  - it''s \"so\": x'}}",
            "benchmarks.stories.prompt",
            'Q: {question}\n\n- it\'s "so": x',
        ),
    ],
)
def test_a_setting_that_changed_stops_the_decision_until_an_amendment_fixes_it_anew(
    change, key, value, seeds, folder
):
    with (folder / "study.yaml").open("a") as study:
        study.write(change + "\n")
    with pytest.raises(InputError, match=f"study.yaml: {key}: is not what the decision 'seeds' froze"):
        decide("seeds", "s.yaml", "stamp.json", seeds)
    amend("seeds", "s.yaml", "we meant this")
    assert load_protocol("s.yaml").decisions["seeds"].settings[key] == value
    decide("seeds", "s.yaml", "stamp.json", seeds)
    (amendment,) = json.loads((folder / "stamp.json").read_text())["amendments"]
    assert amendment["changed"][key]["to"] == value and amendment["reason"] == "we meant this"


def test_a_changed_rule_is_frozen_before_its_decision_is_amended(folder):
    (folder / "rule.py").write_text("answer = 2\n")
    with pytest.raises(InputError, match=r"promptdp freeze rule && promptdp decide first .* --amend REASON"):
        decide("first", "p.yaml", "stamp.json")
