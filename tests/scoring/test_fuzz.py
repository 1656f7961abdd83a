"""A sample of what `make fuzz` scores, and that the checks of it can fail."""

from itertools import count

import pytest

from promptdp.scoring import RULES, Verdict, score
from promptdp.scoring.verdict import Reason

from . import fuzz
from .corpus import MUTATIONS, Corpus

SEED = 20


def test_a_sample_of_texts_has_sound_verdicts_whatever_the_order_and_the_hash_seed():
    faults, found = fuzz.fuzz(SEED, 2000)
    assert not faults, f"seed {SEED}"
    assert set(found.reasons) <= set(Reason) and sum(found.reasons.values()) == 2000 * len(RULES)


def test_no_verdict_depends_on_the_verdicts_before_it():
    corpus = Corpus(SEED)
    texts = [corpus[number] for number in range(150)]
    for rule in RULES:
        first = [score(rule, *text[:3]) for text in texts]
        assert [score(rule, *text[:3]) for text in reversed(texts)] == first[::-1]


def test_the_sample_reaches_every_reason_and_every_mutation():
    corpus = Corpus(SEED)
    made = " ".join(corpus[number].made for number in range(2000)).split()
    assert {mutation.__name__ for mutation in MUTATIONS} | {"generated", "given", "long"} <= set(made)
    reasons = fuzz.check(SEED, 400, shuffled=False).reasons
    assert {Reason.EQUAL, Reason.DIFFERENT, Reason.LIMIT, Reason.UNREADABLE, Reason.NO_ANSWER} <= set(reasons)


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict("7", True, Reason.EQUAL, fuzz.MOST + 1),
        Verdict("7", True, "the answer is 7", 1),
        Verdict(None, True, Reason.EQUAL, 1),
        Verdict("7", True, Reason.DIFFERENT, 1),
        Verdict("7", False, Reason.EQUAL, 1),
    ],
)
def test_an_unsound_verdict_is_a_fault(verdict):
    assert fuzz.fault(verdict) is not None
    assert fuzz.fault(Verdict("7", False, Reason.DIFFERENT, fuzz.MOST)) is None


def test_an_exception_is_a_fault_that_names_its_seed_and_input(monkeypatch):
    def broken(rule, response, gold, capped):
        raise RecursionError

    monkeypatch.setattr(fuzz, "score", broken)
    faults = fuzz.check(SEED, 2, shuffled=False).faults
    assert len(faults) == 2 * len(RULES)
    assert all(fault.startswith(f"seed {SEED}, input ") and "RecursionError" in fault for fault in faults)


def test_a_verdict_that_depends_on_those_before_it_is_noticed(monkeypatch):
    calls = count()

    def remembering(rule, response, gold, capped):
        return Verdict("7", False, Reason.DIFFERENT, next(calls))

    monkeypatch.setattr(fuzz, "score", remembering)
    ordered, shuffled = (fuzz.check(SEED, 5, shuffled) for shuffled in (False, True))
    assert ordered.marks.keys() == shuffled.marks.keys()
    assert ordered.marks != shuffled.marks
