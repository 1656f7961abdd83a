"""Every complete execution stays listed, the first is the reported one, and none is listed twice."""

import csv

import pytest

from promptdp.files import write_json
from promptdp.reporting.executions import list_executions
from promptdp.study import load_study


@pytest.fixture
def execute(tmp_path):
    """Lists an execution whose adapter has the given hash; returns the rows of the list."""

    def run(adapter: str, difference: float, stores=("kept",)):
        write_json(tmp_path / "run.json", {"schema": "promptdp/run/1", "adapter_sha256": adapter})
        contrast = {
            "schema": "promptdp/contrast/1",
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
