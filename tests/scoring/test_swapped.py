"""Response and reference are not alike: the truth values of a table of pairs, each in both orders."""

import pytest

from promptdp.scoring import score

PAIRS = [
    # rule, response, reference, verdict, verdict with the two exchanged
    ("math_strict", r"so \boxed{2}", "2", True, False),
    ("math_strict", r"\boxed{5} or \boxed{6}", "6", True, False),
    ("math_strict", r"\boxed{6}", "6", True, False),
    ("math_robust", r"so \boxed{2}", "2", True, False),
    ("math_robust", "x = 2, so the answer is 2.", "2", True, False),
    ("csqa_strict", "Answer: B", "B", True, False),
    ("csqa_final", "the answer is B", "B", True, False),
    # An interval and the inequality that it stands for are equal whichever of them is the reference.
    ("math_robust", r"\boxed{(1,2)}", "1<x<2", True, True),
    ("math_robust", r"\boxed{1<x<2}", "(1,2)", True, True),
    ("gsm8k", "#### 1,000", "1000", True, True),
    ("svamp", "The answer is 5", "5.0", True, True),
]


@pytest.mark.parametrize(("rule", "response", "reference", "verdict", "exchanged"), PAIRS)
def test_a_pair_has_the_truth_value_of_its_order(rule, response, reference, verdict, exchanged):
    assert score(rule, response=response, gold=reference).correct is verdict
    assert score(rule, response=reference, gold=response).correct is exchanged


def test_a_scorer_called_with_its_arguments_exchanged_would_be_noticed():
    def swapped(rule, response, gold):
        return score(rule, response=gold, gold=response)

    wrong = [pair for pair in PAIRS if swapped(*pair[:3]).correct is not pair[3]]
    assert {pair[0] for pair in wrong} == {"math_strict", "math_robust", "csqa_strict", "csqa_final"}
