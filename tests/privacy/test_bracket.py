"""The second accountant: its bounds hold, are narrow, and contain what any correct accountant says."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import ndtr

from promptdp.errors import InputError
from promptdp.privacy import bracket as module
from promptdp.privacy.accounting import composed_epsilon, epsilon_pld
from promptdp.privacy.bracket import bracket
from promptdp.privacy.cells import Cells, cells

# Tables VI and VII; the JAX-Privacy reference; and harder ones: (n, m, T, sigma, delta)
ROWS = {
    "MATH, eps 1": (6988, 128, 50, 1.0023417361080647, 1 / 69880),
    "MATH, eps 4.23": (6988, 128, 50, 0.612058477104, 1 / 69880),
    "MATH, reference": (6988, 128, 50, 0.4842404738068581, 1 / 69880),
    "MATH, DP-SFT T=100": (6988, 128, 100, 0.519267738191411, 1 / 69880),
    "MATH, coverage": (6988, 512, 50, 0.7022244453430175, 1 / 69880),
    "MATH, canary": (6988, 128, 100, 0.612058477104, 1 / 69880),
    "GSM8K, CSQA": (6961, 128, 100, 0.5196564674377442, 1 / 69610),
    "JAX-Privacy": (10, 1, 512, 3.0, 1e-6),
    "ten thousand rounds": (60_000, 512, 10_000, 0.8, 1 / 600_000),
    "a tiny budget": (20_000, 500, 300, 14.174488801753045, 5e-6),
    "no sampling": (1200, 1200, 10, 2.5, 1 / 12_000),
    "little noise": (1000, 10, 10_000, 0.05, 1e-4),
    "little noise, no sampling": (1000, 1000, 10_000, 0.05, 1e-4),
    "nearly no sampling": (1000, 999, 20, 3.0, 1e-5),
    "a small delta": (6988, 128, 50, 0.4842404738068581, 1e-9),
}
LONG = {"little noise, no sampling", "a small delta"}
# The same by an integral in the complex plane, good to 1e-8: a third, independent computation.
TRUE = {
    "MATH, eps 1": 0.999999628670,
    "MATH, eps 4.23": 4.234855439241,
    "MATH, reference": 7.9999998683,
    "MATH, DP-SFT T=100": 7.999999774659,
    "MATH, coverage": 7.999980811164,
    "MATH, canary": 5.038497885486,
    "GSM8K, CSQA": 7.999999771462,
    "JAX-Privacy": 3.769683805,
    "ten thousand rounds": 9.114686579514,
    "a tiny budget": 0.1,
    "no sampling": 5.101527218614,
}


def split(row):
    *event, delta = ROWS[row]
    return tuple(event), delta


@pytest.mark.parametrize("row", [pytest.param(row, marks=[pytest.mark.slow] * (row in LONG)) for row in ROWS])
def test_the_accountants_value_lies_inside_and_the_bracket_is_narrow(row):
    event, delta = split(row)
    low, high = bracket([event], delta)
    assert low <= composed_epsilon([event], delta) <= high
    assert high - low <= 1e-3 * high + 3e-4


@pytest.mark.parametrize("row", TRUE)
def test_the_true_value_lies_inside_without_any_room_above(row, monkeypatch):
    monkeypatch.setattr(module, "_ROUNDED_UP", (0.0, 0.0))
    event, delta = split(row)
    low, high = bracket([event], delta)
    assert low - 1e-8 <= TRUE[row] <= high + 1e-8
    assert high - low <= 1e-3 * high


@pytest.mark.parametrize("row", ["MATH, eps 1", "JAX-Privacy"])
@pytest.mark.parametrize(("field", "factor"), [("sigma", 1.01), ("sigma", 0.99), ("q", 1.01), ("q", 0.99)])
def test_an_accountant_that_is_off_by_one_percent_falls_outside(row, field, factor):
    (n, m, T, sigma), delta = split(row)
    low, high = bracket([(n, m, T, sigma)], delta)
    if field == "sigma":
        wrong = epsilon_pld(n, m, T, factor * sigma, delta)
    else:
        wrong = epsilon_pld(1000 * n, round(factor * 1000 * m), T, sigma, min(delta, 1e-4 / n))
        if delta >= 1e-4 / n:
            low, high = bracket([(1000 * n, 1000 * m, T, sigma)], 1e-4 / n)
    assert not low <= wrong <= high


def exact_gaussian_epsilon(sigma, delta):
    """The analytic Gaussian mechanism of sensitivity 1, from its closed form."""

    def excess(epsilon):
        a, b = 1 / (2 * sigma) - epsilon * sigma, -1 / (2 * sigma) - epsilon * sigma
        return ndtr(a) - math.exp(epsilon) * ndtr(b) - delta

    return brentq(excess, 0, 200, xtol=1e-13)


@pytest.mark.parametrize(("sigma", "rounds"), [(2.5, 10), (0.8, 1), (30.0, 400), (5.0, 3)])
def test_without_sampling_the_closed_form_lies_inside(sigma, rounds, monkeypatch):
    monkeypatch.setattr(module, "_ROUNDED_UP", (0.0, 0.0))
    low, high = bracket([(1000, 1000, rounds, sigma)], 1e-5)
    assert low <= exact_gaussian_epsilon(sigma / math.sqrt(rounds), 1e-5) <= high


@pytest.mark.parametrize(
    ("n", "m", "sigma", "delta"), [(50, 5, 0.9, 1e-3), (5337, 2, 0.8, 1e-6), (9, 8, 3, 0.01)]
)
def test_one_sampled_rounds_closed_form_lies_inside(n, m, sigma, delta, monkeypatch):
    monkeypatch.setattr(module, "_ROUNDED_UP", (0.0, 0.0))
    q = m / n

    def excess(epsilon):  # remove: the loss grows with the output
        x = sigma**2 * math.log((math.exp(epsilon) - 1 + q) / q) + 0.5
        return (
            (1 - q) * ndtr(-x / sigma)
            + q * ndtr((1 - x) / sigma)
            - math.exp(epsilon) * ndtr(-x / sigma)
            - delta
        )

    low, high = bracket([(n, m, 1, sigma)], delta)
    assert low <= brentq(excess, 1e-9, 50, xtol=1e-14) <= high


def test_different_rounds_compose_to_the_closed_form(monkeypatch):
    monkeypatch.setattr(module, "_ROUNDED_UP", (0.0, 0.0))
    low, high = bracket([(100, 100, 4, 3.0), (100, 100, 9, 5.0)], 1e-5)
    assert low <= exact_gaussian_epsilon(1 / math.sqrt(4 / 3.0**2 + 9 / 5.0**2), 1e-5) <= high


HETEROGENEOUS = [
    ([(1000, 10, 40, 1.0), (1000, 30, 13, 0.8), (1000, 1000, 2, 20.0)], 1e-5),
    ([(874, 16, 50, 1.6), (874, 32, 4, 2.5), (874, 16, 3, 1.5)], 1 / 8740),
    ([(6988, 128, 50, 0.612058477104)] * 3, 1 / 69880),
]


@pytest.mark.parametrize(("events", "delta"), HETEROGENEOUS)
def test_the_composed_value_of_several_runs_lies_inside_in_any_order(events, delta):
    low, high = bracket(events, delta)
    assert low <= composed_epsilon(events, delta) <= high
    assert bracket(events[::-1], delta) == pytest.approx((low, high), rel=1e-9)


def test_a_run_that_is_left_out_falls_outside():
    events, delta = HETEROGENEOUS[0]
    low, _ = bracket(events, delta)
    assert composed_epsilon(events[1:], delta) < low


def test_a_budget_of_zero_is_bracketed_from_zero():
    low, high = bracket([(10, 1, 1, 50.0)], 0.09)
    assert low == 0 and high <= 2e-4


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    st.integers(10, 10**6),
    st.floats(1, 1e4),
    st.integers(1, 3000),
    st.floats(0.25, 30),
    st.floats(-3.5, -0.3),
)
def test_any_accounted_value_lies_inside(slots, share, rounds, sigma, log_delta):
    event = (slots, max(1, round(slots / share)), rounds, sigma)
    delta = max(10**log_delta / slots, 1e-10)
    low, high = bracket([event], delta)
    assert low <= composed_epsilon([event], delta) <= high


def test_the_shared_accounting_cases_lie_inside(shared):
    for case in json.loads((shared / "cases" / "accounting.json").read_text())["cases"]:
        sigma, exact = case.get("sigma"), case.get("eps_exact_contour_remove")
        if sigma is None:
            sigma, exact = case["sigma_exact_contour"], case["target_eps"]
        event = (case["n"], case["m"], case["T"], sigma)
        low, high = bracket([event], case["delta"])
        assert low <= exact <= high, case["id"]
        assert low <= composed_epsilon([event], case["delta"]) <= high, case["id"]


# --- against the accountant of Opacus --------------------------------------------------------------------


@pytest.mark.parametrize("row", ["MATH, reference", "MATH, eps 1", "JAX-Privacy"])
def test_the_bracket_lies_in_that_of_the_prv_accountant_of_opacus(row):
    from opacus.accountants import PRVAccountant

    (n, m, T, sigma), delta = split(row)
    accountant = PRVAccountant()
    accountant.history = [(sigma, m / n, T)]
    law = accountant._get_dprv(eps_error=0.01, delta_error=delta / 1000)
    lowest, _, highest = law.compute_epsilon(delta, delta / 1000, 0.01)
    low, high = bracket([(n, m, T, sigma)], delta)
    assert lowest <= low <= high <= highest
    assert accountant.get_epsilon(delta) == highest


# --- one round -------------------------------------------------------------------------------------------


def divergence(points, epsilon):
    """The hockey-stick divergence of a discrete law of the loss."""
    losses = points.first + points.step * np.arange(len(points.masses))
    over = losses > epsilon
    return points.infinite + float(points.masses[over] @ -np.expm1(epsilon - losses[over]))


def exact_divergence(q, sigma, epsilon, removes):
    """The hockey-stick divergence of the pair of equation (5): the outputs on one side of a threshold."""
    ratio = math.exp(epsilon if removes else -epsilon)  # of A to B at the threshold
    if ratio <= 1 - q:
        return 1 - math.exp(epsilon) if removes else 0.0
    x = sigma**2 * math.log((ratio - 1 + q) / q) + 0.5
    side = -1 if removes else 1
    b = ndtr(side * x / sigma)
    a = (1 - q) * b + q * ndtr(side * (x - 1) / sigma)
    return a - math.exp(epsilon) * b if removes else b - math.exp(epsilon) * a


@pytest.mark.parametrize(("q", "sigma"), [(0.3, 0.8), (1.0, 1.5), (0.02, 0.5), (0.9, 4.0)])
@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("count", [16, 64, 1024])
def test_a_rounds_pairs_enclose_its_hockey_stick_curve(q, sigma, removes, count):
    one = cells(q, sigma, 3.0 / count, 1e-12)[0 if removes else 1]
    above, below = one.spread(), one.merged()
    for epsilon in (-1.0, -0.01, 0.0, 0.013, 0.4, 1.7):
        exact = exact_divergence(q, sigma, epsilon, removes)
        assert divergence(below, epsilon) - 1e-9 <= exact <= divergence(above, epsilon) + 1e-9
    assert sum(above.masses) + above.infinite == pytest.approx(1, abs=1e-9)
    assert sum(below.masses) <= 1 + 1e-12


def test_merging_and_spreading_are_needed_to_enclose():
    """Doubles that leave a cell's whole mass at its nearer end are wrong on one side or the other."""
    one = cells(0.3, 0.8, 0.2, 1e-12)[0]
    ends = one.first + one.step * np.arange(len(one.masses) + 1)
    epsilon = 0.4
    exact = exact_divergence(0.3, 0.8, epsilon, True)
    for where, wrong in ((ends[:-1], "above"), (ends[1:], "below")):
        over = where > epsilon
        value = float(one.masses[over] @ -np.expm1(epsilon - where[over]))
        assert value < exact if wrong == "above" else value > exact


