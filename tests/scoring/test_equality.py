"""Equality is decided by value: constants exactly, polynomials as functions, irrationals to any depth."""

import sys
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdp.scoring.equality import answers_equal, equal
from promptdp.scoring.evaluate import integer_root
from promptdp.scoring.limits import Budget, LimitError
from promptdp.scoring.matching import matched
from promptdp.scoring.nodes import symbol
from promptdp.scoring.parser import ParseError, parse
from promptdp.scoring.points import POINTS, point
from promptdp.scoring.verdict import Reason

from .cases import BOXED as OWN
from .tables.boxed import BOXED

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


# -- symmetry: of the reading itself, not only of the order in which it takes two texts

PAIRS = sorted({case[:2] for table in (OWN, BOXED) for cases in table.values() for case in cases})


def judged_in_order(ours: str, theirs: str) -> bool | None:
    """What comparing the two trees says in this very order; None where they are not read or over a cap."""
    try:
        budget = Budget()
        return answers_equal(parse(ours, budget).value, parse(theirs, budget).value, budget)
    except (ParseError, LimitError):
        return None


def test_equality_is_symmetric_and_reflexive_on_every_pair_of_the_tables():
    for ours, theirs in PAIRS:
        assert equal(ours, theirs) == equal(theirs, ours), (ours, theirs)
        assert judged_in_order(ours, theirs) == judged_in_order(theirs, ours), (ours, theirs)
        for text in (ours, theirs):
            assert equal(text, text).correct or not text.strip() or equal(text, text).reason is Reason.LIMIT


ANSWERS = st.recursive(
    st.one_of(
        RATIONAL.map(lambda pair: pair[0]),
        st.sampled_from(
            ["x", "y", r"\sqrt{2}", r"\pi", "|x|", "x^2", "f(x)", r"\pm 1", r"16\%", "0.16", "16"]
        ),
    ),
    lambda parts: st.one_of(
        st.lists(parts, min_size=2, max_size=3).map(", ".join),
        st.lists(parts, min_size=2, max_size=3).map(lambda items: rf"\{{{', '.join(items)}\}}"),
        st.tuples(st.sampled_from("(["), parts, parts, st.sampled_from(")]")).map(
            lambda p: f"{p[0]}{p[1]}, {p[2]}{p[3]}"
        ),
        st.tuples(parts, st.sampled_from(["=", "<", r"\ge", r"\ne", r"\in", ":"]), parts).map(" ".join),
        parts.map(lambda part: f"x = {part}"),
    ),
    max_leaves=4,
)


@settings(max_examples=300, deadline=None)
@given(ours=ANSWERS, theirs=ANSWERS)
def test_equality_of_answers_of_any_type_is_symmetric_and_reflexive(ours, theirs):
    assert equal(ours, theirs) == equal(theirs, ours)
    assert judged_in_order(ours, theirs) == judged_in_order(theirs, ours)
    assert equal(ours, ours).correct


