"""From the tokens of an answer to a typed tree, by recursive descent under caps on depth and size."""

from fractions import Fraction
from itertools import zip_longest
from typing import NamedTuple

from promptdp.scoring.limits import DIGITS, NESTING, TREE_DEPTH, Budget, LimitError
from promptdp.scoring.nodes import Node, call, depth, nary, negated, number, power, quotient, symbol
from promptdp.scoring.tokens import Token, tokenize
from promptdp.scoring.units import canonical_word
from promptdp.scoring.vocabulary import vocabulary


class ParseError(Exception):
    """The text is no answer in the notation that the parser knows."""


class Answer(NamedTuple):
    """A parsed answer: its value and the texts of its units, which are no part of the value."""

    value: Node
    units: tuple[str, ...]


FUNCTIONS = {
    rf"\{name}"
    for name in vocabulary(
        "sin cos tan sec csc cot arcsin arccos arctan sinh cosh tanh log ln exp gcd lcm max min "
        "det deg dim arg"
    )
}
INVERSES = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}
BIG = {r"\sum", r"\prod", r"\int", r"\lim"}
RELATIONS = {"=": "=", "<": "<", ">": ">", r"\le": "<=", r"\ge": ">=", r"\ne": "!=", r"\approx": "~",
             r"\in": "in",              r"\equiv": "=", "≡": "="}  # fmt: skip
SETS = {r"\cup": "union", r"\cap": "intersection", r"\setminus": "difference"}
CLOSING = {"(": (")", "]"), "[": ("]", ")"), r"\{": (r"\}",), "{": ("}",), r"\lfloor": (r"\rfloor",),
           r"\lceil": (r"\rceil",)}  # fmt: skip
OPENERS = set(CLOSING)
CLOSERS = {")", "]", "}", r"\}", r"\rfloor", r"\rceil"}
MATRICES = {
    rf"\begin{{{name}}}"
    for name in ("pmatrix", "bmatrix", "matrix", "Bmatrix", "smallmatrix", "vmatrix", "array")
}
CURRENCIES = {r"\$": "dollar", r"\pounds": "pound sterling", r"\euro": "euro", r"\yen": "yen"}
ACCENTS = {
    r"\overline",
    r"\bar",
    r"\vec",
    r"\hat",
    r"\overrightarrow",
    r"\widehat",
    r"\angle",
    r"\triangle",
    r"\tilde",
}
UNDEFINED = {"f", "g"}


def parse(source: str, budget: Budget, commas_group: bool = True) -> Answer:
    """Parse an answer.

    Raises:
        ParseError: the answer is in no known notation.
        LimitError: it is larger or deeper than the caps, or the work too much.
    """
    tokens = tokenize(source, commas_group)
    implied = [i for i, token in enumerate(tokens) if token.text == r"\implies"]
    tokens = tokens[implied[-1] + 1 :] if implied else tokens
    if not any(token.text.startswith(r"\begin") for token in tokens):
        tokens = [token for token in tokens if token != Token("sign", "&")]
    tokens = [
        token for token, following in zip_longest(tokens, tokens[1:]) if not _continues(token, following)
    ]
    parser = _Parser(tokens, budget)
    value = parser.answer()
    if parser.peek() is not None:
        raise ParseError
    if depth(value) > TREE_DEPTH:
        raise LimitError
    return Answer(value, tuple(parser.units))


def _continues(token: Token, following: Token | None) -> bool:
    """Whether a line break stands before a relation, so that one equality goes on over two lines."""
    return token.text == r"\\" and following is not None and following.text in RELATIONS


