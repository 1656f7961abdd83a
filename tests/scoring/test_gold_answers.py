"""The reference answers of MATH against themselves, against themselves written otherwise, and one another."""

import gzip
import json
import re
from random import Random

import pytest

from promptdp.scoring import score
from promptdp.scoring.boxes import BOX, last_box
from promptdp.scoring.equality import equal
from promptdp.scoring.limits import Budget
from promptdp.scoring.verdict import Reason

EMPTY = {"train/number_theory/7115.json", "train/number_theory/7117.json"}
"""Problems whose answer is an empty box: no response can be credited on them."""
SEVERAL = {
    "test/algebra/1197.json": [False],
    "test/algebra/1730.json": [False],
    "test/algebra/1861.json": [True],
    "test/algebra/1878.json": [False],
    "test/geometry/1125.json": [True],
    "test/geometry/66.json": [True],
    "test/geometry/787.json": [True],
    "test/intermediate_algebra/1020.json": [False, False],
    "test/intermediate_algebra/1114.json": [True],
    "test/intermediate_algebra/1855.json": [False],
    "test/intermediate_algebra/2089.json": [False],
    "test/intermediate_algebra/225.json": [False],
    "test/intermediate_algebra/25.json": [False],
    "test/intermediate_algebra/702.json": [False],
    "test/intermediate_algebra/747.json": [False],
    "test/prealgebra/1088.json": [True],
    "test/prealgebra/1407.json": [False],
    "test/prealgebra/177.json": [False, False],
    "test/prealgebra/224.json": [True],
    "test/precalculus/1227.json": [False],
    "test/precalculus/1233.json": [False, False],
    "test/precalculus/679.json": [False],
}
"""Endpoint problems whose solutions box several strings. The last is the answer; does another equal it?"""
NOT_ITS_ANSWER = ("test/prealgebra/177.json", "12", "6")
"""A problem about boxes: what its solution boxes last, which is its reference answer, and what is right."""
FRACTIONAL_NUMERAL = re.compile(r"[0-9]+\.[0-9]+_\{?[0-9]+\}?")
"""Numerals with a point in another base, which are compared digit by digit and never parsed."""
OVER_THE_CAPS = {r"\frac{1}{2004!}"}
"""Reference answers with a number over the caps: equal only to what is written the same."""
REWRITTEN = {
    "spaces around it": lambda answer: f"  {answer} ",
    "spaces around signs": lambda answer: (
        re.sub(r"([-+=])", r" \1 ", answer) if "text" not in answer and "mbox" not in answer else answer
    ),
    "display fractions": lambda answer: re.sub(r"\\[dt]?frac", r"\\dfrac", answer),
    "text fractions": lambda answer: re.sub(r"\\[dt]?frac", r"\\tfrac", answer),
    "growing brackets": lambda answer: (
        answer.replace("(", r"\left(").replace(")", r"\right)") if r"\left" not in answer else answer
    ),
    "plain brackets": lambda answer: answer.replace(r"\left", "").replace(r"\right", ""),
    "a period": lambda answer: f"{answer}.",
    "dollar signs": lambda answer: f"${answer}$",
    "math brackets": lambda answer: rf"\({answer}\)",
}


def rows(path):
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


@pytest.fixture(scope="module")
def parts(request):
    root = request.config.rootpath.parent / "shared" / "data"
    if not root.is_dir():
        pytest.skip("the reference answers are not beside this checkout")
    return {part: rows(root / f"math_{part}.jsonl.gz") for part in ("test", "train")}


@pytest.fixture(scope="module")
def problems(parts):
    return [*parts["test"], *parts["train"]]


@pytest.fixture(scope="module")
def answers(problems):
    return [problem["answer"] for problem in problems if problem["id"] not in EMPTY]


@pytest.fixture(scope="module")
def distinct(answers):
    return list(dict.fromkeys(answers))


def boxed_strings(solution):
    """The contents of all boxes, in order, the same string once."""
    starts = [match.start() for match in BOX.finditer(solution)]
    ends = [*starts[1:], len(solution)]
    contents = [
        last_box(solution[start:end], Budget()).content for start, end in zip(starts, ends, strict=True)
    ]
    return list(dict.fromkeys(contents))


def test_every_answer_equals_itself_and_meets_no_cap(problems):
    assert len(problems) == 12_500
    assert {str(equal(problem["answer"], problem["answer"]).reason) for problem in problems} == {"equal"}


