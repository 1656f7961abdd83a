"""Equality is decided by value: constants exactly, polynomials as functions, irrationals to any depth."""

import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdp.scoring.equality import equal
from promptdp.scoring.evaluate import POINTS, integer_root, point
from promptdp.scoring.verdict import Reason

SMALL = st.integers(-30, 30)


def constant(value: int) -> tuple[str, Fraction]:
    return (f"{value}" if value >= 0 else f"({value})"), Fraction(value)


def combined(children):
    """Pairs (LaTeX, value) built from smaller pairs, the value by Python's own rationals."""
    pair = st.tuples(children, children)
    return st.one_of(
        pair.map(lambda p: (f"({p[0][0]}+{p[1][0]})", p[0][1] + p[1][1])),
        pair.map(lambda p: (f"({p[0][0]}-{p[1][0]})", p[0][1] - p[1][1])),
        pair.map(lambda p: (rf"{p[0][0]} \cdot {p[1][0]}", p[0][1] * p[1][1])),
        pair.filter(lambda p: p[1][1] != 0).map(
            lambda p: (rf"\frac{{{p[0][0]}}}{{{p[1][0]}}}", p[0][1] / p[1][1])
        ),
        children.map(lambda c: (rf"\left({c[0]}\right)^{{2}}", c[1] ** 2)),
    )


RATIONAL = st.recursive(SMALL.map(constant), combined, max_leaves=8)


@settings(max_examples=150, deadline=None)
@given(ours=RATIONAL, theirs=RATIONAL)
def test_rational_constants_are_equal_exactly_when_their_values_are(ours, theirs):
    assert equal(ours[0], theirs[0]).correct == (ours[1] == theirs[1])
    value = ours[1]
    assert equal(ours[0], rf"\frac{{{value.numerator}}}{{{value.denominator}}}").correct


@settings(max_examples=100, deadline=None)
@given(roots=st.lists(SMALL, min_size=1, max_size=4), other=st.lists(SMALL, min_size=1, max_size=4))
def test_polynomials_are_equal_exactly_when_their_coefficients_are(roots, other):
    def expanded(numbers):
        coefficients = [1]
        for root in numbers:
            shifted, scaled = [0, *coefficients], [*(-root * c for c in coefficients), 0]
            coefficients = [a + b for a, b in zip(shifted, scaled, strict=True)]
        return "+".join(f"({c})x^{{{i}}}" for i, c in enumerate(coefficients))

    factored = "".join(f"(x-({root}))" for root in roots)
    assert equal(factored, expanded(roots)).correct
    assert equal(factored, expanded(other)).correct == (sorted(roots) == sorted(other))


@settings(max_examples=60, deadline=None)
@given(a=st.integers(2, 400), b=st.integers(2, 400))
def test_sums_of_square_roots_square_to_what_algebra_says(a, b):
    nested = rf"\sqrt{{{a + b}+2\sqrt{{{a * b}}}}}"
    assert equal(rf"\sqrt{{{a}}}+\sqrt{{{b}}}", nested).correct
    assert not equal(rf"\sqrt{{{a}}}+\sqrt{{{b + 1}}}", nested).correct


@pytest.mark.parametrize("digits", [3, 15, 40, 200, 900])
def test_a_decimal_never_equals_an_irrational_however_long_it_is(digits):
    root = integer_root_floor(2 * 100**digits)
    decimal = f"{root // 10**digits}.{root % 10**digits:0{digits}}"
    assert equal(decimal, r"\sqrt{2}").reason in {Reason.DIFFERENT, Reason.LIMIT}


def integer_root_floor(value: int) -> int:
    low, high = 0, value
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle * middle <= value else (low, middle - 1)
    return low


@pytest.mark.parametrize("index", [2, 3, 5, 13])
def test_exact_roots_are_found_and_no_others(index):
    for root in (1, 2, 9, 10**9 + 7):
        assert integer_root(root**index, index) == root
        assert integer_root(root**index + 1, index) is None


def test_a_variable_has_its_own_value_below_one_above_one_and_below_zero():
    values = [point("x", index) for index in range(POINTS)]
    assert 0 < values[0] < 1 < values[1]
    assert values[2] < 0
    assert len(set(values)) == POINTS
    assert all(point("y", index) != value for index, value in enumerate(values))


def test_equality_needs_little_of_the_stack():
    deep = r"\sqrt{1+" * 12 + "2" + "}" * 12
    limit = sys.getrecursionlimit()

    def below(frames):
        return below(frames - 1) if frames else equal(deep, deep + "+0").correct

    assert below(limit // 2)


@settings(max_examples=80, deadline=None)
@given(items=st.lists(RATIONAL, min_size=2, max_size=4), data=st.data())
def test_the_order_of_a_list_does_not_matter_and_that_of_a_tuple_does(items, data):
    shuffled = data.draw(st.permutations(items))
    ours, theirs = (", ".join(item[0] for item in row) for row in (items, shuffled))
    assert equal(ours, theirs).correct
    same = [item[1] for item in items] == [item[1] for item in shuffled]
    assert equal(f"({ours})", f"({theirs})").correct == same
