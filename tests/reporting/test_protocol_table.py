"""Table VIII says of each decision what its stamp says, and no more than a stamp proves."""

import csv
import json

import pytest

from promptdp.errors import InputError
from promptdp.protocol import amend, decide
from promptdp.reporting.tables import make_table, write_table
from promptdp.study import load_study

PROTOCOL = """study: study.yaml
{reenacts}decisions:
  first:
    title: Two rules
    statement: We chose one.
    taken: Early.
    scorer: gsm8k
    freezes:
      rule.txt: null
    before:
      - train
      - score
  second:
    title: Two rules
    statement: We chose another.
    taken: Early.
    freezes:
      rule.txt: null
    before:
      - records_eval: {{evaluation_sets: [stories]}}
  more_seeds:
    title: Seeds 3–4
    statement: Two more seeds.
    taken: Late.
    seen: A letter.
    settings:
      arms.gold.seeds: [1, 2]
    after:
      - score: {{evaluation_sets: [stories], scorers: [gsm8k], arms: [gold, control], seeds: [1]}}
      - predict: {{arms: [base]}}
      - file: rule.txt
    before:
      - train: {{benchmarks: [stories], arms: [gold], seeds: [2]}}
"""


@pytest.fixture
def stamped(tmp_path, monkeypatch, root):
    """The stamps of a protocol with an amendment, in its order, and the study."""

    def stamp(reenacts: str = ""):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "study.yaml").write_text(
            f"extends: {root}/config/studies/micro.yaml\nname: tiny\nprotocol: p.yaml\n"
        )
        (tmp_path / "rule.txt").write_text("one\n")
        (tmp_path / "p.yaml").write_text(PROTOCOL.format(reenacts=reenacts))
        for name in ("first", "second"):
            amend(name, "p.yaml", "first freeze")
        (tmp_path / "rule.txt").write_text("two\n")
        amend("first", "p.yaml", "a misprint & more")
        amend("second", "p.yaml", "a misprint")
        seen = [f"seen{number}" for number in range(6)]  # two scores, and the base's predictions on four sets
        for path in seen:
            (tmp_path / path).write_text(path)
        decide("first", "p.yaml", "1.json")
        decide("second", "p.yaml", "2.json")
        decide("more_seeds", "p.yaml", "3.json", [*seen, "rule.txt"])
        return load_study("study.yaml"), [tmp_path / f"{number}.json" for number in (1, 2, 3)]

    return stamp


def test_a_row_says_when_a_decision_was_fixed_what_it_came_after_and_what_had_to_follow(stamped):
    table = make_table(8, *stamped())
    assert [[cell.text for cell in row] for row in table.rows] == [
        [
            "Two rules",
            "We chose one. We chose another.",
            "Early.",
            "–",
            "training with gsm8k as reward; gsm8k scores; evaluation problems on stories",
            "first: a misprint & more; second: a misprint",
        ],
        [
            "Seeds 3–4",
            "Two more seeds.",
            "Late. Seen: A letter.",
            "gsm8k scores of Gold DP-SFT, Zero-advantage control on stories (seed 1); "
            "predictions of Public base; rule.txt",
            "training of Gold DP-SFT on stories (seed 2)",
            "–",
        ],
    ]


def test_the_table_says_that_stamps_prove_the_order_of_this_execution_alone(stamped):
    study, stamps = stamped()
    notes = make_table(8, study, stamps).notes
    assert "proves the order of this execution" in notes[0] and "does not prove when" in notes[0]
    assert len(notes) == 1
    notes = make_table(8, *stamped("reenacts: Table VIII of a paper\n")).notes
    assert "re-enact Table VIII of a paper" in notes[1]


def test_the_table_is_written_in_every_format_with_the_hashes_of_its_stamps(stamped, tmp_path):
    study, stamps = stamped()
    write_table(make_table(8, study, stamps), tmp_path / "table8")
    twin = json.loads((tmp_path / "table8.json").read_text())
    assert twin["number"] == 8 and set(twin["inputs"]) == {str(path) for path in stamps}
    with (tmp_path / "table8.csv").open() as lines:
        assert [row["Decision"] for row in csv.DictReader(lines)] == ["Two rules", "Seeds 3–4"]
    latex = (tmp_path / "table8.tex").read_text()
    assert "Seeds 3--4 &" in latex
    assert (
        r"a misprint \& more" in latex and r"\begin{tabular}{lllp{0.45\linewidth}p{0.45\linewidth}l}" in latex
    )
    assert "| Two rules " in (tmp_path / "table8.md").read_text()


def test_a_study_without_a_protocol_has_no_rows_and_one_without_stamps_is_refused(stamped):
    study, _ = stamped()
    assert make_table(8, study.model_copy(update={"protocol": None}), []).rows == ()
    with pytest.raises(InputError, match="table 8: no input holds what it shows; give the stamps of tiny"):
        make_table(8, study, [])


@pytest.mark.parametrize("change", [{"statement": 3}, {"after": [{"bake": {}}]}, {"amendments": [{}]}])
def test_a_stamp_that_is_none_is_refused_with_its_path(change, stamped):
    study, (path, *_) = stamped()
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=r"1\.json: .*make it again with its rule"):
        make_table(8, study, [path])


def test_a_stamp_of_an_earlier_version_is_shown_as_far_as_it_goes(stamped):
    study, (path, *_) = stamped()
    stamp = json.loads(path.read_text())
    kept = ("schema", "decision", "statement", "frozen", "amendments")
    path.write_text(json.dumps({key: stamp[key] for key in kept} | {"before": ["train", "score"]}))
    ((title, statement, *others),) = make_table(8, study, [path]).rows
    assert (title.text, statement.text) == ("First", "We chose one.")
    assert [cell.text for cell in others] == ["–", "–", "training; scores", "first: a misprint & more"]
