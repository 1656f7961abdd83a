"""How numbers are written."""

import pytest

from promptdp.reporting import cells


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (0.5754, "0.58"),
        (0.013, "0.013"),
        (6.4e-5, "6.4×10⁻⁵"),
        (2.3e-17, "2.3×10⁻¹⁷"),
        (0.0, "<10⁻³⁰⁰"),
    ],
)
def test_p_values_have_two_digits(value, text):
    assert cells.scientific(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(2.654, "+2.65"), (-0.14, "-0.14"), (0.0, "0.00"), (-0.001, "0.00"), (0.004, "0.00")]
)
def test_differences_have_a_sign_unless_they_are_zero(value, text):
    assert cells.signed(value) == text


@pytest.mark.parametrize(("value", "text"), [(-0.0001, "0.00"), (-1.005, "-1.00"), (12.345, "12.35")])
def test_no_negative_zero_is_written(value, text):
    assert cells.fixed(value, 2) == text


@pytest.mark.parametrize(
    ("delta", "text"), [(1 / 69880, "1/69,880"), (1e-5, "1/100,000"), (3e-6, "3.0×10⁻⁶")]
)
def test_delta_is_a_fraction_where_it_is_one(delta, text):
    assert cells.one_over(delta) == text


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ([0.5, 2.0], "+1.00 [0.50, 2.00]"),
        ([-0.5, 2.0], "+1.00 [-0.50, 2.00], MDE 1.50"),
        ([0.0, 2.0], "+1.00 [0.00, 2.00], MDE 1.50"),
    ],
)
def test_a_gain_shows_its_mde_exactly_where_the_interval_includes_zero(ends, text):
    assert cells.gain({"difference_pp": 1.0, "ci95_pp": ends, "mde_pp": 1.5}).text == text
