"""Saved responses become one file of verdicts that says where it comes from; nothing is dropped."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from promptdp.errors import InputError
from promptdp.evaluation.rescore import manifest_path, read_scores, rescore, score_lines
from promptdp.files import sha256_file, write_json
from promptdp.scoring.freeze import digest

CONTEXT = {"study": "tiny", "evaluation_set": "sums", "arm": "dp-grpo", "seed": 3}
RECORDS = [{"id": f"sums-{i}", "question": f"{i}+1", "answer": str(i + 1)} for i in range(3)]
PREDICTIONS = [
    {"problem_id": "sums-2", "response": r"\boxed{3}", "tokens": 5, "capped": False},
    {"problem_id": "sums-0", "response": r"\boxed{7", "tokens": 9, "capped": True},
    {"problem_id": "sums-1", "response": r"\boxed{5}", "tokens": 4, "capped": False},
]


@pytest.fixture
def files(tmp_path):
    """Records, and a function that writes predictions with their manifest."""
    records = tmp_path / "eval.jsonl"
    records.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))

    def write(lines, manifest=None):
        predictions = tmp_path / "seed3.jsonl.gz"
        with gzip.open(predictions, "wt") as stream:
            stream.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        stated = {**CONTEXT, "schema": "x", "cap": 9, "predictions_sha256": sha256_file(predictions)}
        write_json(manifest_path(predictions), stated if manifest is None else manifest)
        return predictions, records

    return write


def test_the_verdicts_are_complete_sorted_and_say_where_they_come_from(files, tmp_path):
    predictions, records = files(PREDICTIONS)
    out = tmp_path / "scores" / "seed3.parquet"
    rescore(predictions, records, "math_strict", out)
    metadata, table = read_scores(out)
    assert table.to_pylist() == [
        {"problem_id": "sums-0", "seed": 3, "extracted": None, "correct": False, "capped": True, "tokens": 9},
        {"problem_id": "sums-1", "seed": 3, "extracted": "5", "correct": False, "capped": False, "tokens": 4},
        {"problem_id": "sums-2", "seed": 3, "extracted": "3", "correct": True, "capped": False, "tokens": 5},
    ]
    assert metadata == {
        "schema": "promptdp/scores/1",
        **CONTEXT,
        "scorer": "math_strict",
        "scorer_digest": digest("math_strict"),
        "predictions_sha256": sha256_file(predictions),
        "manifest": {**CONTEXT, "schema": "x", "cap": 9, "predictions_sha256": sha256_file(predictions)},
    }


def test_the_same_predictions_give_the_same_bytes(files, tmp_path):
    first, second = tmp_path / "a.parquet", tmp_path / "b.parquet"
    for out in (first, second):
        rescore(*files(PREDICTIONS), "math_robust", out)
    assert first.read_bytes() == second.read_bytes()


def test_a_response_outside_unicode_text_is_scored_and_stored(files, tmp_path):
    predictions, records = files([{**PREDICTIONS[0], "response": "\\boxed{\ud800}"}, *PREDICTIONS[1:]])
    rescore(predictions, records, "math_strict", tmp_path / "out.parquet")
    assert read_scores(tmp_path / "out.parquet")[1].column("extracted").to_pylist()[2] == "?"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (PREDICTIONS[:2], "1 problems are missing, the first is sums-1"),
        ([*PREDICTIONS, PREDICTIONS[0]], "gz:4: sums-2 appears twice"),
        (
            [*PREDICTIONS, {**PREDICTIONS[0], "problem_id": "other"}],
            "gz:4: other is not in the evaluation set",
        ),
        ([PREDICTIONS[0], "{"], "gz:2: not valid JSON"),
        ([PREDICTIONS[0], "[]"], "gz:2: problem_id is missing"),
        ([{**PREDICTIONS[0], "capped": 0}], "gz:1: capped is missing or is no bool"),
        ([{**PREDICTIONS[0], "tokens": True}], "gz:1: tokens is missing or is no int"),
    ],
)
def test_bad_predictions_are_an_error_that_names_file_and_line(files, tmp_path, lines, message):
    predictions, records = files(lines)
    with pytest.raises(InputError, match=message) as caught:
        rescore(predictions, records, "math_strict", tmp_path / "out.parquet")
    assert str(predictions) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out.parquet").exists()


def test_predictions_other_than_the_manifest_names_are_refused(files, tmp_path):
    predictions, records = files(PREDICTIONS, manifest={"predictions_sha256": "0" * 64})
    with pytest.raises(InputError, match="not the file its manifest names"):
        rescore(predictions, records, "math_strict", tmp_path / "out.parquet")


def test_damaged_gzip_is_bad_input(files, tmp_path):
    predictions, records = files(PREDICTIONS)
    predictions.write_bytes(predictions.read_bytes()[:-12])
    write_json(manifest_path(predictions), {**CONTEXT, "predictions_sha256": sha256_file(predictions)})
    with pytest.raises(InputError, match="cannot be read"):
        rescore(predictions, records, "math_strict", tmp_path / "out.parquet")


def test_a_parquet_file_of_another_kind_is_no_file_of_scores(tmp_path):
    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(InputError, match="no file of scores"):
        read_scores(path)
    path.write_bytes(b"PAR1")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_scores(path)


def test_cases_are_scored_line_by_line_in_their_order(tmp_path):
    source, out = tmp_path / "cases.jsonl", tmp_path / "out.jsonl"
    cases = [
        {"id": "b", "gold": "7", "response": "The answer is 7."},
        {"id": "a", "gold": "7", "response": "The answer is 7.", "capped": True},
        {"id": "b", "gold": "x", "response": "\ud800"},
    ]
    source.write_text("".join(json.dumps(case) + "\n" for case in cases))
    score_lines("math_robust", source, out)
    assert [json.loads(line) for line in out.read_text().splitlines()] == [
        {"id": "b", "extracted": "7", "correct": True, "reason": "equal"},
        {"id": "a", "extracted": None, "correct": False, "reason": "stopped by the token cap"},
        {"id": "b", "extracted": None, "correct": False, "reason": "no answer"},
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "a", "gold": "7"}', "cases.jsonl:1: response is missing"),
        ('{"id": "a", "gold": 7, "response": ""}', "cases.jsonl:1: gold is missing or is no str"),
        ('{"id": "a", "gold": "7", "response": "", "capped": "no"}', "cases.jsonl:1: capped is no bool"),
        ("nonsense", "cases.jsonl:1: not valid JSON"),
        ("", "cases.jsonl:1: not valid JSON"),
    ],
)
def test_a_malformed_case_is_named_by_its_line(tmp_path, line, message):
    (tmp_path / "cases.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match=message):
        score_lines("gsm8k", tmp_path / "cases.jsonl", tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_missing_cases_are_bad_input(tmp_path):
    with pytest.raises(InputError, match=r"none\.jsonl:1: cannot be read"):
        score_lines("gsm8k", tmp_path / "none.jsonl", tmp_path / "out.jsonl")
