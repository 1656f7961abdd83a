"""Each check of the published values agrees with the paper and sees a value that was changed."""

from dataclasses import replace

import pytest
from scipy.stats import binomtest

from promptdp.privacy.accounting import epsilon_pld, epsilon_rdp
from promptdp.reporting.published import mechanisms
from promptdp.reporting.published.accuracies import check_accuracies
from promptdp.reporting.published.counts import seed_counts
from promptdp.reporting.published.design import check_design
from promptdp.reporting.published.facts import check_facts
from promptdp.reporting.published.intervals import check_intervals
from promptdp.reporting.published.mechanisms import check_mechanisms
from promptdp.reporting.published.settings import check_settings
from promptdp.reporting.published.suite import except_known, read_exceptions
from promptdp.reporting.published.values import KINDS, Published
from promptdp.study import Study
from tests.reporting.published import EXCEPTIONS, changed, published
from tests.reporting.stand_in import stand_in

ARM, METHOD = "MATH: DP-GRPO − Zero-adv. control", "GSM8K: DP-GRPO − Zero-adv. control"
TRAINED = {"objective": "grpo", "seeds": [1, 2], "learning_rate": 3e-4, "clipping_norm": 0.05536}
PAPER = {
    "name": "paper",
    "title": "The paper's experiment",
    "records": "public",
    "base": {"checkpoint": "somewhere"},
    "lora": {"rank": 4, "alpha": 8, "dropout": 0.05},
    "benchmarks": {
        name: {"source": "arithmetic", "reward": "gsm8k", "expected": 128, "epsilon": 8, **numbers}
        for name, numbers in {
            "math": {"slots": 6988, "rounds": 50, "cap": 1024},
            "gsm8k": {"slots": 6961, "rounds": 100, "cap": 512},
            "csqa": {"slots": 6961, "rounds": 100, "cap": 512},
        }.items()
    },
    "evaluation_sets": {
        name: {"benchmark": name, "problems": problems, "cap": 512, "scorers": {"strict": scorer}}
        for name, problems, scorer in (
            ("math", 4499, "math_strict"),
            ("gsm8k", 1319, "gsm8k"),
            ("csqa", 1221, "csqa_strict"),
        )
    },
    "arms": {
        "base": {"label": "Public base", "objective": "none", "seeds": [0]},
        "dp_grpo": {"label": "DP-GRPO", **TRAINED},
        "control": {"label": "Zero-adv. control", "advantage": "zero", **TRAINED},
        "filtered": {
            "label": "Filtered DP-SFT",
            **TRAINED,
            "clipping_norm": 0.1143670583,
            "learning_rate": 5e-6,
        },
        "gold": {"label": "Gold DP-SFT", **TRAINED, "clipping_norm": 0.1143670583, "learning_rate": 2e-5},
    },
}


def settings_of_the_paper(values):
    return check_settings(values, Study.model_validate(PAPER))


