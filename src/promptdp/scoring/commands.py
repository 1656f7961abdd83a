"""Commands with their arguments: fractions, roots, functions, sums, named figures, operations."""

from collections.abc import Callable
from fractions import Fraction

from promptdp.scoring.environments import MATRICES, environment
from promptdp.scoring.grammar import Grammar, ParseError
from promptdp.scoring.measures import CURRENCIES
from promptdp.scoring.nodes import Node, call, nary, negated, number, power, quotient, replaced, symbol, walk
from promptdp.scoring.notation import SYMBOLS
from promptdp.scoring.vocabulary import vocabulary

TRIGONOMETRIC = vocabulary("sin cos tan sec csc cot")
HYPERBOLIC = vocabulary("sinh cosh tanh")
OTHER = vocabulary("arcsin arccos arctan log ln exp gcd lcm max min det deg dim arg")
UNDEFINED = {f"arc{name}" for name in HYPERBOLIC}
"""Functions that are compared by their arguments only."""
FUNCTIONS = {rf"\{name}" for name in {*TRIGONOMETRIC, *HYPERBOLIC, *OTHER, *UNDEFINED, "cis"}}
BIG = {r"\sum", r"\prod", r"\int", r"\lim"}
TERMS = 4_000
"""Most nodes of a finite sum or product that is written out."""
VECTORS = {r"\vec", r"\overrightarrow", r"\hat", r"\mathbf"}
ACCENTS = VECTORS | {
    r"\overline", r"\overleftarrow", r"\overleftrightarrow", r"\widehat", r"\widetilde", r"\tilde", r"\dot",
    r"\ddot"
}  # fmt: skip
FIGURES = {r"\angle", r"\triangle", r"\square"}
OPERATIONS = {r"\bmod", r"\circ", r"\oplus", r"\otimes", r"\star", r"\diamond", r"\odot"}
"""Operations between two values that keep their order."""
CONTINUING = {r"\frac", r"\sqrt"} | SYMBOLS
"""Commands that go on with the argument of a function written without brackets."""


def command(grammar: Grammar, name: str) -> Node:
    """The node that a command begins.

    Raises:
        ParseError: the command is unknown: it may take arguments, or say anything of them.
    """
    if reader := READERS.get(name):
        return reader(grammar)
    if name in FUNCTIONS:
        return _function(grammar, name[1:])
    if name in BIG:
        return _big(grammar, name[1:])
    if name in MATRICES:
        return environment(grammar, name)
    if name in CURRENCIES:
        grammar.units.append(CURRENCIES[name])
        return grammar.factor()
    if name in ACCENTS:
        return _accented(grammar, name)
    if name in FIGURES:
        return _figure(grammar, name)
    if name in SYMBOLS or name.startswith(r"\mathbb"):
        return symbol(name)
    raise ParseError


def _root(grammar: Grammar) -> Node:
    index = number(2)
    if grammar.skip("["):
        index = grammar.sum()
        grammar.expect("]")
    if grammar.sees("{", "("):
        radicand = grammar.atom()
    elif grammar.kind() == "number":
        radicand = number(Fraction(grammar.take().text))
    else:
        radicand = grammar.argument()
    return power(radicand, power(index, number(-1)))


READERS: dict[str, Callable[[Grammar], Node]] = {
    r"\frac": lambda grammar: quotient(grammar.argument(), grammar.argument()),
    r"\binom": lambda grammar: call("binomial", grammar.argument(), grammar.argument()),
    r"\sqrt": _root,
    r"\neg": lambda grammar: Node("opaque", "not", (grammar.factor(),)),
    r"\mathbb{R}": lambda grammar: Node("reals"),
    r"\emptyset": lambda grammar: Node("empty"),
}


# -- functions


def _function(grammar: Grammar, name: str) -> Node:
    exponent = base = None
    while grammar.sees("^", "_"):
        if grammar.take().text == "^":
            exponent = grammar.script()
        else:
            base = grammar.argument()
    if exponent in (number(-1), negated(number(1))) and name in TRIGONOMETRIC | HYPERBOLIC:
        name, exponent = f"arc{name}", None
    # The degrees of an angle are no unit of its sine.
    units = len(grammar.units)
    argument = _function_argument(grammar)
    del grammar.units[units:]
    if name in TRIGONOMETRIC | {"cis"} and argument.kind != "degree":
        argument = replaced(argument, "degree", lambda angle: _radians(angle.children[0]))
    arguments = list(argument.children) if argument.kind in ("bracket", "set") else [argument]
    node = _applied(name, [*arguments, *([] if base is None else [base])])
    return node if exponent is None else power(node, exponent)


def _radians(degrees: Node) -> Node:
    """An angle in degrees, in radians."""
    return Node("product", children=(degrees, symbol(r"\pi"), number(Fraction(1, 180))))


def _applied(name: str, arguments: list[Node]) -> Node:
    """A function of its arguments; one that is not evaluated is opaque."""
    if name == "cis":
        imaginary = Node("product", children=(symbol("i"), call("sin", *arguments)))
        return Node("sum", children=(call("cos", *arguments), imaginary))
    known = name in TRIGONOMETRIC | HYPERBOLIC | OTHER
    return call(name, *arguments) if known else Node("opaque", name, tuple(arguments))


def _function_argument(grammar: Grammar) -> Node:
    """A parenthesis, or the numerals, variables, fractions and roots up to the next sign or function."""
    if grammar.sees("(", "|", "{"):
        return _with_degrees(grammar, grammar.atom())
    factors: list[Node] = [grammar.factor()]
    while grammar.kind() in ("number", "letter") or grammar.sees(*CONTINUING):
        factors.append(grammar.factor())
    return nary("product", factors)


