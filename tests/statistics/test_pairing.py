"""What two arms share: seeds, problems, and the differences on them."""

import numpy as np
import pytest

from promptdp.errors import InputError
from promptdp.statistics.pairing import (
    common_problems,
    correctness,
    differences,
    required_pairs,
    shared_seeds,
)

ONE = {"a": 1, "b": 0}
PAIRS = {
    "the shared seeds alone": ((1, 2, 3), (2, 3, 4), [(2, 2, 2), (3, 3, 3)]),
    "none": ((1, 2), (3,), []),
    "a seedless second arm pairs with all": ((1, 5), (0,), [(1, 1, 0), (5, 5, 0)]),
    "a seedless first arm pairs with all": ((0,), (2, 1), [(1, 0, 1), (2, 0, 2)]),
    "two seedless arms are one pair": ((0,), (0,), [(0, 0, 0)]),
}


@pytest.mark.parametrize(("a", "b", "expected"), PAIRS.values(), ids=PAIRS.keys())
def test_pairs_are(a, b, expected):
    assert shared_seeds(dict.fromkeys(a, ONE), dict.fromkeys(b, ONE)) == expected


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ((), (1,), "first arm: has no scores"),
        ((1,), (), "second arm: has no scores"),
        ((1,), (0, 1), "second arm: seed 0, which means seedless, stands beside others"),
        ((1, 2), (3, 4), r"shares no seed with the second \(seeds 1, 2 against seeds 3, 4\)"),
    ],
)
def test_arms_that_cannot_be_paired_are_refused(a, b, message):
    with pytest.raises(InputError, match=message):
        required_pairs(dict.fromkeys(a, ONE), dict.fromkeys(b, ONE))


def test_problems_are_common_to_every_seed_and_sorted():
    assert common_problems({1: {"b": 0, "a": 1}, 2: ONE}, {1: ONE}) == ["a", "b"]
    with pytest.raises(InputError, match="seed 2 lacks problems that seed 1 of the first arm has: b"):
        common_problems({1: ONE, 2: {"a": 1}}, {1: ONE})


def test_differences_are_by_pair_and_problem():
    a, b = {1: {"a": 1, "b": 0}, 2: {"a": 1, "b": 1}}, {0: {"a": 0, "b": 1}}
    assert differences(a, b, shared_seeds(a, b), ["a", "b"]).tolist() == [[1, -1], [1, 0]]
    assert differences(a, b, [], ["a", "b"]).shape == (0, 2)


def test_a_score_of_any_type_that_equals_0_or_1_counts():
    arm = {1: {"a": True, "b": 0.0, "c": np.int8(1)}}
    assert correctness(arm, [1], ["a", "b", "c"]).tolist() == [[1, 0, 1]]


def test_a_problem_whose_score_is_not_binary_is_named_on_one_line():
    with pytest.raises(InputError, match=r'problem "b\\nc"') as caught:
        correctness({1: {"a": 1, "b\nc": 2}}, [1], ["a", "b\nc"])
    assert "\n" not in str(caught.value)
