"""The rule math_strict judges a table of boxed answers, class by class, as mathematics does."""

from collections import Counter

import pytest

from promptdp.scoring import score
from tests.scoring.tables import alike_but_for_numbers
from tests.scoring.tables.boxed import BOXED

CASES = [(name, *case) for name, cases in BOXED.items() for case in cases]


def readable(text: str) -> str:
    return ascii(text)[1:-1][:40] or "nothing"


def cases_judged(right: bool):
    chosen = [case for case in CASES if case[3] is right]
    ids = [f"{name}: {readable(gold)} / {readable(content)}" for name, gold, content, _ in chosen]
    return pytest.mark.parametrize(("gold", "content"), [case[1:3] for case in chosen], ids=ids)


def credited(gold: str, content: str) -> bool:
    return score("math_strict", f"So it is $\\boxed{{{content}}}$.", gold).correct


@cases_judged(right=True)
def test_an_exactly_equal_boxed_answer_is_credited(gold, content):
    assert credited(gold, content)


@cases_judged(right=False)
def test_a_near_miss_in_a_box_is_not_credited(gold, content):
    assert not credited(gold, content)


def test_the_table_holds_many_classes_and_nearly_as_many_wrong_answers_as_right_ones():
    wrong = sum(not right for *_, right in CASES)
    assert len(BOXED) >= 18 and all(len(cases) >= 5 for cases in BOXED.values())
    assert len(CASES) >= 220 and 0.4 <= wrong / len(CASES) <= 0.6


def test_no_two_boxed_cases_differ_in_numbers_only():
    alike = Counter(
        (alike_but_for_numbers(gold), alike_but_for_numbers(content)) for _, gold, content, _ in CASES
    )
    assert [pair for pair, times in alike.items() if times > 1] == []
