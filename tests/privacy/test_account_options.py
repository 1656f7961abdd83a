"""Groups of prompts, replaced prompts, several runs: `promptdp account` beyond one prompt of one run."""

import json
import math
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import binom

from promptdp.errors import InputError
from promptdp.privacy.accounting import account, composed_epsilon
from promptdp.privacy.group import GroupRound
from promptdp.privacy.neighbours import Neighbours

MATH = (6988, 128, 50, 0.4842404738068581)
SMALL = (100, 10, 5, 1.0)

certified = cache(account)
slow = pytest.mark.slow

# --- the reference mechanism's numbers -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("group", "epsilon"), [(2, 15.37), pytest.param(3, 21.99, marks=slow), pytest.param(5, 34.40, marks=slow)]
)
def test_the_reference_for_a_group_of_prompts(group, epsilon):
    found = certified(*MATH, group=group)
    assert round(found.epsilon_pld, 2) == epsilon
    assert (found.epsilon_rdp, found.rdp_order) == (None, None)


def test_the_reference_for_a_replaced_prompt():
    assert certified(*MATH, replace_one=True).epsilon_pld == pytest.approx(8.29384, abs=2e-5)


@pytest.mark.parametrize(("runs", "epsilon"), [(2, 9.724), (5, 13.272), (8, 15.983)])
def test_the_reference_for_several_runs(runs, epsilon):
    found = certified(*MATH, runs=runs)
    assert round(found.epsilon_pld, 3) == epsilon
    assert found.epsilon_rdp > found.epsilon_pld


@pytest.mark.parametrize(
    ("option", "name"), [({"group": 2}, "proposition_1"), ({"replace_one": True}, "corollary_1")]
)
def test_the_papers_conversion_of_the_reference(option, name):
    stated = certified(*MATH, **option).as_json()[name]
    assert set(stated) == {"epsilon", "delta"}
    assert (round(stated["epsilon"], 6), round(stated["delta"], 4)) == (16, 0.0427)


def test_a_conversion_that_says_nothing_is_marked():
    # k = 3 for the reference: delta is 127.
    stated = Neighbours(3).stated(Neighbours(3).converted(8.0, 1 / 69880))["proposition_1"]
    assert stated["vacuous"] is True
    assert (stated["epsilon"], round(stated["delta"])) == (24, 127)


def test_a_conversion_beyond_doubles_is_valid_json():
    stated = Neighbours(10_000).stated(Neighbours(10_000).converted(8.0, 1e-5))["proposition_1"]
    assert stated == {"epsilon": 80_000.0, "delta": None, "vacuous": True}


def test_proposition_1_is_its_chain_of_single_steps():
    epsilon, delta = 0.7, 1e-4
    chained = 0.0, 0.0
    for _ in range(4):  # D to D' by one more prompt: e^(k eps) (e^eps Q + delta) + what was lost so far
        chained = chained[0] + epsilon, chained[1] + math.exp(chained[0]) * delta
    assert Neighbours(4).converted(epsilon, delta) == pytest.approx(chained)
    assert Neighbours(replace_one=True).converted(epsilon, delta) == pytest.approx(
        (2 * epsilon, (1 + math.exp(epsilon)) * delta)
    )


# --- what the options mean -------------------------------------------------------------------------------


def test_a_group_of_one_and_a_single_run_are_the_plain_question():
    assert account(*SMALL, group=1, runs=1) == account(*SMALL)
    stated = account(*SMALL).as_json()
    assert (stated["group"], stated["runs"], stated["relation"]) == (1, 1, "add-or-remove-one")
    assert not {"proposition_1", "corollary_1"} & set(stated)


def test_the_mixture_of_a_group_of_one_is_the_papers_pair():
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(value_discretization_interval=1e-3)
    accountant.compose(GroupRound(1, 0.1, 1.0, 1e-16).event, 5)
    assert accountant.get_epsilon(1e-3) == pytest.approx(account(*SMALL, 1e-3).epsilon_pld, rel=1e-5)


