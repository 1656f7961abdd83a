"""A contrast's numbers: recorded answers, edge cases, and what must hold for any pair of arms."""

import csv
import gc
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdp.errors import InputError
from promptdp.statistics.contrast import contrast, mcnemar_p_values
from promptdp.statistics.contrast_files import contrast_files

CASES = Path(__file__).parents[3] / "shared" / "cases" / "statistics"
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the recorded statistics cases are not present")


@pytest.fixture(scope="module", autouse=True)
def _cheap_collections():
    """Holm's adjustment collects garbage on every call, which is slow where many modules are loaded."""
    gc.freeze()
    yield
    gc.unfreeze()


def recorded(wanted):
    if not CASES.is_dir():
        return []
    answers = json.loads((CASES / "answers.json").read_text())["answers"]
    return [
        pytest.param(case, key, answer, id=f"{case}-{key}")
        for case, contrasts in answers.items()
        for key, answer in contrasts.items()
        if wanted(answer)
    ]


def arm_file(case, arm, scorer, folder):
    """One arm of a recorded case in the command's format."""
    path = folder / f"{arm}-{scorer}.csv"
    with open(CASES / f"{case}.csv", newline="") as source, open(path, "w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["problem_id", "seed", "correct"])
        writer.writerows(
            [row["problem_id"], row["seed"], row[scorer]]
            for row in csv.DictReader(source)
            if row["arm"] == arm
        )
    return [path]


def arms_of(case, key, folder):
    pair, scorer = key.split("|")
    return [arm_file(case, arm, scorer, folder) for arm in pair.split("-")]


def same(value):
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)


@needs_cases
@pytest.mark.parametrize(("case", "key", "answer"), recorded(lambda answer: "error" not in answer))
def test_recorded_contrasts_are_reproduced(case, key, answer, tmp_path):
    result = contrast_files(*arms_of(case, key, tmp_path), draws=100_000, seed=5)
    assert result["n_problems"] == answer["n_problems"]
    assert result["accuracy_pp"] == same(answer["acc_a_pp"])
    assert result["versus_accuracy_pp"] == same(answer["acc_b_pp"])
    assert result["difference_pp"] == same(answer["diff_pp"])
    assert result["ci95_pp"] == same(answer["ci95_exact_bootstrap_pp"])
    assert result["mde_pp"] == same(answer["mde80_pp"])
    assert result["sign_randomization_p"] == same(answer["sign_randomization_p_exact"])
    assert result["seed_sd_pp"] == same(answer["seed_diff_sd_pp"])
    assert result["seed_t_ci95_pp"] == same(answer["seed_t_interval_pp"])
    assert result["per_seed_pp"] == [same(test["diff_pp"]) for test in answer["mcnemar"]]
    assert result["mcnemar"] == [
        {
            "seed": test["seed_a"],
            "b": test["b"],
            "c": test["c"],
            "p": same(test["p"]),
            "p_holm": same(test["p_holm"]),
        }
        for test in answer["mcnemar"]
    ]
    step = answer["lattice_step_pp"] * (1 + 1e-9)
    for drawn, exact in zip(result["monte_carlo"]["ci95_pp"], result["ci95_pp"], strict=True):
        assert abs(drawn - exact) <= step


@needs_cases
@pytest.mark.parametrize(("case", "key", "answer"), recorded(lambda answer: "error" in answer))
def test_recorded_faults_are_refused(case, key, answer, tmp_path):
    expected = {
        "arms cover different problems": "lacks problems",
        "duplicate (problem_id, arm, seed)": "twice",
        "no shared seed": "shares no seed",
    }[answer["error"]]
    with pytest.raises(InputError, match=expected):
        contrast_files(*arms_of(case, key, tmp_path))


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
    "a score of 2": (scores(s1="12"), scores(s1="10"), {}, "not 0 or 1 for problem b"),
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


# --- properties ------------------------------------------------------------------------------------------


@st.composite
def arms(draw):
    problems = draw(st.integers(2, 12))
    seeds = draw(st.integers(1, 3))
    digits = st.text("01", min_size=problems, max_size=problems)
    return [scores(**{f"s{k}": draw(digits) for k in range(1, seeds + 1)}) for _ in range(2)]


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
