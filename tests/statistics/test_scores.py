"""Files of scores: the forms they may have, and the faults that are refused by name."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from promptdp.errors import InputError
from promptdp.statistics.scores import (
    METADATA_KEY,
    one_arm,
    read_scores_file,
    read_scores_files,
    read_two_arms,
)


def write(path, text):
    path.write_text(text)
    return path


def parquet(path, columns, metadata=None):
    table = pa.table(columns)
    if metadata is not None:
        table = table.replace_schema_metadata({METADATA_KEY: json.dumps(metadata).encode()})
    pq.write_table(table, path)
    return path


SEEDS = {
    "of the column": ("a.csv", "problem_id,correct,seed\np,1,3\np,0,4\n", {3: {"p": 1}, 4: {"p": 0}}),
    "of the column before the name": ("seed7.csv", "problem_id,correct,seed\np,1,3\n", {3: {"p": 1}}),
    "of the name": ("control-seed12.csv", "problem_id,correct\np,1\n", {12: {"p": 1}}),
    "of the position": ("control.csv", "problem_id,correct\np,1\n", {2: {"p": 1}}),
}


@pytest.mark.parametrize(("name", "text", "expected"), SEEDS.values(), ids=SEEDS.keys())
def test_the_seed_is_that(name, text, expected, tmp_path):
    assert read_scores_file(write(tmp_path / name, text), position=2).seeds == expected


def test_columns_stand_in_any_order_beside_others_and_truth_has_its_usual_spellings(tmp_path):
    text = "\ufefftokens,correct,problem_id\n5,true,a\n6,False,b\n7,1.0,c\n"
    assert read_scores_file(write(tmp_path / "x.csv", text)).seeds == {1: {"a": 1, "b": 0, "c": 1}}


@pytest.mark.parametrize("truth", [[True, False], [1, 0], [1.0, 0.0]], ids=["bool", "int", "float"])
def test_parquet_and_csv_say_the_same(truth, tmp_path):
    columns = {"problem_id": ["a", "b"], "correct": truth, "seed": [4, 4], "tokens": [1, 2]}
    file = read_scores_file(parquet(tmp_path / "x.parquet", columns, {"arm": "gold"}))
    assert file.seeds == {4: {"a": 1, "b": 0}}
    assert file.metadata == {"arm": "gold"}


def test_parquet_without_metadata_or_seed_is_read_too(tmp_path):
    file = read_scores_file(parquet(tmp_path / "seed2.parquet", {"problem_id": [7], "correct": [1]}))
    assert file.seeds == {2: {"7": 1}}
    assert file.metadata is None


FAULTS = {
    "no column": ("x.csv", "id,correct\na,1\n", "x.csv: has no column problem_id"),
    "no row": ("x.csv", "problem_id,correct\n", "holds no scores"),
    "empty file": ("x.csv", "", "has no column problem_id"),
    "a score that is not binary": ("x.csv", "problem_id,correct\na,1\nb,2\n", r"x.csv:3: .* problem b"),
    "no score": ("x.csv", "problem_id,correct\na,\n", "x.csv:2: .* problem a"),
    "no id": ("x.csv", "problem_id,correct\n,1\n", "x.csv:2: a row has no problem_id"),
    "a short row": ("x.csv", "problem_id,correct,seed\na,1\n", "x.csv:2: .* fields"),
    "a long row": ("x.csv", "problem_id,correct\na,1,1,1\n", "x.csv:2: .* fields"),
    "a seed that is no number": ("x.csv", "problem_id,correct,seed\na,1,one\n", "x.csv:2: seed is not"),
    "a negative seed": ("x.csv", "problem_id,correct,seed\na,1,-1\n", "x.csv:2: seed is not"),
    "a problem twice": (
        "x.csv",
        "problem_id,correct\n" + "".join(f"{p},1\n{p},1\n" for p in "abcde"),
        "twice in one seed: a, b, c and 2 more",
    ),
    "a column twice": (
        "x.csv",
        "problem_id,correct,correct\na,1,0\n",
        "x.csv: has more than one column correct",
    ),
    "another column twice": ("x.csv", "t,problem_id,t,correct\n1,a,1,0\n", "more than one column t;"),
    "a column twice and no row": ("x.csv", "problem_id,problem_id,correct\n", "one column problem_id"),
    "a newline in the id of a fault": (
        "x.csv",
        'problem_id,correct\n"a\nb",2\n',
        r'x.csv:3: .* problem "a\\nb"',
    ),
    "a problem twice with a quote in its id": (
        "x.csv",
        'problem_id,correct\n"a""\n",1\n"a""\n",1\n',
        r'one seed: "a\\"\\n";',
    ),
    "a fractional seed": ("x.csv", "problem_id,correct,seed\na,1,1.5\n", "x.csv:2: seed is not"),
    "a seed of many digits": (
        "x.csv",
        f"problem_id,correct,seed\na,1,{'9' * 5000}\n",
        "x.csv:2: seed is not",
    ),
    "no seed in a column of seeds": ("x.csv", "problem_id,correct,seed\na,1,\n", "x.csv:2: seed is not"),
    "a quote that never ends": ("x.csv", 'problem_id,correct\n"a,1\nb,1\n', "fields"),
    "lines of promptdp score": (
        "x.jsonl",
        '{"correct":true,"extracted":"\\"","id":"a","reason":"boxed"}\n',
        "x.jsonl: holds JSON lines, as promptdp score writes them; give CSV .* problem_id and correct",
    ),
    "lines of JSON in a file of any name": ("x.csv", '\ufeff{"id": "a"}\n', "x.csv: holds JSON lines"),
    "a Parquet file that is none": ("x.parquet", "problem_id,correct\n", "x.parquet: is not a Parquet"),
}


@pytest.mark.parametrize(("name", "text", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_named_with_its_place(name, text, message, tmp_path):
    with pytest.raises(InputError, match=message) as caught:
        read_scores_file(write(tmp_path / name, text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"problem_id": ["a", "b"], "correct": [1, None]}, "problem b"),
        ({"problem_id": ["a", None], "correct": [1, 1]}, "no problem_id"),
        ({"problem_id": ["a", "b"], "correct": [1, 1], "seed": [1, None]}, "no seed"),
        ({"problem_id": ["a"], "score": [1]}, "no column correct"),
    ],
)
def test_a_gap_in_parquet_is_never_dropped(columns, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read_scores_file(parquet(tmp_path / "x.parquet", columns))


def test_a_quote_a_comma_and_a_newline_belong_to_an_id(tmp_path):
    text = 'problem_id,correct\n"a,""b""\nc",1\n'
    assert read_scores_file(write(tmp_path / "x.csv", text)).seeds == {1: {'a,"b"\nc': 1}}


@pytest.mark.parametrize("metadata", [b"[]", b"null", b'{"manifest": []}', b"{", b"\xff", b"[" * 100_000])
def test_parquet_metadata_that_are_no_object_are_refused(metadata, tmp_path):
    table = pa.table({"problem_id": ["a"], "correct": [1]}).replace_schema_metadata({METADATA_KEY: metadata})
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x\.parquet:.*JSON"):
        read_scores_file(tmp_path / "x.parquet")


def test_a_parquet_column_twice_is_refused(tmp_path):
    table = pa.Table.from_arrays(
        [pa.array(["a"]), pa.array([1]), pa.array([0])], ["problem_id", *["correct"] * 2]
    )
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(InputError, match="more than one column correct"):
        read_scores_file(tmp_path / "x.parquet")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_a_folder_is_no_file_of_scores(name, tmp_path):
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=rf"{name}: cannot be read \(Is a directory\)"):
        read_scores_file(tmp_path / name)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_an_absent_file_is_an_input_error(name, tmp_path):
    with pytest.raises(InputError, match=rf"{name}: cannot be read \(No such file or directory\)"):
        read_scores_file(tmp_path / name)


def test_a_seed_in_two_files_is_refused_by_name(tmp_path):
    paths = [write(tmp_path / f"{side}-seed1.csv", "problem_id,correct\na,1\n") for side in "xy"]
    with pytest.raises(InputError, match=r"y-seed1.csv: seed 1 stands in .*x-seed1.csv too"):
        one_arm(read_scores_files(paths))


def test_files_without_seed_are_numbered_by_their_place(tmp_path):
    paths = [write(tmp_path / f"{side}.csv", "problem_id,correct\na,1\n") for side in "xy"]
    assert sorted(one_arm(read_scores_files(paths))) == [1, 2]


MANIFEST = {
    "engine": "local",
    "versions": {"torch": "2.13"},
    "dtype": "float32",
    "device": "cpu",
    "prompt_sha256": "aa",
    "cap": 48,
}
METADATA = {"evaluation_set": "worlds", "scorer": "gsm8k", "scorer_digest": "bb"}


def scored(path, manifest=MANIFEST, **metadata):
    columns = {"problem_id": ["a", "b"], "correct": [1, 0], "seed": [1, 1]}
    return [parquet(path, columns, METADATA | metadata | {"manifest": manifest})]


DIFFERENCES = {
    "engine": MANIFEST | {"engine": "vllm"},
    "versions": MANIFEST | {"versions": {"torch": "2.12"}},
    "dtype": MANIFEST | {"dtype": "bfloat16"},
    "device": MANIFEST | {"device": "H200"},
    "prompt_sha256": MANIFEST | {"prompt_sha256": "ab"},
    "cap": MANIFEST | {"cap": 47},
}


@pytest.mark.parametrize(("key", "manifest"), DIFFERENCES.items(), ids=DIFFERENCES.keys())
def test_arms_predicted_in_different_settings_are_not_compared(key, manifest, tmp_path):
    first, second = scored(tmp_path / "a.parquet"), scored(tmp_path / "b.parquet", manifest)
    with pytest.raises(InputError, match=rf"b.parquet: {key} is .*a.parquet; predict and score both"):
        read_two_arms(first, second)


@pytest.mark.parametrize("key", METADATA)
def test_arms_scored_differently_are_not_compared(key, tmp_path):
    first, second = scored(tmp_path / "a.parquet"), scored(tmp_path / "b.parquet", **{key: "other"})
    with pytest.raises(InputError, match=f"b.parquet: {key} is other"):
        read_two_arms(first, second)


def test_arms_may_differ_in_what_makes_them_arms(tmp_path):
    first = scored(tmp_path / "a.parquet", MANIFEST | {"adapter_sha256": "cc"}, arm="gold")
    second = scored(tmp_path / "b.parquet", MANIFEST | {"adapter_sha256": None}, arm="base")
    a, b = read_two_arms(first, second)
    assert a == b == {1: {"a": 1, "b": 0}}