class _Parser:
    def __init__(self, tokens: list[Token], budget: Budget):
        self.tokens = tokens
        self.budget = budget
        self.at = 0
        self.depth = 0
        self.bars = 0
        self.units: list[str] = []

    # -- tokens

    def peek(self, ahead: int = 0) -> Token | None:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else None

    def sees(self, *texts: str) -> bool:
        token = self.peek()
        return token is not None and token.kind in ("sign", "command") and token.text in texts

    def take(self) -> Token:
        token = self.peek()
        if token is None:
            raise ParseError
        self.budget.spend()
        self.at += 1
        return token

    def skip(self, *texts: str) -> bool:
        if self.sees(*texts):
            self.take()
            return True
        return False

    def expect(self, *texts: str) -> str:
        if not self.sees(*texts):
            raise ParseError
        return self.take().text

    # -- from the whole answer down to sums

    def answer(self) -> Node:
        items, joined = self.items()
        if not items:
            raise ParseError
        return nary("list", items, joined)

    def items(self) -> tuple[list[Node], str]:
        items: list[Node] = []
        joined = ","
        while self.peek() is not None and not self.sees(*CLOSERS) and not (self.bars and self.sees("|")):
            items.append(self.relation())
            separated = False
            while (token := self.peek()) is not None and (token.kind == "separator" or token.text == r"\\"):
                joined = token.text if token.text in ("and", "or") else joined
                separated = True
                self.at += 1
            if not separated:
                break
        return items, joined

    def relation(self) -> Node:
        self.deeper()
        self.skip("=", r"\approx")
        members = [self.ratio()]
        operators: list[str] = []
        while self.sees(*RELATIONS):
            operators.append(RELATIONS[self.take().text])
            members.append(self.ratio())
        self.depth -= 1
        return Node("relation", " ".join(operators), tuple(members)) if operators else members[0]

    def ratio(self) -> Node:
        parts = [self.union()]
        while self.skip(":"):
            parts.append(self.union())
        return nary("ratio", parts)

    def union(self) -> Node:
        node = self.sum()
        while self.sees(*SETS, "-"):
            kind = SETS.get(self.take().text, "difference")
            parts = node.children if node.kind == kind != "difference" else (node,)
            node = Node(kind, children=(*parts, self.sum()))
        return node

    def sum(self) -> Node:
        terms: list[Node] = []
        sign = "+"
        if self.sees("+", "-", r"\pm", r"\mp"):
            sign = self.take().text
        while True:
            term = self.product()
            if sign == "-":
                term = negated(term)
            elif sign in (r"\pm", r"\mp"):
                term = Node("plus_minus", "+" if sign == r"\pm" else "-", (term,))
            terms.append(term)
            following = self.peek(1)
            if not self.sees("+", "-", r"\pm", r"\mp") or (
                self.sees("-") and following and following.text == r"\{"
            ):
                return nary("sum", terms)
            sign = self.take().text

    def product(self) -> Node:
        factors = [self.factor()]
        while True:
            token = self.peek()
            if token is None:
                break
            if token.kind == "text":
                self.unit(factors)
            elif self.sees("*", r"\cdot", "/"):
                divides = self.take().text == "/"
                if divides and (following := self.peek()) and following.kind == "text":
                    self.unit(factors)
                    continue
                while self.skip("*"):
                    pass
                factor = negated(self.factor()) if self.skip("-") else self.factor()
                factors.append(power(factor, number(-1)) if divides else factor)
            elif self.starts_factor(token):
                if token.kind == "number" and self.tokens[self.at - 1].kind == "number":
                    raise ParseError
                factors.append(self.factor())
            else:
                break
        return nary("product", factors)

    def unit(self, factors: list[Node]) -> None:
        """Take the words of a unit; a percentage in words is a percentage."""
        words: list[str] = []
        while (token := self.peek()) is not None and (token.kind == "text" or (words and self.sees("/"))):
            words.append(self.take().text)
        if self.skip("^"):
            self.at += self.sees("{")
            exponent = self.take().text
            self.skip("}")
            words.append(f"^{exponent}")
        phrase = " ".join(words)
        if canonical_word(phrase) == "percent":
            factors[:] = [Node("percent", children=(nary("product", factors),))]
        else:
            self.units.append(phrase)

    def starts_factor(self, token: Token) -> bool:
        if token.kind in ("number", "repeating", "letter"):
            return True
        if token.kind == "sign":
            return token.text in ("(", "[", "{") or (token.text == "|" and not self.bars)
        return token.kind == "command" and (
            token.text not in RELATIONS
            and token.text not in SETS
            and token.text not in CLOSERS
            and token.text not in (r"\pm", r"\mp", r"\cdot", r"\\", r"\implies", r"\circ")
            and not token.text.startswith(r"\end")
        )

    # -- factors

    def factor(self) -> Node:
        return self.postfix(self.atom())

    def deeper(self) -> None:
        self.budget.spend()
        self.depth += 1
        if self.depth > NESTING:
            raise LimitError

    def postfix(self, node: Node) -> Node:
        while True:
            if self.skip("!"):
                node = call("factorial", node)
            elif self.skip("%"):
                node = Node("percent", children=(node,))
            elif self.sees("'"):
                primes = ""
                while self.skip("'"):
                    primes += "'"
                node = symbol(node.name + primes) if node.kind == "symbol" else call("'", node)
            elif self.skip("_"):
                index = self.script()
                node = (
                    Node("opaque", f"{node.name}_", (index,))
                    if node.kind == "symbol"
                    else self.numeral(node, index)
                )
            elif self.skip("^"):
                node = self.raised(node)
            elif self.skip(r"\circ"):
                node = Node("degree", children=(node,))
            else:
                return node

    def numeral(self, node: Node, index: Node) -> Node:
        """A numeral in another base, written with its base as an index."""
        if node.kind != "number" or index.kind != "number" or node.value is None or index.value is None:
            raise ParseError
        if node.value.denominator != 1 or index.value.denominator != 1 or not 2 <= index.value <= 36:
            raise ParseError
        return Node("numeral", f"{node.value}_{index.value}")

    def raised(self, node: Node) -> Node:
        """What an exponent makes of a node: a power, degrees, or (an ordinal's ending) the node itself."""
        braced = self.sees("{")
        inner = self.peek(1 if braced else 0)
        if inner is not None and (inner.text == r"\circ" or inner.kind == "text"):
            self.at += 3 if braced else 1
            if braced and self.tokens[self.at - 1 : self.at] != [Token("sign", "}")]:
                raise ParseError
            return Node("degree", children=(node,)) if inner.text == r"\circ" else node
        return power(node, self.script())

    def script(self) -> Node:
        """An index or exponent: a group, or one signed atom; towers associate to the right."""
        self.deeper()
        if self.sees("{"):
            node = self.group()
        elif self.skip("-"):
            node = negated(self.script())
        else:
            self.skip("+")
            node = self.atom()
            while self.skip("!"):
                node = call("factorial", node)
            if self.skip("^"):
                node = power(node, self.script())
        self.depth -= 1
        return node

    def group(self) -> Node:
        """The content of a braced group, one value or several."""
        self.expect("{")
        items, joined = self.items()
        self.expect("}")
        if not items:
            raise ParseError
        return nary("list", items, joined)

    def argument(self) -> Node:
        """A braced argument, or the one token that TeX takes (the first digit of a numeral)."""
        token = self.peek()
        if token is not None and token.kind == "number" and len(token.text) > 1:
            self.tokens[self.at] = Token("number", token.text[1:])
            return number(Fraction(token.text[0])) if token.text[0].isdigit() else self.atom()
        return self.group() if self.sees("{") else self.atom()

    def atom(self) -> Node:
        self.deeper()
        node = self.taken(self.take())
        self.depth -= 1
        return node

    def taken(self, token: Token) -> Node:
        """The node that a token begins."""
        if token.kind == "number":
            return self.mixed(Fraction(token.text), token.text.isdigit())
        if token.kind == "repeating":
            return number(repeating(token.text))
        if token.kind == "letter":
            return self.named(token.text)
        if token.kind == "text":
            return symbol(f"text {token.text.lower()}")
        if token.text in ("(", "[", r"\{", "{", r"\lfloor", r"\lceil"):
            return self.bracketed(token.text)
        if token.text == "|":
            return self.absolute()
        if token.kind == "command":
            return self.command(token.text)
        if token.text == ".":
            return self.atom()
        raise ParseError

    def mixed(self, whole: Fraction, integer: bool) -> Node:
        """A numeral, or a mixed number when a proper fraction of numerals follows an integer."""
        start = self.at
        if integer and self.skip(r"\frac"):
            top, bottom = self.argument(), self.argument()
            if _proper(top, bottom):
                return number(whole + top.value / bottom.value)  # type: ignore[operator]
            return Node("product", children=(number(whole), quotient(top, bottom)))
        following = [self.peek(i) for i in range(3)]
        if (
            integer
            and all(following)
            and [token.kind for token in following if token] == ["number", "sign", "number"]
            and following[1].text == "/"  # type: ignore[union-attr]
        ):
            top, bottom = (number(Fraction(following[i].text)) for i in (0, 2))  # type: ignore[union-attr]
            if _proper(top, bottom):
                self.at = start + 3
                return number(whole + top.value / bottom.value)  # type: ignore[operator]
        return number(whole)

    def named(self, letter: str) -> Node:
        """A letter: a variable, or an undefined function with its arguments."""
        following = self.peek(1)
        if letter in UNDEFINED and self.sees("^") and following and following.text == "{":  # noqa: SIM102
            if [token.text for token in self.tokens[self.at + 2 : self.at + 5]] == ["-", "1", "}"]:
                self.at += 5
                letter += "^-1"
        primes = 0
        while letter[0] in UNDEFINED and self.skip("'"):
            primes += 1
        letter += "'" * primes
        if self.sees("(") and (letter[0] in UNDEFINED or self.separates()):
            self.take()
            items, _ = self.items()
            self.expect(")")
            return Node("opaque", letter, tuple(items))
        return symbol(letter)

    def separates(self) -> bool:
        """Whether the bracket that opens here holds several items."""
        level = 0
        for token in self.tokens[self.at :]:
            self.budget.spend()
            if token.text in OPENERS:
                level += 1
            elif token.text in CLOSERS:
                level -= 1
            elif token.kind == "separator" and level == 1:
                return True
            if level == 0:
                return False
        return False

    def bracketed(self, opening: str) -> Node:
        bars, self.bars = self.bars, int(opening == r"\{")
        items, _ = self.items()
        self.bars = bars
        if opening == r"\{" and self.sees("|", ":"):
            self.at += 1
            items, _ = self.items()
        closing = self.expect(*CLOSING[opening])
        if opening in (r"\lfloor", r"\lceil"):
            if len(items) != 1:
                raise ParseError
            return call(opening[1:], items[0])
        if opening == r"\{" or (opening == "{" and len(items) > 1):
            return (
                items[0]
                if len(items) == 1 and items[0].kind == "relation"
                else Node("set", children=tuple(items))
            )
        if len(items) == 1 and (opening, closing) in (("(", ")"), ("[", "]"), ("{", "}")):
            return items[0]
        if not items:
            raise ParseError
        return Node("bracket", opening + closing, tuple(items))

    def absolute(self) -> Node:
        self.bars += 1
        inner = self.sum()
        self.expect("|")
        self.bars -= 1
        return call("abs", inner)

    # -- commands

    def command(self, name: str) -> Node:
        if name == r"\frac":
            return quotient(self.argument(), self.argument())
        if name == r"\binom":
            return call("binomial", self.argument(), self.argument())
        if name == r"\sqrt":
            return self.root()
        if name in FUNCTIONS:
            return self.function(name[1:])
        if name in BIG:
            return self.big(name[1:])
        if name in MATRICES:
            return self.matrix(name)
        if name in CURRENCIES:
            self.units.append(CURRENCIES[name])
            return self.factor()
        if name in ACCENTS:
            return (
                Node("opaque", name[1:], (self.argument(),))
                if name not in (r"\angle", r"\triangle")
                else self.factor()
            )
        if name == r"\mathbb{R}":
            return Node("reals")
        if name == r"\emptyset":
            return Node("empty")
        if name == r"\circ" or name.startswith((r"\begin", r"\end")) or not name[1:].isalpha():
            raise ParseError
        return symbol(name)

    def root(self) -> Node:
        index = number(2)
        if self.skip("["):
            index = self.sum()
            self.expect("]")
        token = self.peek()
        if self.sees("{", "("):
            radicand = self.atom()
        elif token is not None and token.kind == "number":
            radicand = number(Fraction(self.take().text))
        else:
            radicand = self.argument()
        return power(radicand, power(index, number(-1)))

    def function(self, name: str) -> Node:
        exponent = base = None
        while self.sees("^", "_"):
            if self.take().text == "^":
                exponent = self.script()
            else:
                base = self.argument()
        inverse = exponent is not None and exponent in (number(-1), negated(number(1)))
        if inverse and name in INVERSES:
            name, exponent = INVERSES[name], None
        argument = self.function_argument()
        arguments = [argument] if argument.kind != "bracket" else list(argument.children)
        node = call(name, *arguments, *([] if base is None else [base]))
        return node if exponent is None else power(node, exponent)

    def function_argument(self) -> Node:
        """A parenthesis, or the numerals, variables, fractions and roots up to the next sign or function."""
        if self.sees("(", "|", "{"):
            return self.postfix_power(self.atom())
        factors: list[Node] = [self.factor()]
        while (token := self.peek()) is not None and (
            token.kind in ("number", "letter") or (token.kind == "command" and self.simple(token.text))
        ):
            factors.append(self.factor())
        return nary("product", factors)

    def postfix_power(self, node: Node) -> Node:
        """A parenthesised argument keeps its degree mark; any other exponent belongs to the function."""
        following = self.peek(1)
        inner = self.peek(2) if following is not None and following.text == "{" else following
        return self.postfix(node) if self.sees("^") and inner is not None and inner.text == r"\circ" else node

    @staticmethod
    def simple(name: str) -> bool:
        return name in (r"\frac", r"\sqrt") or (
            name[1:].isalpha()
            and name not in FUNCTIONS
            and name not in BIG
            and name not in RELATIONS
            and name not in SETS
            and name not in (r"\pm", r"\mp", r"\cdot", r"\implies", r"\rfloor", r"\rceil")
        )

    def big(self, name: str) -> Node:
        """A sum, product, integral or limit, kept as an undefined function of its bounds and body."""
        parts: list[Node] = []
        while self.sees("^", "_"):
            name += self.take().text
            bound = self.script()
            parts.extend(bound.children if bound.kind == "relation" else (bound,))
        return Node("opaque", name, (*parts, self.product()))

    def matrix(self, name: str) -> Node:
        end = name.replace(r"\begin", r"\end")
        if name == r"\begin{array}" and self.sees("{"):
            self.group()
        rows: list[Node] = [Node("row")]
        while not self.skip(end):
            if self.skip(r"\\"):
                rows.append(Node("row"))
                continue
            if self.skip("&"):
                continue
            cells = (*rows[-1].children, self.sum())
            rows[-1] = Node("row", children=cells)
        rows = [row for row in rows if row.children]
        if not rows:
            raise ParseError
        return Node("matrix", "vmatrix" if "vmatrix" in name else "", tuple(rows))


def repeating(text: str) -> Fraction:
    """The rational of a decimal with a repeating block."""
    before, _, block = text.partition("\\")
    block = "".join(char for char in block if char.isdigit())
    whole, _, fixed = before.partition(".")
    if len(text) > DIGITS:
        raise LimitError
    value = Fraction(int(whole or "0")) + (Fraction(int(fixed), 10 ** len(fixed)) if fixed else 0)
    return value + Fraction(int(block), (10 ** len(block) - 1) * 10 ** len(fixed))


def _proper(top: Node, bottom: Node) -> bool:
    """Whether two numerals make a proper fraction."""
    return (
        top.kind == bottom.kind == "number"
        and top.value is not None
        and bottom.value is not None
        and 0 <= top.value < bottom.value
        and top.value.denominator == bottom.value.denominator == 1
    )