CASES = {
    "MDE": (check_intervals, ("12", "Budget: ε=4.23", "MDE"), "0.28", "(z.975 + z.80) SE of the interval"),
    "accuracy": (check_accuracies, ("4", "Gold DP-SFT", "Accuracy"), "70.42", "the mean of Table X's seeds"),
    "bound": (
        check_facts,
        ("VII-A", "All benchmarks", "expected passes below"),
        "1",
        "the largest is at most this",
    ),
    "count": (
        check_accuracies,
        ("14", "No boxed answer", "Questions"),
        "686",
        "the total less the other group",
    ),
    "difference": (check_accuracies, ("2", "Gold DP-SFT", "MATH"), "+2.98", "the mean of Table XI's counts"),
    "epsilon": (
        check_mechanisms,
        ("6", "MATH, reference", "PLD"),
        "8.001",
        "our accountant at full precision",
    ),
    "high": (
        check_intervals,
        ("2", "Gold DP-SFT", "MATH high"),
        "3.79",
        "the other end, mirrored at the point",
    ),
    "length": (
        check_facts,
        ("VIII-C", "MATH: Public base", "mean response"),
        "556",
        "at most another value",
    ),
    "low": (check_intervals, ("VIII-A", METHOD, "Seed t low"), "2.11", "from the counts of the seeds"),
    "noise multiplier": (
        check_mechanisms,
        ("7", "MATH, reference", "σ"),
        "0.4842404738068584",
        "our bisection in 30 halvings",
    ),
    "order": (
        check_mechanisms,
        ("6", "GSM8K, CSQA", "RDP order"),
        "2.4",
        "Renyi accounting at full precision",
    ),
    "p": (check_facts, ("VIII-A", METHOD, "Holm p, largest"), "0.014", "as in Table XI"),
    "ratio": (check_design, ("B", "Canary", "expected draws"), "1.82", "q T"),
    "sd": (check_intervals, ("VIII-A", ARM, "Seed sd"), "0.37", "from the counts of the seeds"),
    "setting": (check_design, ("C-B", "MATH", "δ"), "1/69,881", "one over 10 n"),
    "share": (check_facts, ("VIII-E", "CSQA", "retained gain"), "44", "DP-GRPO's gain over the other"),
    "time": (
        check_facts,
        ("D-C", "Training time", "two rollouts, to"),
        "4.0",
        "the other hours over the ratio",
    ),
    "words": (settings_of_the_paper, ("1", "Strict scorer", "CSQA"), "boxed answer", "study paper"),
}
MORE = [
    (check_accuracies, ("3", "DP-GRPO", "Strict"), "51.59", "the base's accuracy and the gain"),
    (
        check_accuracies,
        ("3", "Zero-adv. control", "Format-robust difference"),
        "-0.10",
        "the arm's answers less the base's",
    ),
    (check_accuracies, ("5", "Gold DP-SFT", "Strict"), "71.73", "a whole number of answers"),
    (check_accuracies, ("10", "MATH strict: DP-GRPO", "Seeds 2"), "51.4", "the mean less the other seeds"),
    (check_accuracies, ("10", "GSM8K strict: Gold DP-SFT", "Mean"), "70.4", "the mean of the seeds"),
    (check_accuracies, ("11", ARM, "Per-seed difference 3"), "+2.63", "a whole number of problems"),
    (check_accuracies, ("13", "Gold DP-SFT", "DP-GRPO − arm"), "+0.41", "the shared seeds less the arm's"),
    (check_accuracies, ("14", "All problems", "Format-robust"), "+1.28", "the sum of both groups"),
    (
        check_accuracies,
        ("VIII-B", "MATH: DP-GRPO − DP-SFT of 100 updates", "Difference"),
        "1.87",
        "the gain over filtered less the arm's change",
    ),
    (
        check_intervals,
        ("12", "Clipping: C=0.028", "MDE"),
        "0.62",
        "(z.975 + z.80) SE of the interval",
    ),
    (
        check_intervals,
        ("13", "Filtered DP-SFT", "DP-GRPO − arm low"),
        "-1.65",
        "the other end, mirrored at the point",
    ),
    (
        check_intervals,
        ("D-D", "SVAMP: DP-GRPO − Public base", "Seed t high"),
        "1.91",
        "from the counts of the seeds",
    ),
    (
        check_intervals,
        ("VIII-A", ARM, "sign-randomization p below"),
        "10^-10",
        "p by the interval's SE, normal",
    ),
    (check_intervals, ("11", METHOD, "Holm p, largest"), "2.3", "a table of wins and losses"),
    (check_design, ("1", "Expected passes qT", "MATH"), "0.93", "q T = m T over n"),
    (check_design, ("C-A", "LoRA", "coordinates p"), "4,616,193", "rank × (inputs + outputs)"),
    (check_design, ("C-A", "GSM8K", "expected noise norm"), "0.49", "σ C √p over qn"),
    (check_design, ("B", "Canary", "probability of no draw"), "0.158", "(1 − q)^T"),
    (check_design, ("C-E", "High-C seed 2", "optimizer computations"), "56", "updates and replayed ones"),
    (check_facts, ("I", "Budget: ε=1", "Change low"), "-1.91", "as in Table XII"),
    (check_facts, ("VIII-F", "Two rollouts", "Cost low"), "0.81", "as in Table XII, sign turned"),
    (
        check_facts,
        ("E-B", "CSQA final answer: Public base", "correct with abstentions credited"),
        "837",
        "815 + 21",
    ),
    (check_facts, ("C-C", "MATH: Public base (bf16)", "correct"), "2,214", "Table III, accuracy less gain"),
    (check_facts, ("C-D", "Pilots: Gold DP-SFT", "MATH-500 accuracy 4"), "29.5", "a whole number of answers"),
    (check_mechanisms, ("1", "Noise multiplier σ", "MATH"), "0.485", "Table VII"),
    (check_mechanisms, ("6", "MATH, hist. rank-4", "RDP"), "6.186", "Renyi accounting at full precision"),
    (check_mechanisms, ("6", "MATH, coverage", "m"), "521", "Table VII"),
    (check_mechanisms, ("B", "External accountant", "PLD ε"), "3.7698", "our accountant"),
    (settings_of_the_paper, ("1", "Training prompts n", "MATH"), "6,989", "study paper"),
    (settings_of_the_paper, ("C-B", "Gold DP-SFT", "learning rate"), "2×10^-4", "study paper"),
]


@pytest.fixture(autouse=True)
def accountant(monkeypatch):
    monkeypatch.setattr(mechanisms, "pld", stand_in)


def test_there_is_a_case_for_every_kind():
    assert set(CASES) == KINDS
    assert all(published()[key].kind == kind for kind, (_, key, *_) in CASES.items())


@pytest.mark.parametrize(("check", "key", "text", "how"), [*CASES.values(), *MORE])
def test_a_changed_value_differs_by_name(check, key, text, how):
    def verdicts(values):
        return [one for one in check(values) if one.value.key == key and one.check == how]

    assert [one.verdict for one in verdicts(published())] == ["agrees"]
    (found,) = verdicts(changed(key, text))
    assert found.verdict == "differs"
    assert found.line.startswith(f"{published()[key].name}: printed {text}, ours ")


