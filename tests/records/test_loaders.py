"""Training records stay in closed folders and files; evaluation problems are public."""

import stat
import tempfile
from pathlib import Path

import pytest

from promptdp.errors import InputError
from promptdp.records.loaders import write_evaluation_records, write_training_records
from promptdp.records.record import read_records
from promptdp.study import Study

SMALL = Study.model_validate(
    {
        "name": "small",
        "title": "Records alone",
        "records": "public",
        "base": {"checkpoint": "none"},
        "benchmarks": {
            "sums": {
                "source": "arithmetic",
                "reward": "math_strict",
                "slots": 4,
                "expected": 2,
                "rounds": 1,
                "cap": 6,
                "epsilon": 8,
            }
        },
        "evaluation_sets": {
            "sums": {"benchmark": "sums", "problems": 2, "cap": 6, "scorers": {"strict": "math_strict"}}
        },
        "arms": {"base": {"label": "Base", "objective": "none", "seeds": [0]}},
    }
)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def working():
    """A folder that others can reach; pytest's own are closed to them."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_training_records_and_the_folders_made_for_them_are_their_owners_alone(working):
    out = working / "private" / "small" / "train.jsonl"
    write_training_records(SMALL, "sums", out)
    assert len(read_records(out)) == 4
    assert mode(out) == 0o600
    assert [mode(folder) for folder in out.parents[:2]] == [0o700, 0o700]


def test_training_records_are_not_written_where_others_read(working):
    with pytest.raises(InputError, match="others can read this folder"):
        write_training_records(SMALL, "sums", working / "train.jsonl")
    assert not list(working.iterdir())


def test_evaluation_problems_are_public(working):
    write_evaluation_records(SMALL, "sums", working / "eval" / "eval.jsonl", working / "eval" / "split.json")
    assert mode(working / "eval" / "eval.jsonl") & 0o044 == 0o044


def test_a_transfer_set_is_drawn_from_the_world_that_it_names(working):
    spec = {
        "benchmark": "sums",
        "transfer": True,
        "source": "stories",
        "problems": 3,
        "cap": 6,
        "scorers": {"strict": "svamp"},
    }
    study = Study.model_validate(SMALL.model_dump() | {"evaluation_sets": {"far": spec}})
    write_evaluation_records(study, "far", working / "eval.jsonl", working / "split.json")
    assert [record.id for record in read_records(working / "eval.jsonl")] == [
        f"stories-eval-{number:05d}" for number in range(3)
    ]