def test_the_runs_are_composed():
    assert account(*SMALL, runs=3).epsilon_pld == composed_epsilon([SMALL] * 3, 1e-3)
    together, at_once = account(*SMALL, group=2, runs=3), account(100, 10, 15, 1.0, group=2)
    assert (together.epsilon_pld, together.converted) == (at_once.epsilon_pld, at_once.converted)


@slow
def test_a_larger_group_loses_more_and_never_more_than_proposition_1():
    values = [account(*SMALL, group=group).epsilon_pld for group in (1, 2, 10)]
    assert values == sorted(values) and len(set(values)) == 3
    # Where the conversion has the same delta in the end: a group's epsilon at Proposition 1's delta.
    epsilon, delta = account(100, 10, 5, 1.0, 1e-6, group=2).converted
    assert account(100, 10, 5, 1.0, delta, group=2).epsilon_pld <= epsilon


def test_replacing_loses_more_than_removing_and_less_than_corollary_1():
    replaced = account(100, 10, 5, 1.0, 1e-6, replace_one=True)
    epsilon, delta = replaced.converted
    assert account(100, 10, 5, 1.0, 1e-6).epsilon_pld < replaced.epsilon_pld
    assert account(100, 10, 5, 1.0, delta, replace_one=True).epsilon_pld <= epsilon


def exact_gaussian_epsilon(shift, delta):
    def excess(epsilon):
        return (
            ndtr(shift / 2 - epsilon / shift) - math.exp(epsilon) * ndtr(-shift / 2 - epsilon / shift) - delta
        )

    return brentq(excess, 0, 500, xtol=1e-13)


def test_a_group_that_is_drawn_every_time_is_a_gaussian_of_its_size():
    exact = exact_gaussian_epsilon(3 * math.sqrt(4) / 5.0, 1e-4)
    for expected, tolerance in ((1000, 1e-5), (999, 5e-3)):
        found = account(1000, expected, 4, 5.0, 1e-4, group=3).epsilon_pld
        assert exact * (1 - tolerance) <= found <= exact * (1 + 1e-5)


# --- an independent bracket: losses rounded up and down on a grid ----------------------------------------


def bracketed(upper, lower, sigma, rounds, delta, step=2e-3):
    """Epsilon of P against Q, mixtures {shift: weight} of Gaussians whose loss grows with the output."""

    def law(mixture, x):
        return sum(w * ndtr((x - shift) / sigma) for shift, w in mixture.items())

    def loss(x):
        p, q = (
            np.logaddexp.reduce(
                [math.log(w) + shift * (2 * x - shift) / (2 * sigma**2) for shift, w in m.items()]
            )
            for m in (upper, lower)
        )
        return p - q

    reach = 9 * sigma + max(map(abs, [*upper, *lower]))
    first, last = np.floor(loss(np.array([-reach, reach])) / step).astype(int)
    grid = step * np.arange(first, last + 2)
    low, high = np.full(len(grid), -reach), np.full(len(grid), reach)
    for _ in range(60):
        middle = (low + high) / 2
        under = loss(middle) < grid
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    masses = np.diff(law(upper, low))
    length = 2 ** math.ceil(math.log2(rounds * len(masses)))
    composed = np.fft.irfft(np.fft.rfft(masses, length) ** rounds, length)
    losses = rounds * grid[0] + step * np.arange(length)  # every loss rounded down

    def excess(epsilon):
        over = losses > epsilon
        return composed[over] @ -np.expm1(epsilon - losses[over]) - delta

    least = max(0.0, brentq(excess, -50, 500, xtol=1e-12))
    return least, least + rounds * step + 1e-6


def group_pair(group, q):
    return {float(j): float(w) for j, w in enumerate(binom.pmf(range(group + 1), group, q))}, {0.0: 1.0}


