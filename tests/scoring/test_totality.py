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

from .hostile import FRAGMENTS, HOSTILE, LONG, POWERS, WRAPPED

TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(FRAGMENTS), max_size=60).map(" ".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join),
)


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
