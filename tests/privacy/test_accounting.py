import json
import math
import subprocess
import sys
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import ndtr

from promptdp.errors import InputError
from promptdp.privacy.accounting import (
    account,
    calibrate,
    composed_epsilon,
    composed_rdp,
    epsilon_all,
    epsilon_bound,
    epsilon_pld,
    epsilon_rdp,
    epsilon_retained,
)
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.search import paper_bisection

# Tables VI and VII, with sigma at the full precision of Table VII:
# (n, m, T, sigma, PLD as printed, PLD to four decimals, RDP as printed, its order)
TABLE_VI = {
    "MATH, eps 1": (6988, 128, 50, 1.0023417361080647, 1.000, 1.0000, 1.463, 7.6),
    "MATH, eps 4.23": (6988, 128, 50, 0.612058477104, 4.235, 4.2349, 5.322, 3.2),
    "MATH, reference": (6988, 128, 50, 0.4842404738068581, 8.000, 8.0000, 9.830, 2.3),
    "MATH, DP-SFT T=100": (6988, 128, 100, 0.519267738191411, 8.000, 8.0000, 9.702, 2.3),
    "MATH, coverage": (6988, 512, 50, 0.7022244453430175, 8.000, 8.0000, 9.323, 2.6),
    "MATH, canary": (6988, 128, 100, 0.612058477104, 5.038, 5.0385, 6.185, 3.0),
    "GSM8K, CSQA": (6961, 128, 100, 0.5196564674377442, 8.000, 8.0000, 9.701, 2.3),
}
# The rows of Table VII that end a bisection: (target, halvings). The two rows at sigma 0.612 are inputs.
TABLE_VII = {
    "MATH, eps 1": (1.0, 30),
    "MATH, reference": (8.0, 30),
    "MATH, DP-SFT T=100": (8.0, 30),
    "MATH, coverage": (8.0, 20),
    "GSM8K, CSQA": (8.0, 30),
}

pld = cache(epsilon_pld)


@pytest.mark.parametrize("row", TABLE_VI)
def test_table_vi_pld_to_four_decimals(row):
    n, m, T, sigma, printed, four_decimals, *_ = TABLE_VI[row]
    epsilon = pld(n, m, T, sigma, 1 / (10 * n))
    assert round(epsilon, 4) == four_decimals
    # The printed column has three decimals; 5.03850 rounds either way.
    assert abs(epsilon - printed) < 0.000_51


@pytest.mark.parametrize("row", TABLE_VI)
def test_table_vi_rdp_with_its_order(row):
    n, m, T, sigma, *_, printed, order = TABLE_VI[row]
    epsilon, best = epsilon_rdp(n, m, T, sigma, 1 / (10 * n))
    assert (round(epsilon, 3), round(best, 1)) == (printed, order)


@pytest.mark.parametrize("row", TABLE_VII)
def test_table_vii_sigma_is_where_the_papers_bisection_ends(row):
    # Bisection returns the upper end of its last interval: a point of the dyadic grid of the bracket
    # that meets the target while the grid point below does not.
    n, m, T, sigma, *_ = TABLE_VI[row]
    target, halvings = TABLE_VII[row]
    low, high = (1.0, 2.0) if sigma > 1 else (0.05, 1.0)
    width = (high - low) / 2**halvings
    place = (sigma - low) / width
    assert abs(place - round(place)) < 1e-6
    assert pld(n, m, T, sigma, 1 / (10 * n)) <= target < pld(n, m, T, sigma - width, 1 / (10 * n))


@pytest.mark.slow
@pytest.mark.parametrize("row", TABLE_VII)
def test_table_vii_sigma_bit_for_bit(row):
    n, m, T, sigma, *_ = TABLE_VI[row]
    assert paper_bisection(lambda s: pld(n, m, T, s, 1 / (10 * n)), *TABLE_VII[row]) == sigma


@pytest.mark.slow
@pytest.mark.parametrize("row", TABLE_VII)
def test_the_fast_search_needs_no_more_noise_than_the_paper(row):
    n, m, T, sigma, *_ = TABLE_VI[row]
    target, _ = TABLE_VII[row]
    assert calibrate(n, m, T, target).noise_multiplier <= sigma * (1 + 3e-9)


