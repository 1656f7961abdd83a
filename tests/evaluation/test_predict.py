"""Predictions: one greedy completion per problem, in one deterministic file that says how it was made."""

import gzip
import json

import pytest

from promptdp.errors import InputError
from promptdp.evaluation.predict import predict
from promptdp.files import sha256_file
from promptdp.policy.local import LocalEngine
from promptdp.policy.lora import attach
from promptdp.records.record import Record, write_records
from promptdp.study import Study
from tests.tiny import LORA, moved

PROBLEMS = [Record(id=f"p{i}", question="x" * (1 + i % 3) + str(i), answer="1") for i in range(9)]
STUDY = Study.model_validate(
    {
        "name": "small",
        "title": "Evaluation alone",
        "records": "public",
        "base": {"checkpoint": "tiny"},
        "benchmarks": {
            "sums": {"source": "arithmetic", "prompt": "Do {question}", "reward": "math_strict", "slots": 9}
            | {"expected": 1, "rounds": 1, "cap": 4, "epsilon": 8}
        },
        "evaluation_sets": {
            "sums": {"benchmark": "sums", "problems": 9, "cap": 7, "scorers": {"strict": "math_strict"}}
        },
        "arms": {"base": {"label": "Base", "objective": "none", "seeds": [0]}},
    }
)


@pytest.fixture
def answer(tmp_path, tiny_folder):
    def run(adapter=None, problems=PROBLEMS, name="seed1"):
        records, out = tmp_path / "eval.jsonl", tmp_path / f"{name}.jsonl.gz"
        write_records(records, problems)
        manifest = tmp_path / f"{name}.manifest.json"
        predict(STUDY, "sums", "dp", 1, records, tiny_folder, adapter, out, manifest)
        rows = [json.loads(line) for line in gzip.decompress(out.read_bytes()).splitlines()]
        return out, rows, json.loads(manifest.read_text())

    return run


def test_every_problem_gets_the_greedy_completion_it_gets_alone(answer, tiny):
    _, rows, _ = answer()
    engine = LocalEngine(tiny, "strict")
    engine.serve(None)
    expected = []
    for problem in PROBLEMS:
        ((ids,),) = engine.generate([tiny.prompt_ids(f"Do {problem.question}")], 1, 0, 7)
        expected.append(
            {
                "problem_id": problem.id,
                "response": tiny.text(ids),
                "tokens": len(ids),
                "capped": ids[-1] not in tiny.stop_ids,
            }
        )
    assert rows == expected


def test_an_adapter_changes_the_answers(answer, tiny, tmp_path):
    moved(attach(tiny, 1, **LORA), scale=1.0).save(tmp_path / "adapter")
    _, plain, without = answer()
    _, trained, with_it = answer(tmp_path / "adapter", name="trained")
    assert plain != trained
    assert without["adapter_sha256"] is None
    assert with_it["adapter_sha256"] == sha256_file(tmp_path / "adapter/adapter_model.safetensors")
    assert with_it["prompt_sha256"] == without["prompt_sha256"]


def test_equal_predictions_are_equal_bytes(answer):
    first, _, _ = answer(name="seed1")
    second, _, _ = answer(name="seed2")
    assert first.read_bytes() == second.read_bytes()


def test_the_manifest_says_what_was_predicted_with_what(answer, tiny):
    out, _, manifest = answer()
    assert manifest["predictions_sha256"] == sha256_file(out)
    assert manifest["base_sha256"] == tiny.sha256
    stated = {key: manifest[key] for key in ("study", "evaluation_set", "arm", "seed", "cap", "problems")}
    assert stated == {
        "study": "small",
        "evaluation_set": "sums",
        "arm": "dp",
        "seed": 1,
        "cap": 7,
        "problems": 9,
    }
    assert (manifest["decoding"], manifest["dtype"], manifest["device"]) == ("greedy", "float32", "cpu")


def test_a_problem_that_does_not_fit_is_an_error_not_a_blank(answer):
    with pytest.raises(InputError, match=r"eval\.jsonl:2: the problem takes .* lower the cap"):
        answer(problems=[PROBLEMS[0], Record("long", "y" * 95, "1")])
