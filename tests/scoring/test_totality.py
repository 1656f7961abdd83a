"""Every rule gives a verdict on any text, the same one each time, within a fixed amount of work."""

import signal
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdp.scoring import RULES, score
from promptdp.scoring.equality import equal
from promptdp.scoring.limits import OPERATIONS, READING, RESPONSE_CHARACTERS
from promptdp.scoring.verdict import Reason
from promptdp.training.methods import verifier

FRAGMENTS = [
    *r"\frac \sqrt \boxed{ \fbox{ { } ( ) [ ] \{ \} ^ _ + - * / = < \le | ! % $ $$".split(),
    *r"\( \) \[ \] \\ & , ; : . '".split(),
    *r"\text{cm} \cup \pm \sin \log_ \begin{pmatrix} \end{pmatrix} \overline 0. 12".split(),
    *r"3,456 x e i \pi \infty".split(),
    *r"\left \right \binom \sum_ ^\circ \circ Answer: answer is therefore the".split(),
    *r"A B or not #### 1/2 10^".split(),
    *r"9^{9^{9}} \mathbb{R} \in \setminus ٣ ½ ∞ √".split(),
    "\ud800",
    r"\text{ and }",
]
WRAPPED = {
    "math_strict": r"\boxed{%s}",
    "math_robust": r"\boxed{%s}",
    "gsm8k": "#### %s",
    "svamp": "The answer is %s",
    "csqa_strict": "Answer: %s",
    "csqa_final": "the answer is %s",
}
POWERS = [
    "9^{9^{9^{9}}}",
    "9^9^9^9",
    "9**9**9**9",
    "{9}^{{9}^{{9}^{9}}}",
    "(((9^9)^9)^9)^9",
    "10^{9999999999999}",
    "9^{-9^{9^{9}}}",
    "0.5^{9^{9^9}}",
    "(x+1)^{9^{9}}",
    "(x+y+z)^{999999}",
    "e^{e^{e^{e^{9}}}}",
    "((9!)!)!",
    "9!^{9!^{9!}}",
    r"\sqrt[9]{9^{9^{9}}}",
    r"\frac{9^{9^{9^9}}}{9^{9^{9^9}}}",
    r"\log(9^{9^{9^9}})",
    "9^{9^{9^{9}}}-9^{9^{9^{9}}}",
    "1e999999999",
]
"""What makes other verifiers run until a clock stops them, if one does."""
TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(FRAGMENTS), max_size=60).map(" ".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join),
)
HOSTILE = {
    "parentheses": "(" * 1000 + ")" * 1000,
    "open braces": "{" * 1900,
    "roots": r"\sqrt" * 380 + "2",
    "fractions": r"\frac" * 380 + "12",
    "exponents": "2^" * 900 + "2",
    "negative exponents": "2^" + "-" * 1900 + "2",
    "factorials": "3" + "!" * 1900,
    "percentages": "3" + "%" * 1900,
    "primes": "x" + "'" * 1900,
    "indices": "x" + "_1" * 900,
    "bars": "|" * 1900,
    "degrees": "x" + r"^\circ" * 300,
    "unions": r"\cup".join(["[0,1]"] * 200),
    "chains": "=".join("x" * 900),
    "signs": r"\pm1" * 450,
    "tower": "9^{9^{9^{9^{9}}}}",
    "wide sum": "+".join(["x^{99}"] * 250),
    "wide product": r"(1+\sqrt{2})" * 150,
    "sines": r"\sin" * 390 + "1",
    "large angle": r"\sin(2^{13999})",
    "long list": ",".join(str(i) for i in range(500)),
    "list of roots": ",".join(rf"\sqrt{{{i}}}" for i in range(180)),
    "matrix": r"\begin{pmatrix}" + "1&" * 900 + r"\end{pmatrix}",
    "nested lists": r"\{" * 300 + "1" + r"\}" * 300,
    "binomials": r"\binom{13999}{6999}" * 50,
}
LONG = {
    "digits": "7" * 10**6,
    "spaces": " " * 10**6,
    "newlines": "\n" * 10**6,
    "dollars": "$" * 10**6,
    "backslashes": "\\" * 10**6,
    "boxes": r"\boxed{" * 150_000,
    "hashes": "#### " * 200_000,
    "answers": "The answer is " * 70_000,
    "labels": "Answer: (" * 100_000,
    "cues": "so 3 or " * 125_000,
    "commas": "1,234," * 160_000,
    "minus signs": "- " * 500_000,
    "annotations": "<<" * 500_000,
    "prose": "the area of it is 3 and " * 40_000,
}


