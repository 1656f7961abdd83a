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
        "records_sha256": sha256_file(records),
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
        ([{**PREDICTIONS[0], "tokens": 2**63}], "gz:1: tokens is out of range"),
        ([{**PREDICTIONS[0], "tokens": -1}], "gz:1: tokens is out of range"),
        ([PREDICTIONS[0], "[" * 100_000], "gz:2: not valid JSON"),
        (['{"tokens": ' + "7" * 6000 + "}"], "gz:1: not valid JSON"),
        (['{"capped": true, "capped": false}'], "gz:1: not valid JSON"),
        ([{**PREDICTIONS[0], "problem_id": "a\nb"}], r'gz:1: "a\\nb" is not in the evaluation set'),
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


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ([], "is no JSON object"),
        (None, "is no JSON object"),
        ({"seed": "3"}, "key 'seed' is missing or is no int"),
        ({"seed": None}, "key 'seed' is missing or is no int"),
        ({"seed": True}, "key 'seed' is missing or is no int"),
        ({"seed": 3.0}, "key 'seed' is missing or is no int"),
        ({"seed": 2**63}, "seed is out of range"),
        ({"seed": -1}, "seed is out of range"),
        ({"study": ["tiny"]}, "key 'study' is missing or is no str"),
        ({"arm": None}, "key 'arm' is missing or is no str"),
    ],
)
def test_a_manifest_that_is_none_is_named(files, tmp_path, manifest, message):
    predictions, records = files(PREDICTIONS)
    named = {**CONTEXT, "predictions_sha256": sha256_file(predictions)}
    content = {**named, **manifest} if isinstance(manifest, dict) else manifest
    manifest_path(predictions).write_text(json.dumps(content))
    with pytest.raises(InputError, match=rf"seed3\.manifest\.json: {message}"):
        rescore(predictions, records, "math_strict", tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def cut(content):
    return content[:-12]


def bent(content):
    return content[:40] + bytes(byte ^ 0xFF for byte in content[40:60]) + content[60:]


@pytest.mark.parametrize("damage", [cut, bent, lambda content: b"nonsense", lambda content: content[:5]])
def test_damaged_gzip_is_bad_input(files, tmp_path, damage):
    predictions, records = files(PREDICTIONS)
    predictions.write_bytes(damage(predictions.read_bytes()))
    write_json(manifest_path(predictions), {**CONTEXT, "predictions_sha256": sha256_file(predictions)})
    with pytest.raises(InputError, match=r"seed3\.jsonl\.gz:\d+: cannot be read"):
        rescore(predictions, records, "math_strict", tmp_path / "out.parquet")


def test_a_parquet_file_of_another_kind_is_no_file_of_scores(tmp_path):
    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(InputError, match="no file of scores"):
        read_scores(path)
    for metadata in (b"[]", b"null", b"7", b"{}"):
        pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({b"promptdp": metadata}), path)
        with pytest.raises(InputError, match="no file of scores"):
            read_scores(path)
    pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({b"promptdp": b"\xff"}), path)
    with pytest.raises(InputError, match="not valid JSON"):
        read_scores(path)
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_scores(tmp_path)
    path.write_bytes(b"PAR1")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_scores(path)


def test_cases_are_scored_line_by_line_in_their_order(tmp_path):
    source, out = tmp_path / "cases.jsonl", tmp_path / "out.jsonl"
    cases = [
        {"id": "b", "gold": "7", "response": "The answer is 7."},
        {"id": "a", "gold": "7", "response": "The answer is 7.", "capped": True},
        {"id": "b", "gold": "x", "response": "\ud800"},
        {"id": 10**30, "gold": "x", "response": "", "note": ["anything"]},
    ]
    source.write_text("".join(json.dumps(case) + "\n" for case in cases))
    score_lines("math_robust", source, out)
    assert [json.loads(line) for line in out.read_text().splitlines()] == [
        {"id": "b", "extracted": "7", "correct": True, "reason": "equal"},
        {"id": "a", "extracted": None, "correct": False, "reason": "stopped by the token cap"},
        {"id": "b", "extracted": None, "correct": False, "reason": "no answer"},
        {"id": 10**30, "extracted": None, "correct": False, "reason": "no answer"},
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "a", "gold": "7"}', "cases.jsonl:1: response is missing"),
        ('{"id": "a", "gold": 7, "response": ""}', "cases.jsonl:1: gold is missing or is no str"),
        ('{"id": true, "gold": "7", "response": ""}', "cases.jsonl:1: id is missing or is no str or int"),
        ('{"id": null, "gold": "7", "response": ""}', "cases.jsonl:1: id is missing or is no str or int"),
        ('{"id": "a", "gold": "7", "response": ["7"]}', "cases.jsonl:1: response is missing or is no str"),
        ('{"id": "a", "id": "b", "gold": "7", "response": ""}', "cases.jsonl:1: not valid JSON"),
        ('{"id": %s, "gold": "7", "response": ""}' % ("7" * 6000), "cases.jsonl:1: not valid JSON"),
        ('{"id": "a", "gold": "7", "response": "", "x": NaN}', "cases.jsonl:1: not valid JSON"),
        ("[" * 100_000, "cases.jsonl:1: not valid JSON"),
        ("null", "cases.jsonl:1: id is missing"),
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


def test_an_unknown_rule_is_refused_even_where_there_is_no_case(tmp_path):
    (tmp_path / "cases.jsonl").touch()
    with pytest.raises(InputError, match="vibes: no such scorer"):
        score_lines("vibes", tmp_path / "cases.jsonl", tmp_path / "out.jsonl")
    score_lines("gsm8k", tmp_path / "cases.jsonl", tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == ""