@pytest.mark.parametrize("method", ["fast", "paper-bisection"])
def test_a_search_ends_at_the_smallest_noise_within_the_target(method):
    found = calibrate(1000, 1000, 2, 2.0, method=method)
    assert found.method == method and found.epsilon_target == 2.0
    assert found.epsilon_pld == epsilon_pld(1000, 1000, 2, found.noise_multiplier, found.delta) <= 2.0
    assert epsilon_pld(1000, 1000, 2, found.noise_multiplier * (1 - 1e-7), found.delta) > 2.0


def test_the_paper_bisection_is_thirty_halvings_of_a_doubled_bracket():
    asked = []

    def spent(sigma, coarsening=1):
        asked.append(sigma)
        return 6.0 / sigma

    found = paper_bisection(spent, 2.0)
    assert asked[:4] == [0.05, 1.0, 2.0, 4.0] and len(asked) == 34
    assert 3.0 <= found <= 3.0 + 2 * 2**-30


def check_that_the_target_is_met(slots, expected, rounds, target, delta):
    found = calibrate(slots, expected, rounds, target, delta)
    again = epsilon_pld(slots, expected, rounds, found.noise_multiplier, delta)
    assert target * (1 - 1e-5) <= again == found.epsilon_pld <= target


@pytest.mark.parametrize(
    ("slots", "expected", "rounds", "target", "delta"),
    [
        (17661, 607, 392, 0.786, 1e-10),  # the accountant's rounding shows
        (63994, 22260, 200, 3.632, 1.4e-7),
        (9728, 2432, 211, 1.0, 1.0279605263157895e-08),  # the coarse grid's slope is off
        (13449, 297, 16, 0.472, 1.2e-7),
        (3, 2, 400, 1.0, 0.05),
        (1, 1, 40, 3.0, 0.1),
        (100, 99, 10, 0.5, 1e-3),
    ],
)
def test_a_calibrated_budget_meets_its_target(slots, expected, rounds, target, delta):
    check_that_the_target_is_met(slots, expected, rounds, target, delta)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.integers(50, 100_000),
    st.floats(1.5, 50),
    st.integers(1, 400),
    st.floats(0.3, 8.0),
    st.floats(-7, -0.5),
)
def test_any_calibrated_budget_meets_its_target(slots, share, rounds, target, log_delta):
    expected = max(1, round(slots / share))
    check_that_the_target_is_met(slots, expected, rounds, target, max(10**log_delta / slots, 1e-10))


def exact_gaussian_epsilon(sigma, delta):
    """The analytic Gaussian mechanism of sensitivity 1, from its closed form."""

    def excess(epsilon):
        a, b = 1 / (2 * sigma) - epsilon * sigma, -1 / (2 * sigma) - epsilon * sigma
        return ndtr(a) - math.exp(epsilon) * ndtr(b) - delta

    return brentq(excess, 0, 200, xtol=1e-13)


@pytest.mark.parametrize(("sigma", "rounds"), [(2.5, 10), (0.8, 1), (30.0, 400)])
def test_without_sampling_the_budget_is_the_closed_form_from_above(sigma, rounds):
    exact = exact_gaussian_epsilon(sigma / math.sqrt(rounds), 1e-5)
    certified = epsilon_pld(1000, 1000, rounds, sigma, 1e-5)
    assert exact - 1e-9 <= certified <= exact * (1 + 1e-5)


def test_one_sampled_round_is_its_closed_form_from_above():
    # The pair of equation (5), (1-q) N(0, s^2) + q N(1, s^2) against N(0, s^2): its loss grows with x, so
    # delta(eps) is the excess of mass beyond one threshold.
    n, m, sigma, delta = 50, 5, 0.9, 1e-3
    q = m / n

    def excess(epsilon):
        x = sigma**2 * math.log((math.exp(epsilon) - 1 + q) / q) + 0.5
        beyond = ndtr(-x / sigma)
        return (1 - q) * beyond + q * ndtr((1 - x) / sigma) - math.exp(epsilon) * beyond - delta

    exact = brentq(excess, 1e-6, 50, xtol=1e-13)
    certified = epsilon_pld(n, m, 1, sigma, delta)
    assert exact - 1e-9 <= certified <= exact * (1 + 1e-5)


def test_the_jax_privacy_reference_value():
    epsilon = epsilon_pld(10, 1, 512, 3.0, 1e-6)
    assert round(epsilon, 4) == 3.7697
    assert abs(epsilon - 3.77) == pytest.approx(3.1e-4, abs=1e-5)


