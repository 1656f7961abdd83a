"""Every complete execution stays listed, the first is the reported one, and none is listed twice."""

import csv

import pytest

from promptdp.errors import InputError
from promptdp.files import write_json
from promptdp.reporting.executions import list_executions
from promptdp.study import load_study


@pytest.fixture
def execute(tmp_path):
    """Lists an execution whose adapter has the given hash; returns the rows of the list."""

    def run(adapter: str, difference: float, stores=("kept",)):
        write_json(
            tmp_path / "run.json", {"schema": "promptdp/run/1", "study": "micro", "adapter_sha256": adapter}
        )
        contrast = {
            "schema": "promptdp/contrast/1",
            "study": "micro",
            "evaluation_set": "stories",
            "scorer": "gsm8k",
            "name": "dp_grpo-control",
            "difference_pp": difference,
            "ci95_pp": [difference - 1, difference + 1],
            "per_seed_pp": [difference],
        }
        write_json(tmp_path / "contrast.json", contrast)
        inputs = [tmp_path / "run.json", tmp_path / "contrast.json"]
        list_executions(
            load_study("micro"), inputs, [tmp_path / store for store in stores], tmp_path / "list"
        )
        assert (tmp_path / "list.md").read_text().count("\n") == len(
            (tmp_path / "list.csv").read_text().splitlines()
        ) + 1
        with open(tmp_path / "list.csv", newline="") as stream:
            return list(csv.DictReader(stream))

    return run


def test_the_first_execution_is_the_reported_one_and_later_ones_are_listed_after_it(execute):
    execute("a", 2.0)
    rows = execute("b", -1.0)
    assert [(row["execution"], row["difference (pp)"]) for row in rows] == [
        ("1 (reported)", "+2.00"),
        ("2", "-1.00"),
    ]


def test_making_the_list_again_changes_nothing(execute):
    assert execute("a", 2.0) == execute("a", 2.0)


def test_an_execution_in_two_stores_is_listed_once(execute, tmp_path):
    execute("a", 2.0, stores=("recorded",))
    rows = execute("b", 1.0, stores=("recorded", "mine"))
    assert [row["execution"] for row in rows] == ["1 (reported)", "2"]
    (tmp_path / "mine/001-copy.json").write_text(next((tmp_path / "recorded").glob("*.json")).read_text())
    assert execute("b", 1.0, stores=("recorded", "mine")) == rows


GARBAGE = {
    "no JSON": ("{", "not valid JSON"),
    "a list": ("[]", "is no JSON object"),
    "another schema": ('{"schema": "promptdp/run/1"}', "its schema is not promptdp/execution/1"),
    "another study": ('{"schema": "promptdp/execution/1", "study": "other"}', "is not of study micro"),
    "no id": (
        '{"schema": "promptdp/execution/1", "study": "micro", "number": 1, "contrasts": []}',
        "lacks id",
    ),
    "a list as id": (
        '{"schema": "promptdp/execution/1", "study": "micro", "number": 1, "id": [], "contrasts": []}',
        "id: ",
    ),
    "contrasts of numbers": (
        '{"schema": "promptdp/execution/1", "study": "micro", "number": 1, "id": "a", "contrasts": [1]}',
        "contrasts.0: ",
    ),
}


@pytest.mark.parametrize(("text", "message"), GARBAGE.values(), ids=GARBAGE.keys())
def test_a_store_that_holds_something_else_is_named_and_stays_as_it_is(execute, tmp_path, text, message):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/001-x.json").write_text(text)
    with pytest.raises(InputError, match=rf"001-x\.json(:1)?: {message}"):
        execute("a", 2.0)
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["001-x.json"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "x.json: is no JSON object"),
        ({}, "x.json: is neither a run's manifest nor a contrast"),
        ({"schema": ["promptdp/run/1"]}, "x.json: is neither"),
        ({"schema": "promptdp/run/1", "study": "other"}, "x.json: is not of study micro"),
        ({"schema": "promptdp/run/1", "study": "micro"}, "x.json: lacks adapter_sha256"),
        ({"schema": "promptdp/run/1", "study": "micro", "adapter_sha256": 7}, "x.json: adapter_sha256: "),
        ({"schema": "promptdp/contrast/1", "study": "micro"}, "x.json: lacks evaluation_set"),
    ],
)
def test_an_input_that_is_no_part_of_an_execution_is_refused_by_name(tmp_path, content, message):
    write_json(tmp_path / "x.json", content)
    with pytest.raises(InputError, match=message):
        list_executions(load_study("micro"), [tmp_path / "x.json"], [tmp_path / "kept"], tmp_path / "list")
    assert not (tmp_path / "kept").exists()


def test_contrasts_without_runs_are_no_execution(execute, tmp_path):
    execute("a", 2.0)
    with pytest.raises(InputError, match="no input is the manifest of a run"):
        list_executions(
            load_study("micro"), [tmp_path / "contrast.json"], [tmp_path / "kept"], tmp_path / "list"
        )
