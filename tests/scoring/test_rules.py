"""The scorers on given cases, on our own table, and on real answers graded by their source."""

import gzip
import json
from pathlib import Path

import pytest

from promptdp.errors import InputError
from promptdp.scoring import RULES, score
from promptdp.scoring.verdict import Reason

from .cases import CASES

SHARED = Path(__file__).parents[3] / "shared"
GIVEN = {
    "math": {"strict": "math_strict", "robust": "math_robust"},
    "gsm8k": {"strict": "gsm8k"},
    "csqa": {"strict": "csqa_strict", "robust": "csqa_final"},
    "svamp": {"strict": "svamp"},
}


def lines(path: Path) -> list[dict]:
    if not path.is_file():
        pytest.skip(f"{path.name} is not here")
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def test_the_table_covers_its_classes_without_repetition():
    assert len(CASES) >= 100
    assert len({case[0] for case in CASES}) >= 12
    assert len({case[1:4] for case in CASES}) == len(CASES)


@pytest.mark.parametrize(("kind", "rule", "gold", "response", "right"), CASES)
def test_a_response_is_credited_exactly_when_it_states_the_answer(kind, rule, gold, response, right):
    name, _, capped = rule.partition(" ")
    verdict = score(name, response, gold, bool(capped))
    assert verdict.correct is right, verdict
    assert verdict.reason in set(Reason)


@pytest.mark.parametrize("benchmark", GIVEN)
def test_the_given_cases_have_their_verdicts(benchmark):
    wrong = []
    for case in lines(SHARED / "cases" / f"scorer_{benchmark}.jsonl"):
        for key, rule in GIVEN[benchmark].items():
            verdict = score(rule, case["response"], case["gold"], case.get("capped", False))
            expected = case[key], case.get("extract", verdict.extracted)
            if case[key] is not None and (verdict.correct, verdict.extracted) != expected:
                wrong.append((rule, case["id"], verdict))
    assert not wrong


def test_gsm8k_agrees_with_the_source_on_its_own_answers():
    golds = {problem["id"]: problem["answer"] for problem in lines(SHARED / "data/gsm8k_test.jsonl")}
    answers = lines(SHARED / "data/predictions_gsm8k_openai.jsonl.gz")
    graded = [
        (score("gsm8k", a["response"], golds[a["problem_id"]]).correct, a["source_correct"]) for a in answers
    ]
    assert len(graded) == 5276
    assert all(ours == theirs for ours, theirs in graded)


def test_math_agrees_with_the_source_on_real_answers():
    golds = {problem["id"]: problem["answer"] for problem in lines(SHARED / "data/math_test.jsonl.gz")}
    answers = lines(SHARED / "data/predictions_math_qwen25_1p5b_instruct_20x17.jsonl.gz")
    graded = [
        (score("math_strict", a["response"], golds[a["problem_id"]]).correct, a["source_correct"])
        for a in answers
        if "source_correct" in a
    ]
    assert graded
    assert all(ours == theirs for ours, theirs in graded)


def test_every_reference_solution_is_credited_with_its_own_answer():
    problems = lines(SHARED / "data/math_test.jsonl.gz")
    assert all(score("math_strict", problem["solution"], problem["answer"]).correct for problem in problems)


def test_an_unknown_rule_is_bad_input_that_lists_the_rules():
    with pytest.raises(InputError, match="gsm8k"):
        score("math", "1", "1")


def test_the_rules_are_the_six_of_the_paper():
    assert set(RULES) == {"math_strict", "math_robust", "gsm8k", "csqa_strict", "csqa_final", "svamp"}