def both_directions(upper, lower, *rest):
    """The larger of the brackets of P against Q and of Q against P, whose loss grows once mirrored."""
    mirrored = [{-shift: w for shift, w in mixture.items()} for mixture in (lower, upper)]
    one, other = bracketed(upper, lower, *rest), bracketed(*mirrored, *rest)
    return max(one[0], other[0]), max(one[1], other[1])


@pytest.mark.parametrize(
    ("n", "m", "sigma", "rounds", "group"),
    [
        (100, 10, 1.0, 5, 1),
        (100, 10, 1.0, 5, 2),
        (100, 30, 2.0, 8, 6),
        pytest.param(100, 90, 4.0, 3, 3, marks=slow),
        pytest.param(1000, 3, 0.6, 4, 4, marks=slow),
    ],
)
def test_a_groups_epsilon_is_in_an_independent_bracket(n, m, sigma, rounds, group):
    delta = 1 / (10 * n)
    low, high = both_directions(*group_pair(group, m / n), sigma, rounds, delta)
    assert low <= account(n, m, rounds, sigma, group=group).epsilon_pld <= high
    for wrong in (group_pair(group + 1, m / n), group_pair(group, 1.03 * m / n)):
        off, _ = both_directions(*wrong, sigma, rounds, delta)
        assert off > low + 1e-3


@pytest.mark.parametrize(
    ("n", "m", "sigma", "rounds"), [(100, 10, 1.0, 5), (100, 40, 2.0, 8), (50, 50, 3.0, 2)]
)
def test_a_replaced_prompts_epsilon_is_in_an_independent_bracket(n, m, sigma, rounds):
    q, delta = m / n, 1 / (10 * n)
    pair = ({0.0: 1 - q, 1.0: q}, {0.0: 1 - q, -1.0: q}) if q < 1 else ({1.0: 1.0}, {-1.0: 1.0})
    low, high = bracketed(*pair, sigma, rounds, delta)
    assert low <= account(n, m, rounds, sigma, replace_one=True).epsilon_pld <= high


def test_the_replaced_reference_is_in_an_independent_bracket():
    n, m, rounds, sigma = MATH
    low, high = bracketed(
        {0.0: 1 - m / n, 1.0: m / n}, {0.0: 1 - m / n, -1.0: m / n}, sigma, rounds, 1 / (10 * n), 1e-3
    )
    assert low <= certified(*MATH, replace_one=True).epsilon_pld <= high


# --- a group's round: what is cut and rounded is charged -------------------------------------------------


@pytest.mark.parametrize(
    ("group", "q", "rare"), [(5, 0.1, 1e-3), (1000, 0.02, 1e-6), (7, 0.999, 1e-4), (2, 1e-9, 1e-12)]
)
def test_draws_that_are_not_followed_are_charged(group, q, rare):
    one = GroupRound(group, q, 1.0, rare)
    beyond = binom.sf(one.largest, group, q)
    assert beyond <= rare and one.slack >= 2 * beyond
    assert one.largest == 1 or binom.sf(one.largest - 1, group, q) > rare


def test_rare_draws_that_are_cut_never_lower_the_epsilon():
    """A tenth of the draws not followed, and charged, states more than all followed: cutting alone, less."""
    from dp_accounting.pld import PLDAccountant

    def epsilon(rare, charged):
        one = GroupRound(6, 0.3, 2.0, rare)
        accountant = PLDAccountant(value_discretization_interval=2e-2)
        accountant.compose(one.event, 2)
        return accountant.get_epsilon(0.05 - charged * 2 * one.slack)

    assert epsilon(1e-3, charged=False) < epsilon(1e-15, charged=True) < epsilon(1e-3, charged=True)


def test_no_point_of_the_grid_meets_the_loss_of_drawing_nobody():
    one = GroupRound(2, 0.1, 1.0, 1e-15)
    lowest = -2 * math.log(0.9)
    for interval in (lowest / 50, lowest / 7 * (1 + 1e-6), 1e-3):
        clear = one.clear_grid(interval)
        assert interval <= clear <= interval * 1.01
        assert not np.isclose(round(lowest / clear) * clear, lowest)


