"""A contrast's numbers: the paper's, edge cases, the definitions by brute force, and symmetries."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from promptdp.errors import InputError
from promptdp.statistics.contrast import contrast, mcnemar_p_values


def same(value):
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)


# --- what the paper prints -------------------------------------------------------------------------------


def arms_of_counts(problems, counts):
    """Two arms whose pairs of seeds have these wins and losses."""
    a, b = {}, {}
    for seed, (wins, losses) in enumerate(counts, start=1):
        a[seed] = {str(problem): int(problem < wins) for problem in range(problems)}
        b[seed] = {str(problem): int(wins <= problem < wins + losses) for problem in range(problems)}
    return a, b


PUBLISHED_SEEDS = {
    "MATH": (4499, (104, 142, 118, 113), (2.31, 3.16, 2.62, 2.51), "0.36", ("2.08", "3.22")),
    "GSM8K": (1319, (43, 37, 35, 56), (3.26, 2.81, 2.65, 4.25), "0.72", ("2.10", "4.38")),
    "SVAMP": (1000, (10, 7, 14, 17), (1.0, 0.7, 1.4, 1.7), None, ("0.50", "1.90")),
}


@pytest.mark.parametrize("name", PUBLISHED_SEEDS)
def test_the_published_seed_intervals_follow_from_counts(name):
    problems, net, per_seed, spread, interval = PUBLISHED_SEEDS[name]
    result = contrast(*arms_of_counts(problems, [(wins, 0) for wins in net]))
    assert [round(value, 2) for value in result["per_seed_pp"]] == list(per_seed)
    assert spread is None or f"{result['seed_sd_pp']:.2f}" == spread
    assert tuple(f"{edge:.2f}" for edge in result["seed_t_ci95_pp"]) == interval


def test_rounded_points_would_miss_the_published_seed_interval():
    points = np.array(PUBLISHED_SEEDS["MATH"][2])
    half = scipy.stats.t.ppf(0.975, 3) * points.std(ddof=1) / 2
    assert f"{points.mean() - half:.2f}" == "2.07"  # the paper prints 2.08, which the counts give


@pytest.mark.parametrize(
    ("problems", "wins", "losses", "printed"), [(4499, 385, 281, "6.4e-05"), (1319, 112, 77, "1.3e-02")]
)
def test_published_mcnemar_p_values_follow_from_counts(problems, wins, losses, printed):
    # The largest Holm-adjusted p of four seeds is its own unadjusted value when the others are smaller.
    larger = [(wins + 60, losses)] * 3
    tests = contrast(*arms_of_counts(problems, [(wins, losses), *larger]))["mcnemar"]
    assert f"{max(test['p_holm'] for test in tests):.1e}" == printed


# --- edge cases ------------------------------------------------------------------------------------------


def scores(**seeds):
    """Scores of problems a, b, c, ... from strings of 0 and 1: `scores(s1="0110")`."""
    return {
        int(name[1:]): {chr(97 + i): int(digit) for i, digit in enumerate(digits)}
        for name, digits in seeds.items()
    }


def test_identical_arms_have_an_interval_of_no_width():
    arm = scores(s1="0110", s2="0111")
    result = contrast(arm, arm)
    assert result["difference_pp"] == 0
    assert result["ci95_pp"] == [0, 0]
    assert result["mde_pp"] == 0
    assert result["sign_randomization_p"] == 1
    assert result["seed_sd_pp"] == 0
    assert result["seed_t_ci95_pp"] == [0, 0]
    assert [(t["b"], t["c"], t["p"], t["p_holm"]) for t in result["mcnemar"]] == [(0, 0, 1, 1)] * 2


def test_one_problem_is_its_own_bootstrap():
    result = contrast(scores(s1="1"), scores(s1="0"))
    assert result["ci95_pp"] == [100, 100]
    assert result["mde_pp"] == 0
    assert result["sign_randomization_p"] == 1  # both signs give |sum| = 1


def test_one_shared_seed_has_no_seed_level_statistics():
    result = contrast(scores(s1="110"), scores(s1="010"))
    assert result["seed_sd_pp"] is None
    assert result["seed_t_ci95_pp"] is None


def test_a_seedless_arm_pairs_with_every_seed():
    result = contrast(scores(s1="1100", s2="1110", s3="1111"), scores(s0="1000"))
    assert result["per_seed_pp"] == [25, 50, 75]
    assert [test["seed"] for test in result["mcnemar"]] == [1, 2, 3]
    assert result["difference_pp"] == pytest.approx(50)
    mirrored = contrast(scores(s0="1000"), scores(s1="1100", s2="1110", s3="1111"))
    assert mirrored["per_seed_pp"] == [-25, -50, -75]


def test_two_seedless_arms_are_one_pair():
    assert contrast(scores(s0="11"), scores(s0="10"))["per_seed_pp"] == [50]


def test_pairing_uses_shared_seeds_alone_and_pooling_uses_all():
    a, b = scores(s1="1100", s2="1111"), scores(s1="1000", s3="0000")
    assert contrast(a, b)["difference_pp"] == 25
    pooled = contrast(a, b, pairs="pooled")
    assert pooled["difference_pp"] == pytest.approx(75 - 12.5)
    assert pooled["per_seed_pp"] == [25]


def test_pooling_seeds_in_different_numbers_stays_on_the_common_lattice():
    pooled = contrast(scores(s1="10", s2="10"), scores(s3="00", s4="10", s5="00"), pairs="pooled")
    assert pooled["difference_pp"] == pytest.approx(100 * (1 / 2 - 1 / 6))
    assert pooled["ci95_pp"] == pytest.approx([0, 100 * 2 / 3])
    assert pooled["per_seed_pp"] == []
    assert pooled["mcnemar"] == []
    assert pooled["seed_sd_pp"] is None


def test_holm_adjusts_within_the_whole_family():
    a, b = scores(s1="1" * 8 + "0", s2="1" * 6 + "000"), scores(s1="0" * 9, s2="0" * 9)
    assert mcnemar_p_values(a, b) == [2**-7, 2**-5]
    alone = [test["p_holm"] for test in contrast(a, b)["mcnemar"]]
    assert alone == [2 * 2**-7, 2**-5]
    family = [test["p_holm"] for test in contrast(a, b, family_p=[0.5, 0.001])["mcnemar"]]
    assert family == [3 * 2**-7, 2 * 2**-5]


REFUSED = {
    "no shared seed": (scores(s1="10"), scores(s2="10"), {}, "--pairs pooled"),
    "seed 0 beside others": (scores(s0="10", s1="10"), scores(s1="10"), {}, "number seeds from 1"),
    "an absent arm": ({}, scores(s1="10"), {}, "no scores"),
    "no problem": ({1: {}}, {1: {}}, {}, "no problem"),
    "other problems": (scores(s1="101"), scores(s1="10"), {}, "lacks problems .* c;"),
    "other problems within an arm": (scores(s1="101", s2="10"), scores(s1="101"), {}, "seed 2 lacks"),
    "other problems, in both arms": (
        {1: dict.fromkeys("abcdefg", 1)},
        {1: dict.fromkeys("ghijk", 1)},
        {},
        "second arm: .* first arm has: a, b, c and 3 more",
    ),
    "a score of 2": (scores(s1="12"), scores(s1="10"), {}, "not 0 or 1 for problem b"),
    "a score that is NaN": ({1: {"a": 1, "b": float("nan")}}, scores(s1="10"), {}, "0 or 1 for problem b"),
    "no score": ({1: {"a": 1, "b": None}}, scores(s1="10"), {}, "0 or 1 for problem b"),
    "a score that is text": ({1: {"a": "1", "b": "0"}}, scores(s1="10"), {}, "0 or 1 for problem a"),
    "half a point": (scores(s1="10"), {1: {"a": 1, "b": 0.5}}, {}, "0 or 1 for problem b"),
    "an absent second arm": (scores(s1="10"), {}, {}, "second arm: has no scores"),
    "an unknown pairing": (scores(s1="1"), scores(s1="1"), {"pairs": "all"}, "paired or pooled"),
    "draws without seed": (scores(s1="1"), scores(s1="1"), {"draws": 10}, "go together"),
    "seed without draws": (scores(s1="1"), scores(s1="1"), {"seed": 10}, "go together"),
    "no draw": (scores(s1="1"), scores(s1="1"), {"draws": 0, "seed": 1}, "start at 1"),
    "a p-value of 2": (scores(s1="1"), scores(s1="1"), {"family_p": [2]}, r"\[0, 1\]"),
    "a p-value that is NaN": (scores(s1="1"), scores(s1="1"), {"family_p": [float("nan")]}, r"\[0, 1\]"),
    "a p-value that is text": (scores(s1="1"), scores(s1="1"), {"family_p": ["0.1"]}, r"\[0, 1\]"),
}


@pytest.mark.parametrize(("a", "b", "options", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_arms_are_refused_with_one_line(a, b, options, message):
    with pytest.raises(InputError, match=message) as caught:
        contrast(a, b, **options)
    assert "\n" not in str(caught.value)


# --- the definitions, by brute force and by other libraries ----------------------------------------------


@st.composite
def arms(draw, most_problems=12, seedless=False):
    problems = draw(st.integers(1 if seedless else 2, most_problems))
    digits = st.text("01", min_size=problems, max_size=problems)
    seeds = draw(st.integers(1, 3))
    pair = [scores(**{f"s{k}": draw(digits) for k in range(1, seeds + 1)}) for _ in range(2)]
    if seedless and draw(st.booleans()):
        pair[draw(st.integers(0, 1))] = scores(s0=draw(digits))
    return pair


@given(arms(most_problems=5, seedless=True))
@settings(max_examples=60, deadline=None)
def test_a_contrast_is_what_its_definition_says(pair):
    a, b = pair
    problems = sorted(next(iter(a.values())))

    def mean(arm, problem):
        return Fraction(sum(seed[problem] for seed in arm.values()), len(arm))

    gains = [mean(a, problem) - mean(b, problem) for problem in problems]
    count = len(gains)
    resamples = sorted(sum(resample) for resample in itertools.product(gains, repeat=count))
    flips = [
        abs(sum(sign * gain for sign, gain in zip(signs, gains, strict=True)))
        for signs in itertools.product((-1, 1), repeat=count)
    ]
    result = contrast(a, b)
    assert result["difference_pp"] == same(float(100 * sum(gains) / count))
    edges = [
        resamples[math.ceil(level * len(resamples)) - 1] for level in (Fraction(1, 40), Fraction(39, 40))
    ]
    assert result["ci95_pp"] == [same(float(100 * edge / count)) for edge in edges]
    variance = sum((gain - sum(gains) / count) ** 2 for gain in gains) / count
    assert result["mde_pp"] == pytest.approx(2.80159 * 100 * math.sqrt(variance / count), rel=1e-5)
    assert result["sign_randomization_p"] == same(sum(f >= abs(sum(gains)) for f in flips) / len(flips))


@given(st.integers(0, 400), st.integers(0, 400))
@settings(max_examples=60, deadline=None)
def test_mcnemar_is_the_two_sided_exact_binomial_test(wins, losses):
    (test,) = contrast(*arms_of_counts(1 + wins + losses, [(wins, losses)]))["mcnemar"]
    assert (test["b"], test["c"]) == (wins, losses)
    expected = scipy.stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert test["p"] == pytest.approx(expected, rel=1e-9, abs=0)


def test_small_p_values_keep_their_digits():
    a, b = arms_of_counts(1000, [(1000, 0), (950, 2)])
    result = contrast(a, b)
    assert result["mcnemar"][0]["p"] == pytest.approx(2.0**-999, rel=1e-12, abs=0)  # 1.9e-301
    assert result["mcnemar"][0]["p_holm"] == pytest.approx(2.0**-998, rel=1e-12, abs=0)
    tail = 2 * (1 + 952 + 952 * 951 // 2)
    assert result["mcnemar"][1]["p"] == pytest.approx(tail * 2.0**-952, rel=1e-12, abs=0)
    assert 0 < result["sign_randomization_p"] < 1e-270


PROBABILITIES = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 1e-300, 0.01, 0.5, 1.0]), max_size=9)


@given(arms(), PROBABILITIES)
@settings(max_examples=15, deadline=None)
def test_holms_adjustment_is_the_one_of_statsmodels(pair, family):
    tests = contrast(*pair, family_p=family)["mcnemar"]
    adjusted = multipletests([*(test["p"] for test in tests), *family], method="holm")[1]
    assert [test["p_holm"] for test in tests] == [same(p) for p in adjusted[: len(tests)]]


@given(
    arms(seedless=True), st.sampled_from(["paired", "pooled"]), st.sampled_from([{}, {"draws": 7, "seed": 0}])
)
@settings(max_examples=80, deadline=None)
def test_every_contrast_is_valid_json_and_holds_together(pair, pairs, drawn):
    a, b = pair
    result = contrast(a, b, pairs=pairs, **drawn)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    low, high = result["ci95_pp"]
    assert -100 <= low <= high <= 100 and result["mde_pp"] >= 0
    assert low - 1e-9 <= result["difference_pp"] <= high + 1e-9
    assert 0 < result["sign_randomization_p"] <= 1
    alone = len(result["mcnemar"]) == 1
    assert (result["seed_sd_pp"] is None) == (result["seed_t_ci95_pp"] is None) == alone
    for test in result["mcnemar"]:
        assert 0 < test["p"] <= test["p_holm"] <= 1


# --- properties ------------------------------------------------------------------------------------------


@given(arms())
@settings(max_examples=25, deadline=None)
def test_swapping_the_arms_changes_signs_only(pair):
    a, b = pair
    forward, backward = contrast(a, b), contrast(b, a)
    assert backward["difference_pp"] == pytest.approx(-forward["difference_pp"])
    assert backward["per_seed_pp"] == [-d for d in forward["per_seed_pp"]]
    for key in ("mde_pp", "sign_randomization_p", "seed_sd_pp"):
        assert backward[key] == same(forward[key])
    assert [t["p_holm"] for t in backward["mcnemar"]] == [t["p_holm"] for t in forward["mcnemar"]]
    # A quantile is the smallest point that reaches its level, so a tie at the level may move by one step.
    step = 100 / (forward["n_problems"] * len(a)) * (1 + 1e-9)
    assert backward["ci95_pp"][0] == pytest.approx(-forward["ci95_pp"][1], abs=step)
    assert backward["ci95_pp"][1] == pytest.approx(-forward["ci95_pp"][0], abs=step)


@given(arms())
@settings(max_examples=25, deadline=None)
def test_flipping_right_and_wrong_everywhere_changes_signs_only(pair):
    def flipped(arm):
        return {seed: {p: 1 - x for p, x in problems.items()} for seed, problems in arm.items()}

    a, b = pair
    assert contrast(flipped(a), flipped(b))["ci95_pp"] == contrast(b, a)["ci95_pp"]


@given(arms())
@settings(max_examples=25, deadline=None)
def test_a_problem_all_seeds_of_one_arm_gain_shifts_the_difference_by_its_share(pair):
    a, b = ({seed: problems | {"new": 0} for seed, problems in arm.items()} for arm in pair)
    gained = {seed: problems | {"new": 1} for seed, problems in a.items()}
    count = len(a[1])
    assert contrast(gained, b)["difference_pp"] == pytest.approx(
        contrast(a, b)["difference_pp"] + 100 / count
    )


@given(arms(), st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_the_order_of_problems_and_seeds_does_not_matter(pair, random):
    def shuffled(mapping):
        keys = list(mapping)
        random.shuffle(keys)
        return {key: mapping[key] for key in keys}

    a, b = pair
    again = contrast(shuffled({s: shuffled(p) for s, p in a.items()}), b, draws=50, seed=1)
    assert again == contrast(a, b, draws=50, seed=1)