def _with_degrees(grammar: Grammar, node: Node) -> Node:
    """A parenthesised argument keeps its degree mark; any other exponent belongs to the function."""
    inner = 2 if grammar.sees("{", ahead=1) else 1
    return grammar.postfix(node) if grammar.sees("^") and grammar.sees(r"\circ", ahead=inner) else node


# -- sums, products, integrals and limits


def _big(grammar: Grammar, name: str) -> Node:
    """A sum or product of few terms written out; any other as an undefined function of bounds and body."""
    bounds: dict[str, Node] = {}
    while grammar.sees("^", "_"):
        sign = grammar.take().text
        bounds[sign] = grammar.script()
    grammar.deeper()
    body = grammar.product()
    grammar.depth -= 1
    low, high = bounds.get("_"), bounds.get("^")
    if low is None or low.kind != "relation" or low.children[0].kind != "symbol":
        return Node("opaque", name + "".join(bounds), (*bounds.values(), body))
    letter, start = low.children[0], low.children[1]
    if name in ("sum", "prod") and (terms := _terms(letter, start, high, body)):
        grammar.budget.spend(sum(term.size for term in terms))
        return nary("sum" if name == "sum" else "product", terms)
    bound = symbol(f"bound {sum(node.name.startswith('bound ') for node in set(walk(body)))}")
    body = _with(body, letter, bound)
    rest = () if high is None else (high,)
    return Node("opaque", f"{name} {low.name}", (bound, start, *rest, body))


def _terms(letter: Node, start: Node, stop: Node | None, body: Node) -> list[Node]:
    """The terms of a sum or product between two integers; none if they are too many."""
    first, last = (None if node is None else _integer(node) for node in (start, stop))
    if first is None or last is None or (last - first + 1) * body.size > TERMS:
        return []
    return [_with(body, letter, number(index)) for index in range(first, last + 1)]


def _with(body: Node, letter: Node, value: Node) -> Node:
    """An expression with a value for a letter."""
    return replaced(body, "symbol", lambda node: value if node == letter else node)


def _integer(node: Node) -> int | None:
    """The integer that a node is, perhaps negated; None for any other node."""
    if node.kind == "product" and node.children[0] == number(-1) and len(node.children) == 2:
        inner = _integer(node.children[1])
        return None if inner is None else -inner
    return int(node.value) if node.value is not None and node.value.denominator == 1 else None


# -- names of figures and vectors


def _accented(grammar: Grammar, name: str) -> Node:
    """What an accent makes of letters, a name in which their order counts, or of an expression."""
    letters = _letters(grammar, braced=True)
    if name == r"\mathbf":
        return _bold(grammar, letters)
    node = symbol(f"{name} {letters}") if letters else Node("opaque", name[1:], (grammar.argument(),))
    if name in VECTORS:
        grammar.vectors.add(node)
    return node


def _bold(grammar: Grammar, letters: str) -> Node:
    """Bold R is the reals; other bold letters are vectors, of which i and e are no constants."""
    if letters == "R":
        return Node("reals")
    if len(letters) == 1:
        node = symbol(rf"\mathbf {letters}" if letters in "ie" else letters)
        grammar.vectors.add(node)
        return node
    return nary("product", [symbol(letter) for letter in letters]) if letters else grammar.argument()


def _figure(grammar: Grammar, name: str) -> Node:
    """An angle or a triangle by its letters; an angle may be read from either side."""
    letters = _letters(grammar, braced=grammar.sees("{"))
    if not letters:
        return Node("opaque", name[1:], (grammar.argument(),)) if grammar.starts_factor() else symbol(name)
    mirrored = letters[::-1] if name == r"\angle" else letters
    return symbol(f"{name} {min(letters, mirrored)}")


def _letters(grammar: Grammar, braced: bool) -> str:
    """The letters that come next, in braces or bare; none where a group holds more than letters."""
    start = 1 if braced and grammar.sees("{") else 0
    end = start
    letters = ""
    while grammar.kind(end) == "letter" or (grammar.kind(end) == "text" and start):
        grammar.budget.spend()
        letters += grammar.tokens[grammar.at + end].text
        end += 1
        if braced and not start:
            break
    if not letters or (start and not grammar.sees("}", ahead=end)):
        return ""
    for _ in range(end + start):
        grammar.take()
    return letters


# -- operations


def operation(grammar: Grammar, left: Node) -> Node:
    """An operation on what stands before and after it."""
    name = grammar.take().text
    grammar.deeper()
    right = grammar.product()
    grammar.depth -= 1
    return call("mod", left, right) if name == r"\bmod" else Node("opaque", name, (left, right))


def modulus(grammar: Grammar) -> Node | None:
    r"""The modulus that `\pmod{7}` or `(\bmod 7)` says next; None when neither does."""
    if grammar.skip(r"\pmod"):
        return grammar.argument()
    if grammar.sees("(") and grammar.sees(r"\bmod", ahead=1):
        grammar.take()
        grammar.take()
        node = grammar.sum()
        grammar.expect(")")
        return node
    return None


def residue(node: Node, modulus: Node) -> Node:
    """The class of a node modulo another."""
    value, divisor = _integer(node), _integer(modulus)
    if value is not None and divisor:
        node = number(value % divisor)
    return Node("opaque", "residue", (node, modulus))