def test_a_cells_masses_are_those_of_exact_arithmetic():
    import mpmath

    one: Cells = cells(0.02, 0.5, 0.01, 1e-12)[0]
    with mpmath.workdps(40):
        for k in (0, 1, 7, 300, len(one.masses) - 2):
            ends = [
                0.5
                + mpmath.mpf("0.25")
                * mpmath.log((mpmath.exp(mpmath.mpf(one.first) + j * one.step) - 0.98) / 0.02)
                if j
                else -mpmath.inf
                for j in (k, k + 1)
            ]
            low, high = (
                mpmath.mpf("0.98") * mpmath.ncdf(x / 0.5) + mpmath.mpf("0.02") * mpmath.ncdf((x - 1) / 0.5)
                for x in ends
            )
            assert abs(one.masses[k] - (high - low)) <= one.errors[k] + 1e-12 * one.masses[k]


BAD = [
    ([], 1e-5),
    ([(100, 10, 5, 1.0), (200, 10, 5, 1.0)], 1e-5),
    ([(100, 10, 5, math.nan)], 1e-5),
    ([(100, 10, 5, 0.0)], 1e-5),
    ([(100, 10, 0, 1.0)], 1e-5),
    ([(100, 120, 5, 1.0)], 1e-5),
    ([(100, 10, 5, 1.0)], 0.01),
    ([(100, 10, 5, 1.0)], math.nan),
]


@pytest.mark.parametrize(("events", "delta"), BAD)
def test_what_no_accountant_could_state_is_refused(events, delta):
    with pytest.raises(InputError) as refusal:
        bracket(events, delta)
    assert "\n" not in str(refusal.value)


def test_it_uses_no_library_of_differential_privacy():
    code = (
        "import sys; from promptdp.privacy.bracket import bracket\n"
        "bracket([(100, 10, 5, 1.0)], 1e-4)\n"
        "sys.exit(bool({'dp_accounting', 'opacus', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