@settings(max_examples=150, deadline=None)
@given(response=TEXTS, gold=TEXTS, capped=st.booleans())
def test_every_rule_gives_the_same_verdict_on_the_same_text(response, gold, capped):
    for rule in RULES:
        first = score(rule, response, gold, capped)
        assert first == score(rule, response, gold, capped)
        assert isinstance(first.correct, bool)
        assert first.reason in set(Reason)
        assert first.extracted is None or isinstance(first.extracted, str)
        assert first.extracted is not None or not first.correct


@settings(max_examples=200, deadline=None)
@given(answer=TEXTS, gold=TEXTS)
def test_equality_is_symmetric_where_neither_answer_states_a_name(answer, gold):
    if not set("=≈") & set(answer + gold) and r"\in" not in answer + gold and "," not in answer + gold:
        assert equal(answer, gold).correct == equal(gold, answer).correct


@settings(max_examples=100, deadline=None)
@given(answer=TEXTS)
def test_an_answer_equals_itself_unless_it_is_over_a_cap(answer):
    assert equal(answer, answer).correct or equal(answer, answer).reason is Reason.LIMIT


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_is_decided_within_the_budget(name):
    for gold in ("7", "x+1", r"\{1,2\}", "[0,1]"):
        verdict = score("math_robust", rf"\boxed{{{HOSTILE[name]}}}", gold)
        assert verdict.correct == ((name, gold) == ("unions", "[0,1]"))
        assert verdict.operations <= READING + OPERATIONS
    verdict = score("math_robust", rf"\boxed{{{HOSTILE[name]}}}", HOSTILE[name] + "+1")
    assert verdict.operations <= READING + OPERATIONS


@pytest.mark.parametrize("power", POWERS)
def test_a_pathological_power_costs_bounded_work_and_nothing_of_the_next_verdict(power, monkeypatch):
    def no_clock(*_):
        raise AssertionError("a verdict must not depend on a clock")

    for clock in ("time", "monotonic", "perf_counter", "process_time"):
        monkeypatch.setattr(time, clock, no_clock)
    threads, handler = threading.active_count(), signal.getsignal(signal.SIGALRM)
    for rule, form in WRAPPED.items():
        for response, gold in ((form % power, "7"), (form % "7", power), (form % power, f"{power}+1")):
            verdict = score(rule, response, gold)
            assert verdict.operations <= READING + OPERATIONS
            assert not (verdict.correct and rule.startswith(("math", "csqa"))), (rule, response, gold)
        assert score(
            rule, form % ("B" if rule.startswith("csqa") else "7"), "B" if "csqa" in rule else "7"
        ).correct
    assert threading.active_count() == threads and signal.getsignal(signal.SIGALRM) is handler


def test_a_power_beyond_the_caps_is_given_up_by_name_and_its_reward_is_none():
    verdict = score("math_robust", r"\boxed{9^{9^{9^{9}}}}", "7")
    assert (verdict.correct, verdict.reason) == (False, Reason.LIMIT)
    reward = verifier("math_robust")
    assert reward(response=r"\boxed{9^{9^{9^{9}}}}", reference="7", capped=False) is None
    assert reward(response=r"\boxed{7}", reference="7", capped=False) == 1.0


@pytest.mark.parametrize("name", LONG)
def test_the_longest_text_that_is_read_has_a_verdict_and_a_longer_one_is_over_the_cap(name):
    for rule in RULES:
        verdict = score(rule, LONG[name][:RESPONSE_CHARACTERS], "7")
        assert verdict.reason in set(Reason) and verdict.operations <= READING + OPERATIONS
        assert score(rule, LONG[name], "7")[:3] == (None, False, Reason.LIMIT)


def test_no_rule_reads_the_reference_while_it_extracts():
    response = "Thus $x = 3$ or $x = 4$.\nAnswer: B"
    for rule in RULES:
        assert len({score(rule, response, gold).extracted for gold in ("3", "4", "B", "")}) == 1


def test_no_reason_quotes_the_response():
    marked = "ZEBRA"
    for rule in RULES:
        assert marked not in score(rule, rf"\boxed{{{marked}}} Answer: {marked}", "1").reason