def test_the_renyi_value_is_looser_than_the_pld_value():
    found = account(874, 16, 50, 1.6)
    assert found.epsilon_rdp > found.epsilon_pld


def test_a_tiny_budget_is_calibrated_on_a_finer_grid():
    # The default grid of 1e-4 would ask for 0.03% more noise than this target needs.
    found = calibrate(20_000, 500, 300, 0.1, 5e-6)
    assert found.noise_multiplier == pytest.approx(14.174488801753045, rel=1e-5)


def in_a_child(call):
    """The epsilon a call certifies and the gibibytes it needs at most, with everything it imports."""
    code = (
        "import resource\n"
        "from promptdp.privacy.accounting import account, calibrate\n"
        f"print({call}.epsilon_pld, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return map(float, done.stdout.split())


slow = pytest.mark.slow


@pytest.mark.parametrize(
    "call",
    [
        "account(100, 10, 10, 1e6)",
        "account(10**7, 1, 1, 1.0)",
        "account(1000, 10, 10_000, 0.05)",
        pytest.param("account(100, 10, 10, 0.05)", marks=slow),
        pytest.param("account(1000, 1000, 10_000, 0.05)", marks=slow),
        pytest.param("account(1000, 10, 10_000, 0.05, runs=100)", marks=slow),
        pytest.param("account(1000, 10, 10_000, 0.05, replace_one=True)", marks=slow),
        pytest.param("account(1000, 10, 10_000, 0.05, group=5)", marks=slow),
        pytest.param("account(1000, 1000, 10_000, 0.05, group=5)", marks=slow),
        pytest.param("account(6988, 128, 50, 0.4842404738068581, group=6988)", marks=slow),
        pytest.param("calibrate(1000, 1000, 10_000, 0.01, method='paper-bisection')", marks=slow),
    ],
)
def test_an_extreme_mechanism_needs_no_extreme_memory(call):
    epsilon, gibibytes = in_a_child(call)
    assert math.isfinite(epsilon) and gibibytes < 2


@pytest.mark.parametrize(("slots", "expected"), [(1000, 1000), (1000, 10)])
def test_an_extreme_target_is_met_with_little_memory(slots, expected):
    epsilon, gibibytes = in_a_child(f"calibrate({slots}, {expected}, 10_000, 0.01)")
    assert 0.01 * (1 - 1e-5) <= epsilon <= 0.01 and gibibytes < 2


class TestComposition:
    run = (874, 16, 10, 2.0)
    delta = 1 / 8740

    def test_rounds_of_one_run_and_of_several_compose_alike(self):
        halves = [(874, 16, 5, 2.0), (874, 16, 5, 2.0)]
        assert composed_epsilon(halves, self.delta) == epsilon_pld(*self.run, self.delta)

    def test_several_runs_cost_more_than_one_and_less_than_their_sum(self):
        one = epsilon_pld(*self.run, self.delta)
        three = composed_epsilon([self.run] * 3, self.delta)
        assert one < three < 3 * one

    def test_different_mechanisms_compose_in_any_order(self):
        events = [self.run, (874, 32, 4, 2.5), (874, 16, 3, 1.5)]
        values = [composed_epsilon(order, self.delta) for order in (events, events[::-1])]
        assert values[0] == pytest.approx(values[1], rel=1e-9)
        assert values[0] > max(epsilon_pld(*event, self.delta) for event in events)

    def test_unsampled_runs_compose_to_the_closed_form(self):
        events = [(100, 100, 4, 3.0), (100, 100, 9, 5.0)]
        exact = exact_gaussian_epsilon(1 / math.sqrt(4 / 3.0**2 + 9 / 5.0**2), 1e-5)
        assert exact - 1e-9 <= composed_epsilon(events, 1e-5) <= exact * (1 + 1e-5)

    def test_fourteen_runs_of_the_reference(self):
        # As 700 rounds: of the order of the one-run budget times the root of 14, far below 14 times it.
        epsilon = composed_epsilon([(6988, 128, 50, 0.4842404738068581)] * 14, 1 / 69880)
        assert epsilon == pytest.approx(20.445868, abs=1e-5)

    def test_renyi_divergences_of_different_runs_add(self):
        events = [self.run, (874, 32, 4, 2.5)]
        epsilon, order = composed_rdp(events, self.delta)
        assert composed_rdp([self.run], self.delta) == epsilon_rdp(*self.run, self.delta)
        assert composed_rdp([self.run] * 3, self.delta) == epsilon_rdp(874, 16, 30, 2.0, self.delta)
        assert composed_rdp(events[::-1], self.delta) == pytest.approx((epsilon, order), rel=1e-12)
        assert epsilon > composed_epsilon(events, self.delta)

    @pytest.mark.parametrize("events", [[], [(874, 16, 10, 2.0), (875, 16, 10, 2.0)]])
    def test_runs_on_no_or_other_slots_are_refused(self, events):
        for compose in (composed_epsilon, composed_rdp):
            with pytest.raises(InputError, match="same slots"):
                compose(events, 1e-5)


class TestEveryAttemptIsCharged:
    mechanism = Mechanism(874, 16, 10, 2.0, 0.05536, 1 / 8740)

    def test_without_interruptions_both_epsilons_agree(self):
        assert epsilon_all(self.mechanism, 10) == epsilon_retained(self.mechanism)

    def test_an_abandoned_attempt_costs_a_round(self):
        assert epsilon_all(self.mechanism, 12) == epsilon_pld(874, 16, 12, 2.0, 1 / 8740)
        assert epsilon_all(self.mechanism, 12) > epsilon_retained(self.mechanism)

    def test_a_non_private_arm_has_no_finite_epsilon(self):
        arm = Mechanism(874, 16, 10, 0, math.inf, 1 / 8740)
        assert epsilon_retained(arm) == epsilon_all(arm, 11) == math.inf

    @pytest.mark.parametrize("begun", [0, -1, 2.5])
    def test_a_number_of_attempts_that_is_none_is_refused(self, begun):
        with pytest.raises(InputError, match="rounds"):
            epsilon_all(self.mechanism, begun)


def test_a_calibration_file_states_the_mechanism_and_what_computed_it():
    stated = account(874, 16, 3, 2.0).as_json()
    assert stated["schema"] == "promptdp/calibration/1"
    assert (stated["slots"], stated["expected"], stated["rounds"], stated["sigma"]) == (874, 16, 3, 2.0)
    assert (stated["q"], stated["q_fraction"]) == (16 / 874, "16/874")
    assert stated["delta"] == 1 / 8740
    assert stated["epsilon_target"] is None and stated["method"] == "given"
    assert stated["relation"] == "add-or-remove-one"
    assert set(stated["versions"]) == {"dp-accounting", "opacus"}
    assert json.loads(json.dumps(stated, allow_nan=False)) == stated


def test_numbers_of_numpy_are_taken_and_written_as_plain_ones():
    found = account(np.int64(874), np.int64(16), np.int64(3), np.float64(2.0))
    assert json.loads(json.dumps(found.as_json())) == account(874, 16, 3, 2.0).as_json()


GOOD = {"slots": 100, "expected": 10, "rounds": 10, "noise_multiplier": 1.0, "delta": 1e-3}
BAD = [
    {"slots": 0},
    {"slots": 100.0},
    {"expected": 0},
    {"expected": 120},
    {"expected": math.nan},
    {"rounds": 0},
    {"rounds": -1},
    {"rounds": 2.5},
    {"noise_multiplier": 0.0},
    {"noise_multiplier": -1.0},
    {"noise_multiplier": math.nan},
    {"noise_multiplier": math.inf},
    {"delta": 0.0},
    {"delta": -1e-3},
    {"delta": 0.01},
    {"delta": 1.0},
    {"delta": 1.5},
    {"delta": math.nan},
    {"delta": 1e-16},
]


@pytest.mark.parametrize("function", [account, epsilon_pld, epsilon_rdp])
@pytest.mark.parametrize("change", BAD, ids=str)
def test_a_value_out_of_range_is_refused_by_name(function, change):
    with pytest.raises(InputError, match="|".join([*change, "sigma"])) as refusal:
        function(**(GOOD | change))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, "8"])
