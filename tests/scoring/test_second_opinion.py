"""sympy's opinion, which never judges: expressions it builds are printed as LaTeX and compared with ours."""

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from promptdp.scoring.equality import equal

x, y = sympy.symbols("x y")
ATOM = st.one_of(st.integers(-9, 9).map(sympy.Integer), st.sampled_from([x, y]))
POLYNOMIAL = st.recursive(
    ATOM,
    lambda smaller: st.one_of(
        st.tuples(smaller, smaller).map(lambda pair: pair[0] + pair[1]),
        st.tuples(smaller, smaller).map(lambda pair: pair[0] * pair[1]),
        smaller.map(lambda part: part**2),
    ),
    max_leaves=5,
)


def says_equal(first: sympy.Expr, second: sympy.Expr) -> bool:
    return bool(equal(sympy.latex(first), sympy.latex(second)).correct)


@settings(max_examples=60, deadline=None)
@given(POLYNOMIAL)
def test_the_forms_that_sympy_gives_an_expression_are_equal(expression):
    for form in (sympy.expand(expression), sympy.factor(expression)):
        assert says_equal(expression, form)


@settings(max_examples=60, deadline=None)
@given(POLYNOMIAL, POLYNOMIAL)
def test_two_expressions_are_equal_exactly_when_sympy_expands_their_difference_to_zero(first, second):
    assert says_equal(first, second) == (sympy.expand(first - second) == 0)


@pytest.mark.parametrize(
    "value",
    [
        sympy.sqrt(8),
        sympy.sqrt(2) + sympy.sqrt(3),
        sympy.pi / 4,
        1 / (1 + sympy.sqrt(5)),
        sympy.Rational(22, 7),
    ],
)
def test_irrational_constants_are_equal_to_their_other_forms_and_to_nothing_near(value):
    assert says_equal(value, sympy.radsimp(value))
    assert not says_equal(value, value + sympy.Rational(1, 10**12))