def test_all_that_differs_is_a_known_exception_and_every_exception_is_one():
    known = read_exceptions(EXCEPTIONS)
    checks = (check_accuracies, check_design, check_facts, check_intervals, check_mechanisms)
    findings = list(except_known((one for check in checks for one in check(published())), known))
    assert [one.line for one in findings if one.verdict == "differs"] == []
    assert sum(one.verdict == "exception" for one in findings) == len(known) == 5
    assert len({one.value.key for one in findings}) > 600


def test_a_study_of_the_paper_agrees_with_what_the_paper_states_of_it():
    findings = list(settings_of_the_paper(published()))
    assert {one.verdict for one in findings} == {"agrees"} and len(findings) > 30


def test_what_a_study_of_the_paper_lacks_differs():
    arms = {name: arm for name, arm in PAPER["arms"].items() if name != "gold"}
    benchmarks = {name: one for name, one in PAPER["benchmarks"].items() if name != "csqa"}
    sets = {name: one for name, one in PAPER["evaluation_sets"].items() if name != "csqa"}
    study = Study.model_validate(PAPER | {"arms": arms, "benchmarks": benchmarks, "evaluation_sets": sets})
    lacking = [one for one in check_settings(published(), study) if one.verdict == "differs"]
    assert {one.ours for one in lacking} == {"none"}
    assert {(one.value.row, one.value.column) for one in lacking} >= {
        ("Gold DP-SFT", "learning rate"),
        ("Rounds T", "CSQA"),
        ("Strict scorer", "CSQA"),
    }


def test_the_counts_are_those_that_the_printed_differences_imply():
    control = "Zero-adv. control"
    assert seed_counts(published(), "MATH", control) == [104, 142, 118, 113]
    assert seed_counts(published(), "GSM8K", control) == [43, 37, 35, 56]


def test_rounded_points_would_not_give_the_printed_seed_interval():
    # From the points of Table XI the interval on GSM8K would end at 4.39, not at 4.38.
    low, high = published()["VIII-A", METHOD, "Seed t low"], published()["VIII-A", METHOD, "Seed t high"]
    assert (low.text, high.text) == ("2.10", "4.38")
    findings = [one for one in check_intervals(published()) if one.value.key == high.key]
    assert [one.ours[:6] for one in findings if one.check == "from the counts of the seeds"] == ["4.3829"]


def test_wins_and_losses_that_give_the_printed_p_are_those_known():
    assert binomtest(385, 385 + 281).pvalue == pytest.approx(6.4e-5, rel=0.01)
    (found,) = (
        one for one in check_intervals(published()) if one.value.key == ("11", ARM, "Holm p, largest")
    )
    assert found.verdict == "agrees" and float(found.ours) == pytest.approx(6.4e-5, rel=0.01)


# --- the accountant ---


def test_the_stand_in_says_what_the_accountant_says_where_table_vii_is():
    n, m, rounds, sigma = 6988, 128, 50, 0.612058477104
    assert stand_in(n, m, rounds, sigma, 1 / (10 * n)) == pytest.approx(
        epsilon_pld(n, m, rounds, sigma, 1 / (10 * n)), abs=1e-9
    )


def test_the_search_asks_the_accountant_twice_where_it_ends_at_the_printed_value(monkeypatch):
    asked = []
    monkeypatch.setattr(mechanisms, "pld", lambda *of: (asked.append(of), stand_in(*of))[1])
    monkeypatch.setattr(mechanisms, "TARGETS", {"MATH, reference": 8.0})
    assert {one.verdict for one in mechanisms._calibrated(published(), "MATH, reference", 8.0)} == {"agrees"}
    assert len(asked) == 2


def test_the_renyi_value_of_appendix_b_is_that_of_whole_orders():
    from opacus.accountants.analysis.rdp import compute_rdp, get_privacy_spent

    orders = list(range(2, 64))
    spent, order = get_privacy_spent(
        orders=orders, rdp=compute_rdp(q=0.1, noise_multiplier=3.0, steps=512, orders=orders), delta=1e-6
    )
    assert (round(float(spent), 3), order) == (4.052, 7)
    assert round(epsilon_rdp(10, 1, 512, 3.0, 1e-6)[0], 3) == 4.051


@pytest.mark.slow
def test_the_accountant_itself_gives_every_mechanism_of_the_paper(monkeypatch):
    monkeypatch.setattr(mechanisms, "pld", epsilon_pld)
    known = read_exceptions(EXCEPTIONS)
    findings = list(except_known(check_mechanisms(published()), known))
    assert [one.line for one in findings if one.verdict == "differs"] == []
    assert sum(one.verdict == "exception" for one in findings) == 3


def test_a_missing_value_is_named():
    from promptdp.errors import InputError

    without = Published([one for one in published() if one.key != ("2", "Gold DP-SFT", "MATH")])
    with pytest.raises(InputError, match="has no value 2/Gold DP-SFT/MATH"):
        list(check_accuracies(without))


def test_a_value_in_another_place_is_not_judged():
    value = next(iter(published()))
    assert published().get("99", value.row, value.column) is None
    assert replace(value, repeats="-1/a/b").original == (("1", "a", "b"), True)