def test_a_coarser_grid_states_more_for_a_group_too():
    from promptdp.privacy.pld import pld_epsilon

    fine, coarse = (pld_epsilon([SMALL], 1e-3, Neighbours(3), by) for by in (1, 30))
    assert fine < coarse


# --- refusals --------------------------------------------------------------------------------------------

BAD = [
    ({"group": 0}, "group"),
    ({"group": -1}, "group"),
    ({"group": 2.5}, "group"),
    ({"group": math.nan}, "group"),
    ({"group": True}, "group"),
    ({"group": 101}, "101 prompts don't fit in 100 slots"),
    ({"runs": 0}, "runs"),
    ({"runs": 1.5}, "runs"),
    ({"runs": math.nan}, "runs"),
    ({"runs": math.inf}, "runs"),
    ({"group": 2, "replace_one": True}, "--group or --replace-one"),
]


@pytest.mark.parametrize(("option", "named"), BAD, ids=str)
def test_an_option_out_of_range_is_refused_by_name(option, named):
    with pytest.raises(InputError, match=named) as refusal:
        account(*SMALL, **option)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("option", [{"group": 2}, {"replace_one": True}, {"runs": 2}], ids=str)
def test_the_shared_bad_inputs_are_refused_with_every_option(shared, option):
    for case in json.loads((shared / "cases" / "accounting.json").read_text())["bad_inputs"]:
        given = {key: float(v) if v in ("nan", "inf") else v for key, v in case["input"].items()}
        if "sigma" in given:
            with pytest.raises(InputError):
                account(given["n"], given["m"], given["T"], given["sigma"], given.get("delta"), **option)


def test_a_group_with_no_finite_budget_is_refused():
    with pytest.raises(InputError, match="certifies no finite epsilon"):
        account(1000, 1000, 10_000, 0.05, group=1000)


# --- the command line ------------------------------------------------------------------------------------


def promptdp(*options):
    words = "account --slots 100 --expected 10 --rounds 5 --sigma 1".split()
    return subprocess.run(
        [sys.executable, "-m", "promptdp.cli", *words, *map(str, options)], capture_output=True, text=True
    )


PLAIN = {"sigma", "epsilon_pld", "epsilon_rdp", "rdp_order", "delta", "q", "group", "runs", "relation"}


@pytest.mark.parametrize(
    ("options", "arguments", "relation", "conversion"),
    [
        ([], {}, "add-or-remove-one", None),
        (["--group", 1], {}, "add-or-remove-one", None),
        (["--runs", 3], {"runs": 3}, "add-or-remove-one", None),
        (["--group", 2], {"group": 2}, "add-or-remove-group", "proposition_1"),
        (["--replace-one", "--runs", 2], {"replace_one": True, "runs": 2}, "replace-one", "corollary_1"),
    ],
    ids=str,
)
def test_the_command_prints_what_the_function_returns(options, arguments, relation, conversion):
    result = promptdp(*options, "--json")
    assert result.returncode == 0, result.stderr
    stated = json.loads(result.stdout)
    assert stated == json.loads(json.dumps(account(*SMALL, **arguments).as_json()))
    assert set(stated) >= PLAIN and stated["relation"] == relation
    assert {"proposition_1", "corollary_1"} & set(stated) == ({conversion} - {None})
    assert (stated["epsilon_rdp"] is None) == (stated["rdp_order"] is None) == (conversion is not None)


@pytest.mark.parametrize(
    "options",
    [
        ["--group", 0],
        ["--group", 101],
        ["--group", 2.5],
        ["--group", "nan"],
        ["--runs", 0],
        ["--runs", "many"],
        ["--group", 2, "--replace-one"],
    ],
    ids=str,
)
def test_bad_options_leave_with_2_and_one_line(options):
    result = promptdp(*options)
    assert result.returncode == 2 and not result.stdout
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("promptdp: error: ")