@pytest.mark.parametrize("name", REWRITTEN)
def test_every_answer_equals_itself_written_otherwise(name, distinct):
    wrong = []
    for answer in distinct:
        other = REWRITTEN[name](answer)
        judgements = (
            equal(other, answer),
            equal(answer, other),
            score("math_strict", rf"\boxed{{{other}}}", answer),
        )
        if not all(judgement.correct for judgement in judgements):
            wrong.append((answer, other, judgements))
    assert not wrong
    assert sum(REWRITTEN[name](answer) != answer for answer in distinct) > 100


def test_every_answer_equals_itself_when_it_is_parsed_and_compared(distinct):
    # Braces around an answer change its tokens, so that nothing is decided by the strings.
    unlike = [answer for answer in distinct if not equal(f"{{{answer.rstrip('.')}}}", answer).correct]
    assert not [answer for answer in unlike if not FRACTIONAL_NUMERAL.fullmatch(answer)]


@pytest.mark.parametrize("part", ["test", "train"])
def test_every_solution_is_credited_but_those_whose_box_is_empty(part, parts):
    verdicts = {
        problem["id"]: score("math_strict", problem["solution"], problem["answer"]) for problem in parts[part]
    }
    assert {name for name, verdict in verdicts.items() if not verdict.correct} == {
        name for name in EMPTY if name.startswith(part)
    }
    for name in EMPTY & verdicts.keys():
        assert verdicts[name][:3] == (None, False, Reason.EMPTY_BOX)


def test_nothing_is_credited_where_the_reference_is_an_empty_box(problems):
    for problem in problems:
        if problem["id"] in EMPTY:
            assert problem["answer"] == ""
            for response in (r"\boxed{}", r"\boxed{0}", r"\boxed{\text{none}}", "The answer is 0.", ""):
                assert not score("math_robust", response, problem["answer"]).correct


def test_of_several_boxes_the_last_is_the_answer(parts):
    endpoint = [p for p in parts["test"] if not p["in_math500"] and not p["dup_of_train"]]
    assert len(endpoint) == 4499
    several = {p["id"]: (p, boxed_strings(p["solution"])) for p in endpoint}
    several = {name: (p, boxes) for name, (p, boxes) in several.items() if len(boxes) > 1}
    found = {
        name: [
            score("math_strict", rf"\boxed{{{box}}}", p["answer"]).correct
            for box in boxes
            if box != p["answer"]
        ]
        for name, (p, boxes) in several.items()
    }
    assert found == SEVERAL
    assert all(
        score("math_strict", p["solution"], p["answer"]).extracted == p["answer"].strip()
        for p, _ in several.values()
    )


def test_the_problem_about_boxes_keeps_the_answer_that_its_solution_boxes_last(parts):
    name, reference, right = NOT_ITS_ANSWER
    (problem,) = [problem for problem in parts["test"] if problem["id"] == name]
    assert problem["answer"] == reference
    assert score("math_strict", problem["solution"], reference).correct
    assert score("math_strict", rf"\boxed{{{reference}}}", reference).correct
    assert not score("math_strict", rf"\boxed{{{right}}}", reference).correct


def plainly(answer):
    """An answer without layout, units and marks that the rules drop, fractions in one form, numbers plain."""
    text = re.sub(r"\\(?:text|mbox|mathrm)\s*\{[^{}]*\}(?:\^[23])?", "", answer)
    text = re.sub(r"\\left|\\right|\\[,!;: ]|\\?[$%]|\^\{?\\circ\}?|[~\s]|\.$|\{,\}", "", text)
    text = re.sub(r"\\[dt]?frac", r"\\frac", text)
    text = re.sub(
        r"\\frac\{?(\w)\}?(?:\{(\w+)\}|(\w))", lambda m: rf"\frac{{{m[1]}}}{{{m[2] or m[3]}}}", text
    )
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)


ALIKE = {frozenset(pair) for pair in (("5", "x=5"), ("2", "x = 2"), ("4", r"\mbox{four}"))}
"""Answers that are not alike and say one thing, read by hand."""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_answer_equals_that_of_another_problem_only_where_both_say_the_same(seed, answers):
    order = Random(seed).sample(range(len(answers)), len(answers))
    pairs = [(answers[i], answers[j]) for i, j in zip(order, order[1:] + order[:1], strict=True)]
    judged = [(ours, theirs, equal(ours, theirs)) for ours, theirs in pairs]
    assert not [
        (ours, theirs)
        for ours, theirs, judgement in judged
        if judgement.correct and plainly(ours) != plainly(theirs) and frozenset((ours, theirs)) not in ALIKE
    ]
    assert not [
        (ours, theirs)
        for ours, theirs, judgement in judged
        if judgement.reason is Reason.LIMIT and not {ours, theirs} & OVER_THE_CAPS
    ]
    assert sum(judgement.correct for *_, judgement in judged) > 50