def test_a_target_that_is_no_budget_is_refused(epsilon):
    with pytest.raises(InputError, match="epsilon"):
        calibrate(100, 10, 10, epsilon)


@pytest.mark.parametrize("method", ["fast", "paper-bisection"])
def test_a_target_that_needs_no_noise_is_refused(method):
    with pytest.raises(InputError, match="almost no noise"):
        calibrate(100, 10, 10, 1e6, method=method)


@pytest.mark.parametrize("method", ["fast", "paper-bisection"])
def test_a_target_that_no_noise_in_sight_meets_is_refused(method, monkeypatch):
    monkeypatch.setattr("promptdp.privacy.accounting.pld_epsilon", lambda *_, **__: 1.0)
    with pytest.raises(InputError, match="more noise than an accountant can tell"):
        calibrate(100, 10, 10, 0.5, method=method)


@pytest.mark.parametrize(
    ("slots", "expected", "rounds", "target", "delta"),
    [
        (10, 10, 10_000, 1e-4, 0.01),
        pytest.param(10, 10, 1, 1e-12, 0.01, marks=pytest.mark.slow),
        pytest.param(1000, 1, 1, 0.01, 0.0009, marks=pytest.mark.slow),
    ],
)
def test_where_epsilon_falls_off_to_zero_the_search_still_ends_within_the_target(
    slots, expected, rounds, target, delta
):
    found = calibrate(slots, expected, rounds, target, delta)
    assert found.epsilon_pld <= target
    assert epsilon_pld(slots, expected, rounds, 0.9 * found.noise_multiplier, delta) > target


