"""The curator learns which slots share a text or a person; nobody else does."""

import json
import stat

import pytest

from promptdp.cli import main
from promptdp.records.ingest import ingest_report
from promptdp.records.record import Record, write_records

MARK = "ZEBRA"


def record(number, question=None, contributor=None):
    return Record(f"{MARK}-{number}", question or f"{MARK} {number}?", MARK, contributor=contributor)


@pytest.mark.parametrize(
    ("questions", "groups", "k"),
    [
        ([], [], 1),
        (["a", "b", "c"], [], 1),
        (["a", "b", "a"], [[0, 2]], 2),
        (["a b", " a  b\n", "c", "a\tb", "c"], [[0, 1, 3], [2, 4]], 3),
        (["a", "A"], [], 1),
    ],
)
def test_slots_that_hold_one_text_are_counted_as_a_group(questions, groups, k):
    records = [record(number, question) for number, question in enumerate(questions)]
    report = ingest_report(10, records)
    assert report["duplicate_prompts"] == {"groups": groups, "k": k}
    assert (report["records"], report["slots"]) == (len(records), 10)
    assert "Proposition 1" in report["cost"]


def test_slots_of_one_contributor_are_counted_and_a_record_without_one_is_nobodys():
    people = ["ann", None, "bob", "ann", None, "ann"]
    records = [record(number, contributor=person) for number, person in enumerate(people)]
    assert ingest_report(6, records)["contributors"] == {"groups": [[0, 3, 5]], "k": 3}


def test_the_report_quotes_no_record():
    report = json.dumps(ingest_report(9, [record(0, MARK, MARK), record(1, MARK, MARK)]))
    assert MARK not in report


def own_study(root, tmp_path, count, slots=874):
    """A study with so many records of one's own, the first and the third of one text; its files."""
    source, study = tmp_path / "own.jsonl", tmp_path / "own.yaml"
    write_records(source, [record(number, MARK if number in (0, 2) else None) for number in range(count)])
    study.write_text(
        f"extends: {root}/config/studies/micro.yaml\nname: own\nprotocol: null\nbenchmarks:\n"
        f"  stories: {{source: jsonl, path: {source}, slots: {slots}}}\n"
        f"evaluation_sets:\n  stories: {{path: {source}}}\n"
    )
    return ["records", "--study", str(study), "--benchmark", "stories", "--out"]


def test_the_verb_leaves_the_report_in_the_private_zone_and_says_nothing(root, tmp_path, capfd):
    out = tmp_path / "private" / "train.jsonl"
    main([*own_study(root, tmp_path, count=3), str(out)])
    path = out.with_name("report.json")
    assert json.loads(path.read_text())["duplicate_prompts"] == {"groups": [[0, 2]], "k": 2}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert capfd.readouterr() == ("", "")
    assert {file.name for file in tmp_path.rglob("*") if file.is_file()} == {
        *("own.jsonl", "own.yaml", "train.jsonl", "report.json")
    }


def test_more_records_than_slots_are_refused_in_a_line_that_does_not_count_them(root, tmp_path, capfd):
    out = tmp_path / "private" / "train.jsonl"
    with pytest.raises(SystemExit) as leaving:
        main([*own_study(root, tmp_path, count=21, slots=20), str(out)])
    assert leaving.value.code == 2 and not list(out.parent.iterdir())
    error = capfd.readouterr().err
    assert "slots 20: there are more records than slots" in error and "21" not in error
