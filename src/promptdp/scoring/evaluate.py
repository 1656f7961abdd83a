"""Values of expressions: exact rationals where possible, else multiple-precision numbers, at one place.

A place gives every variable a rational value. Work is counted before it is done; nothing here looks at a
clock or at anything but the expression.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, partial, reduce
from math import comb, factorial, floor, gcd, isqrt, lcm
from typing import Any

from mpmath.ctx_mp import MPContext

from promptdp.scoring.forms import TRIGONOMETRIC
from promptdp.scoring.limits import BITS, Budget, LimitError
from promptdp.scoring.nodes import Node

CONSTANTS = {"e", r"\pi", "i"}
Place = Callable[[str], Fraction]
CONTEXT = 100
"""What it costs to make a context of mpmath, in operations: it holds hundreds of functions."""


class UndefinedError(Exception):
    """The expression has no value (a division by zero, a set inside a sum)."""


def bits(value: Fraction) -> int:
    """The size of a rational."""
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def integer_root(value: int, index: int) -> int | None:
    """The exact root of a natural number; None when it is irrational."""
    if index == 2:
        root = isqrt(value)
    else:
        root, high = 0, 1 << -(-value.bit_length() // index)
        while root < high:
            middle = (root + high + 1) // 2
            root, high = (middle, high) if middle**index <= value else (root, middle - 1)
    return root if root**index == value else None


class Evaluator:
    """Evaluates expressions at one place and one precision (in bits)."""

    def __init__(self, place: Place, precision: int, budget: Budget):
        self.place = place
        self.budget = budget
        self.precision = precision
        self.widest = 0
        """Bits before the binary point of the greatest number so far, or those that a sum has cancelled."""

    @cached_property
    def mp(self) -> MPContext:
        """The evaluator's own context: nothing is shared with other comparisons."""
        self.budget.spend(CONTEXT)
        context = MPContext()
        context.prec = self.precision
        return context

    # -- bookkeeping

    def exact(self, value: Fraction) -> Fraction:
        """The same rational, its size checked."""
        if bits(value) > BITS:
            raise LimitError
        return value

    def rounded(self, value: Any) -> Any:
        """The same finite number, its magnitude checked and noted."""
        if not self.mp.isfinite(value):
            raise UndefinedError
        if isinstance(value, self.mp.mpc):
            value = self.without_noise(value)
        if value:
            size = int(self.mp.mag(value))
            if abs(size) > BITS:
                raise LimitError
            self.widest = max(self.widest, size)
        return value

    def without_noise(self, value: Any) -> Any:
        """The same complex number, without a part that is only the rounding of the other one."""
        real, imaginary = (self.mp.mag(part) for part in (value.real, value.imag))
        if imaginary < real - self.precision + NOISE:
            return value.real
        return self.mp.mpc(0, value.imag) if real < imaginary - self.precision + NOISE else value

    def inexact(self, value: Any) -> Any:
        """The value as a multiple-precision number."""
        if isinstance(value, Fraction):
            return self.mp.mpf(value.numerator) / value.denominator
        return value

    def spend(self, weight: int = 1) -> None:
        """Count work whose cost grows with the precision."""
        self.budget.spend(weight * (1 + self.precision // 256))

    def spend_elementary(self) -> None:
        """Count an elementary function or a power, whose cost grows faster than the precision."""
        self.spend(16 * (1 + self.precision // 1024))

    # -- the tree

    def value(self, node: Node) -> Any:
        """The value of an expression: a Fraction, or a real or complex multiple-precision number.

        Raises:
            UndefinedError: it has none.
            LimitError: it is too large, or the work too much.
        """
        self.spend()
        method: Callable[[Node], Any] | None = getattr(self, f"_{node.kind}", None)
        if method is None:
            raise UndefinedError
        return method(node)

    def _number(self, node: Node) -> Fraction:
        return self.exact(node.value or Fraction(0))

    def _symbol(self, node: Node) -> Any:
        if node.name in CONSTANTS:
            return {"e": +self.mp.e, r"\pi": +self.mp.pi, "i": self.mp.mpc(0, 1)}[node.name]
        return self.place(node.name)

    def _sum(self, node: Node) -> Any:
        return reduce(self.add, [self.value(child) for child in node.children])

    def _product(self, node: Node) -> Any:
        return reduce(self.multiply, [self.value(child) for child in node.children])

    def _percent(self, node: Node) -> Any:
        return self.multiply(self.value(node.children[0]), Fraction(1, 100))

    def _degree(self, node: Node) -> Any:
        return self.value(node.children[0])

    def _ratio(self, node: Node) -> Any:
        if len(node.children) != 2:
            raise UndefinedError
        top, bottom = (self.value(child) for child in node.children)
        return self.multiply(top, self.raise_to(bottom, Fraction(-1)))

    def _power(self, node: Node) -> Any:
        base, exponent = (self.value(child) for child in node.children)
        return self.raise_to(base, exponent)

    def add(self, a: Any, b: Any) -> Any:
        """The sum of two values."""
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            self.budget.spend(1 + (bits(a) + bits(b)) // 256)
            return self.exact(a + b)
        self.spend()
        a, b = self.inexact(a), self.inexact(b)
        total = self.rounded(a + b)
        lost = max(self.mp.mag(a), self.mp.mag(b)) - self.mp.mag(total) if total else self.precision
        # What is left of two terms that cancel to the last bits is their rounding; the value may be zero.
        if lost > self.precision - NOISE:
            return self.mp.zero
        self.widest = max(self.widest, int(lost))
        return total

    def multiply(self, a: Any, b: Any) -> Any:
        """The product of two values."""
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            self.budget.spend(1 + (bits(a) + bits(b)) // 256)
            return self.exact(a * b)
        self.spend()
        return self.rounded(self.inexact(a) * self.inexact(b))

    def raise_to(self, base: Any, exponent: Any) -> Any:
        """A power; an odd root of a negative number is its real root."""
        if base == 0:
            if not isinstance(exponent, Fraction) or exponent <= 0:
                raise UndefinedError
            return base
        if isinstance(exponent, Fraction):
            if isinstance(base, Fraction):
                return self.rational_power(base, exponent)
            if exponent.denominator % 2 and exponent.denominator > 1 and self.is_real(base) and base.real < 0:
                root = self.raise_to(-base.real, exponent)
                return -root if exponent.numerator % 2 else root
            if exponent.denominator <= 2:
                return self.half_power(base, exponent)
        self.spend_elementary()
        base, exponent = self.inexact(base), self.inexact(exponent)
        if abs(exponent) > BITS or abs(exponent) * (1 + abs(self.mp.mag(base))) > BITS:
            raise LimitError
        return self.rounded(self.mp.power(base, exponent))

    def rational_power(self, base: Fraction, exponent: Fraction) -> Any:
        """The power of two rationals, exact when it is rational."""
        top, index = exponent.numerator, exponent.denominator
        if base not in (1, -1) and bits(base) * abs(top) > BITS * (1 if index == 1 else index):
            raise LimitError
        self.budget.spend(1 + bits(base) * min(abs(top), BITS) // 256)
        if index == 1:
            return self.exact(base**top if abs(base) != 1 else base ** (top % 2))
        if base < 0 and index % 2:
            root = self.rational_power(-base, exponent)
            return -root if top % 2 else root
        if base > 0 and index < 64:
            self.budget.spend(bits(base) * (1 + bits(base) // 256))
            roots = integer_root(base.numerator, index), integer_root(base.denominator, index)
            if roots[0] is not None and roots[1] is not None:
                return self.rational_power(Fraction(roots[0], roots[1]), Fraction(top))
        if index == 2:
            return self.half_power(self.inexact(base), exponent)
        self.spend_elementary()
        if bits(base) * abs(top) > BITS * index:
            raise LimitError
        return self.rounded(self.mp.power(self.inexact(base), self.inexact(exponent)))

    def half_power(self, base: Any, exponent: Fraction) -> Any:
        """A power of a number or of its square root."""
        top = exponent.numerator
        self.spend(4 + top.bit_length())
        root = base if exponent.denominator == 1 else self.mp.sqrt(base)
        if abs(top) * (1 + abs(self.mp.mag(root))) > BITS:
            raise LimitError
        return self.rounded(root**top)

    def is_real(self, value: Any) -> bool:
        """Whether a value is real; a negligible imaginary part is none."""
        if isinstance(value, Fraction) or not isinstance(value, self.mp.mpc):
            return True
        return abs(value.imag) <= abs(value.real) * self.mp.mpf(2) ** (-self.precision // 2)

    # -- known functions

    def _call(self, node: Node) -> Any:
        name, arguments = node.name, [self.value(child) for child in node.children]
        exact = all(isinstance(argument, Fraction) for argument in arguments)
        if name in RATIONAL:
            return self.rational(name, arguments) if exact else self.irrational(name, arguments)
        if name in TRIGONOMETRIC and len(arguments) == 1 and node.children[0].kind == "degree":
            arguments = [self.multiply(arguments[0], self.mp.pi / 180)]
        return self.transcendental(name, arguments)

    def rational(self, name: str, arguments: list[Fraction]) -> Any:
        """A function that maps rationals to rationals, at rationals."""
        first = arguments[0]
        if name == "abs":
            return abs(first)
        if name in ("lfloor", "lceil"):
            return Fraction(floor(first) if name == "lfloor" else -floor(-first))
        if name in ("max", "min"):
            return max(arguments) if name == "max" else min(arguments)
        whole = [argument.numerator for argument in arguments if argument.denominator == 1]
        if name in ("gcd", "lcm"):
            if len(whole) < len(arguments):
                raise UndefinedError
            return reduce(partial(self.common, gcd if name == "gcd" else lcm), map(Fraction, whole))
        if len(whole) == len(arguments) and all(number >= 0 for number in whole):
            if whole[0] > BITS or (name == "factorial" and whole[0] * whole[0].bit_length() > BITS):
                raise LimitError
            self.budget.spend(1 + whole[0])
            count = factorial(whole[0]) if name == "factorial" else comb(whole[0], whole[1])
            return self.exact(Fraction(count))
        return self.gamma(name, arguments)

    def common(self, function: Callable[[int, int], int], a: Fraction, b: Fraction) -> Fraction:
        """The greatest common divisor or least common multiple of two integers."""
        self.budget.spend(1 + (bits(a) + bits(b)) // 256)
        return self.exact(Fraction(function(a.numerator, b.numerator)))

    def gamma(self, name: str, arguments: list[Any]) -> Any:
        """A factorial or binomial coefficient away from the naturals."""
        # The first gamma at a precision makes a table whose cost grows with the precision's fourth power.
        self.budget.spend(16 * (1 + self.precision // 256) ** 4)
        if any(abs(argument) > 1000 for argument in arguments):
            raise LimitError
        values = [self.inexact(argument) for argument in arguments]
        try:
            result = self.mp.factorial(values[0]) if name == "factorial" else self.mp.binomial(*values)
        except (ValueError, TypeError):
            raise UndefinedError from None
        return self.rounded(result)

    def irrational(self, name: str, arguments: list[Any]) -> Any:
        """The same functions at other values."""
        values = [self.inexact(argument) for argument in arguments]
        if name == "abs":
            return self.rounded(abs(values[0]))
        if name in ("gcd", "lcm") or not all(self.is_real(value) for value in values):
            raise UndefinedError
        values = [value.real for value in values]
        if name in ("max", "min"):
            return max(values) if name == "max" else min(values)
        if name in ("lfloor", "lceil"):
            if self.mp.mag(values[0]) > self.precision // 2:
                raise LimitError
            if abs(values[0] - self.mp.nint(values[0])) < self.mp.mpf(2) ** (-self.precision // 2):
                raise UndefinedError
            return Fraction(int(self.mp.floor(values[0]) if name == "lfloor" else self.mp.ceil(values[0])))
        return self.gamma(name, values)

    def transcendental(self, name: str, arguments: list[Any]) -> Any:
        """An elementary function of multiple-precision numbers."""
        function = ELEMENTARY.get(name)
        if function is None:
            raise UndefinedError
        self.spend_elementary()
        values = [self.inexact(argument) for argument in arguments]
        if any(abs(value) > BITS for value in values) and name not in ("log", "ln", "arctan"):
            raise LimitError
        try:
            return self.rounded(function(self.mp, *values))
        except (ValueError, TypeError, ZeroDivisionError):
            raise UndefinedError from None


NOISE = 16
"""Last bits of a sum that rounding may have made."""
RATIONAL = {"abs", "lfloor", "lceil", "factorial", "binomial", "gcd", "lcm", "max", "min"}
"""Functions that map rationals to rationals."""
ELEMENTARY: dict[str, Callable[..., Any]] = {
    "sin": lambda mp, x: mp.sin(x),
    "cos": lambda mp, x: mp.cos(x),
    "tan": lambda mp, x: mp.tan(x),
    "sec": lambda mp, x: 1 / mp.cos(x),
    "csc": lambda mp, x: 1 / mp.sin(x),
    "cot": lambda mp, x: mp.cos(x) / mp.sin(x),
    "arcsin": lambda mp, x: mp.asin(x),
    "arccos": lambda mp, x: mp.acos(x),
    "arctan": lambda mp, x: mp.atan(x),
    "sinh": lambda mp, x: mp.sinh(x),
    "cosh": lambda mp, x: mp.cosh(x),
    "tanh": lambda mp, x: mp.tanh(x),
    "exp": lambda mp, x: mp.exp(x),
    "ln": lambda mp, x: mp.ln(x),
    "log": lambda mp, x, base=10: mp.ln(x) / mp.ln(base),
}