@settings(max_examples=100, deadline=None)
@given(edges=st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_items_are_paired_whenever_some_pairing_is_of_equals(edges):
    left, right = ([symbol(f"{side}{index}") for index in range(4)] for side in "ab")

    def same(a, b):
        return (int(a.name[1]), int(b.name[1])) in edges

    exists = any(
        all((item, chosen) in edges for item, chosen in enumerate(order)) for order in permutations(range(4))
    )
    assert matched(left, right, same) is exists


# -- soundness of the values at fixed points

APART = [
    # equal on one piece only
    (r"|x-5|", "5-x"),
    (r"\sqrt{(x-10)^2}", "10-x"),
    (r"\max(x,10)", "10"),
    (r"|x|+|x-4|", "|x|+4-x"),
    (r"|x-5|+|x-6|", "|2x-11|"),
    (r"|x-300|", "300-x"),
    (r"\lfloor x\rfloor", r"\lceil x\rceil-1"),
    (r"\lfloor 2x\rfloor", r"2\lfloor x\rfloor"),
    (r"\arctan(\tan x)", "x"),
    (r"\min(x,y,z)", r"\min(x,y)"),
    (r"\gcd(a,b)", r"\operatorname{lcm}(a,b)"),
    # equal where both are real, not where one is
    (r"\ln x^2", r"2\ln x"),
    (r"\sqrt{x}\sqrt{y}", r"\sqrt{xy}"),
    (r"x^{2/3}", "-x^{2/3}"),
    # equal at values of one denominator, or at integers
    (r"\sin(997\pi x)", "0"),
    (r"\cos(2\pi n)", "1"),
    ("(-1)^n", "1"),
    ("(-1)^n", "-1"),
    # constants that differ late, or that are small
    (r"e^{\pi\sqrt{163}}", "262537412640768744"),
    ("2^{1/2^{1000}}", "1"),
    ("(1+10^{-50})^{1/3}", "1"),
    (r"\sin(10^{-200})", "10^{-200}"),
    (r"\sin(10^{-200})-10^{-200}+\frac{10^{-600}}{6}", "0"),
    (r"\sqrt{10^{400}+1}-10^{200}", "0"),
    (r"10^{-4000}\sqrt2", "0"),
    (r"\sqrt2\cdot 10^{-300}", r"\sqrt3\cdot 10^{-300}"),
    (r"\tanh(100)", "1"),
    (r"\frac{\pi}{2}", r"\arctan(10^{300})"),
    (r"\sqrt{2}+\sqrt{3}", r"\sqrt{5+2\sqrt{6}}+10^{-60}"),
    # what rounding makes of a zero
    (r"\lfloor\sqrt2\sqrt2\rfloor", "1"),
    (r"\frac{1}{\sqrt8-2\sqrt2}", "10^{77}"),
    # undefined functions of nearly equal arguments
    (r"f(\sqrt2+10^{-40})", r"f(\sqrt2)"),
    ("f(1/3)", "f(0." + "3" * 40 + ")"),
    ("f(x)=x+y", "f(y)=y+x"),
]
TOGETHER = [
    ("|x-5|", "|5-x|"),
    (r"\max(x,y)", r"\frac{x+y+|x-y|}{2}"),
    (r"\lfloor x+1\rfloor", r"\lfloor x\rfloor+1"),
    (r"\frac{x^3}{|x|}", "x|x|"),
    (r"\sqrt{x^2-6x+9}", "|x-3|"),
    (r"x^{1/3}x^{2/3}", "x"),
    (r"\sqrt2\cdot 10^{-300}", r"\sqrt{2\cdot10^{-600}}"),
    (r"\sqrt{2}+\sqrt{3}+\sqrt{5}", r"\sqrt{10+2\sqrt6+2\sqrt{10}+2\sqrt{15}}"),
    (r"\sqrt[3]{2+\sqrt5}+\sqrt[3]{2-\sqrt5}", "1"),
    (r"\frac{1}{\sqrt2+\sqrt3+\sqrt5}", r"\frac{3\sqrt2+2\sqrt3-\sqrt{30}}{12}"),
    (r"16\arctan\frac15-4\arctan\frac1{239}", r"\pi"),
    (r"\cos 36^\circ", r"\frac{1+\sqrt5}{4}"),
    (r"f(\sqrt8)", r"f(2\sqrt2)"),
    ("f(f(2x+2))", "f(f(2(x+1)))"),
]


@pytest.mark.parametrize(("ours", "theirs"), APART)
def test_expressions_that_differ_somewhere_are_not_equal(ours, theirs):
    assert not equal(ours, theirs).correct


@pytest.mark.parametrize(("ours", "theirs"), TOGETHER)
def test_expressions_that_agree_everywhere_are_equal(ours, theirs):
    assert equal(ours, theirs).correct


@settings(max_examples=60, deadline=None)
@given(breaks=st.lists(st.integers(-40, 40), min_size=1, max_size=2, unique=True), data=st.data())
def test_a_distance_equals_no_one_of_its_pieces(breaks, data):
    bars = "+".join(f"|x-({number})|" for number in breaks)
    signs = data.draw(st.lists(st.sampled_from([1, -1]), min_size=len(breaks), max_size=len(breaks)))
    piece = "+".join(f"({sign})(x-({number}))" for sign, number in zip(signs, breaks, strict=True))
    assert not equal(bars, piece).correct
    assert equal(bars, "+".join(f"|({number})-x|" for number in reversed(breaks))).correct
