import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptdp.errors import InputError
from promptdp.records.record import Record, read_records, write_records

SECRET = "zebra-4711"
GOOD = {"id": "a", "question": "q", "answer": "1"}

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text.strip())
records = st.builds(
    Record,
    id=texts,
    question=texts,
    answer=texts,
    solution=st.none() | texts,
    choices=st.none() | st.lists(texts, min_size=1, max_size=5).map(tuple),
    contributor=st.none() | texts,
)


@given(st.lists(records, unique_by=lambda record: record.id, max_size=5))
def test_records_are_read_as_they_were_written(tmp_path_factory, written):
    path = tmp_path_factory.mktemp("records") / "records.jsonl"
    write_records(path, written)
    assert read_records(path) == written


def test_a_key_that_is_none_is_left_out_of_the_file(tmp_path):
    write_records(tmp_path / "r.jsonl", [Record("a", "q", "1")])
    assert json.loads((tmp_path / "r.jsonl").read_text()) == GOOD


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (f"{{'{SECRET}'", "not a JSON object"),
        (f'["{SECRET}"]', "not a JSON object"),
        ("", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ({**GOOD, SECRET: 1}, "a key is none of id, question, answer"),
        ({"id": "b", "question": SECRET}, "key 'answer'"),
        ({**GOOD, "question": ["q", SECRET]}, "key 'question'"),
        ({**GOOD, "answer": 4711}, "key 'answer'"),
        ({**GOOD, "question": " \n"}, "key 'question'"),
        ({**GOOD, "question": f"\ud800 {SECRET}"}, "key 'question'"),
        ({**GOOD, "solution": {"text": SECRET}}, "key 'solution'"),
        ({**GOOD, "contributor": 4711}, "key 'contributor'"),
        ({**GOOD, "choices": SECRET}, "key 'choices'"),
        ({**GOOD, "choices": [SECRET, 3]}, "key 'choices'"),
        ({**GOOD, "choices": []}, "key 'choices'"),
        ({**GOOD, "question": SECRET}, "key 'id' repeats line 1"),
    ],
)
def test_a_bad_line_is_named_by_file_line_and_key_and_never_quoted(tmp_path, line, named):
    path = tmp_path / "records.jsonl"
    text = line if isinstance(line, str) else json.dumps(line)
    path.write_text(f"{json.dumps(GOOD)}\n{text}\n")
    with pytest.raises(InputError) as caught:
        read_records(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:2: {named}")
    assert "\n" not in message
    assert SECRET not in message and "4711" not in message
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_bytes_that_are_not_utf8_are_named_by_their_line(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b'\n{"id": "\xff"}\n')
    with pytest.raises(InputError, match=":2: not a JSON object in UTF-8"):
        read_records(path)


def test_a_missing_file_is_bad_input(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_records(tmp_path / "none.jsonl")