def test_an_unknown_method_is_refused_with_those_there_are():
    with pytest.raises(InputError, match="fast, paper-bisection"):
        calibrate(100, 10, 10, 8.0, method="guess")


def test_accounting_needs_no_torch():
    code = (
        "import sys; from promptdp.privacy.accounting import account\n"
        "account(100, 10, 1, 2.0); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.fixture
def cases(shared):
    return SimpleNamespace(**json.loads((shared / "cases" / "accounting.json").read_text()))


def test_the_shared_accounting_cases_are_met(cases):
    for case in cases.cases:
        n, m, T, delta, accept = case["n"], case["m"], case["T"], case["delta"], case["accept"]
        if case["mode"] == "epsilon":
            assert accept["eps_min"] <= epsilon_pld(n, m, T, case["sigma"], delta) <= accept["eps_max"], case[
                "id"
            ]
        else:
            found = calibrate(n, m, T, case["target_eps"], delta)
            assert found.epsilon_pld <= case["target_eps"], case["id"]
            assert accept["sigma_min"] <= found.noise_multiplier <= accept["sigma_max"], case["id"]


@pytest.mark.parametrize(
    "mechanism",
    [(6988, 128, 50, 0.4842404738068581), (6961, 128, 100, 0.52), (10, 4, 4, 0.53), (874, 16, 50, 10.0)],
)
def test_the_quick_bound_is_never_below_the_epsilon_and_close_above_it(mechanism):
    slots, expected, rounds, sigma = mechanism
    exact = Mechanism(slots, expected, rounds, sigma, 1.0, 1 / (10 * slots))
    assert 1 <= epsilon_bound(exact) / epsilon_retained(exact) <= 1 + 1e-4


@pytest.mark.parametrize("sigma", [9e-3, 1e-100, 1e-300])
def test_almost_no_noise_is_refused_and_has_no_small_bound(sigma):
    assert epsilon_bound(Mechanism(10, 4, 4, sigma, 1.0, 0.01)) == math.inf
    with pytest.raises(InputError, match="outside what accountants can tell"):
        account(10, 4, 4, sigma, 0.01)


@pytest.mark.parametrize("sigma", [2e7, 1e155, 1e300])
def test_more_noise_than_accountants_can_tell_is_refused_and_has_a_bound(sigma):
    assert epsilon_bound(Mechanism(10, 4, 4, sigma, 1.0, 0.01)) < 1e-3
    with pytest.raises(InputError, match="outside what accountants can tell"):
        account(10, 4, 4, sigma, 0.01)


def test_no_noise_has_no_bound():
    assert epsilon_bound(Mechanism(10, 4, 4, 0, math.inf, 0.01)) == math.inf


def test_the_shared_bad_inputs_are_refused(cases):
    for case in cases.bad_inputs:
        given = {
            key: float(value) if isinstance(value, str) else value for key, value in case["input"].items()
        }
        places = given["n"], given["m"], given["T"]
        with pytest.raises(InputError):
            if "target_eps" in given:
                calibrate(*places, given["target_eps"], given.get("delta"))
            else:
                account(*places, given["sigma"], given.get("delta"))
