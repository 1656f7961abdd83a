"""From the tokens of an answer to a typed tree, by recursive descent under caps on depth and size."""

from fractions import Fraction
from itertools import zip_longest
from typing import NamedTuple

from promptdp.scoring import literals
from promptdp.scoring.brackets import CLOSERS, absolute, bracketed, holds_several, inward
from promptdp.scoring.commands import OPERATIONS, command, modulus, operation, residue
from promptdp.scoring.grammar import Grammar, ParseError
from promptdp.scoring.limits import TREE_DEPTH, Budget, LimitError
from promptdp.scoring.measures import measured, starts_unit, unlike
from promptdp.scoring.nodes import Node, call, depth, nary, negated, number, power, quotient, symbol
from promptdp.scoring.phrases import EXACT, NEGATING, ORDINALS, doubts, is_label
from promptdp.scoring.tokens import Token, tokenize

__all__ = ["Answer", "ParseError", "parse"]


class Answer(NamedTuple):
    """A parsed answer: its value and the texts of its units, which are no part of the value."""

    value: Node
    units: tuple[str, ...]


RELATIONS = {
    "=": "=", "<": "<", ">": ">", r"\le": "<=", r"\ge": ">=", r"\ne": "!=", r"\approx": "~", r"\in": "in",
    r"\notin": "notin", r"\ni": "ni", r"\equiv": "=", r"\subset": "subset<", r"\supset": "subset>",
    r"\subseteq": "subseteq<", r"\supseteq": "subseteq>", r"\ll": "much<", r"\gg": "much>", r"\to": "to>",
    r"\gets": "to<", r"\parallel": "parallel", r"\perp": "perpendicular", r"\cong": "congruent",
    r"\sim": "similar", r"\propto": "proportional",
}  # fmt: skip
"""The names of relations; one that is not symmetric has the sign < or >, which its mirror image turns."""
NEGATED = {"=": "!=", "<": ">=", ">": "<=", "<=": ">", ">=": "<", "in": "notin"}
SETS = {r"\cup": "union", r"\cap": "intersection", r"\setminus": "difference"}
SIGNS = {"+", "-", r"\pm", r"\mp"}
ARROWS = ("=", r"\approx", r"\to", r"\therefore")
"""What may lead to an answer without being part of it."""
UNDEFINED = {"f", "g"}
"""Letters that name functions."""
DEGREES = {"o", "deg", "degree", "degrees"}
SCALES = {"C": "celsius", "F": "fahrenheit"}
NO_FACTOR = {
    *RELATIONS, *SETS, *CLOSERS, *SIGNS, *OPERATIONS, r"\cdot", r"\times", r"\\", r"\implies", r"\not",
    r"\pmod", r"\over", r"\choose", r"\therefore",
}  # fmt: skip
"""Commands that begin no factor."""


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
    parser = _Parser(inward(tokens), budget)
    value = parser.answer()
    if parser.peek() is not None:
        raise ParseError
    if depth(value) > TREE_DEPTH:
        raise LimitError
    return Answer(value, tuple(parser.units))


def _continues(token: Token, following: Token | None) -> bool:
    """Whether a line break stands before a relation, so that one equality goes on over two lines."""
    return token.text == r"\\" and following is not None and following.text in RELATIONS


class _Parser(Grammar):
    # -- from the whole answer down to sums

    def answer(self) -> Node:
        """The whole answer, without a label before it."""
        token = self.peek()
        if token is not None and token.kind == "text" and self.kind(1) != "text":
            colon = self.sees(":", ahead=1)
            if is_label(token.text, colon) and self.kind(2 if colon else 1) != "text":
                self.take()
                self.skip(":")
        items, joined = self.items()
        if not items:
            raise ParseError
        return nary("list", items, joined)

    def items(self) -> tuple[list[Node], str]:
        items: list[Node] = []
        joints: list[str] = []
        while self.peek() is not None and not self.sees(*CLOSERS) and not (self.bars and self.sees("|")):
            items.append(self.relation())
            separated = False
            while self.kind() == "separator" or self.sees(r"\\"):
                joints.append(self.take().text)
                separated = True
            if not separated:
                break
        logical = {r"\land": "and", r"\lor": "or"}
        if not logical.keys().isdisjoint(joints):
            return self.connected(items, [logical.get(joint, "") for joint in joints])
        words = [joint for joint in joints if joint in ("and", "or")]
        return items, words[-1] if words else ","

    def connected(self, items: list[Node], words: list[str]) -> tuple[list[Node], str]:
        """Conditions on a number that a connective joins are a list of them; other statements are one."""
        if len(set(words)) != 1 or not words[0] or len(items) != len(words) + 1:
            raise ParseError
        if all(item.kind == "relation" for item in items):
            return items, words[0]
        return [Node("opaque", words[0], tuple(sorted(items, key=repr)))], ","

    def relation(self) -> Node:
        self.deeper()
        self.skip(*ARROWS)
        members = [self.ratio()]
        operators: list[str] = []
        congruent = False
        while self.sees(*RELATIONS, r"\not"):
            congruent = self.sees(r"\equiv")
            operators.append(self.operator())
            members.append(self.ratio())
        divisor = modulus(self)
        if congruent and members[-1].name == "mod" and members[-1].kind == "call":
            members[-1], divisor = members[-1].children
        if divisor is not None:
            members = [residue(member, divisor) for member in members]
        self.depth -= 1
        return Node("relation", " ".join(operators), tuple(members)) if operators else members[0]

    def operator(self) -> str:
        """The name of a relation, perhaps crossed out."""
        crossed = self.skip(r"\not")
        name = RELATIONS[self.expect(*RELATIONS)]
        if crossed and name not in NEGATED:
            raise ParseError
        return NEGATED[name] if crossed else name

    def ratio(self) -> Node:
        if time := literals.clock(self):
            return nary("product", measured(self, [time]))
        parts = [self.union()]
        while not self.builder and self.skip(":"):
            parts.append(self.union())
        return nary("ratio", parts)

    def union(self) -> Node:
        node = self.sum()
        while self.sees(*SETS, "-"):
            kind = SETS.get(self.take().text, "difference")
            parts = node.children if node.kind == kind != "difference" else (node,)
            parts = (*parts, self.sum())
            named = kind != "difference" and all(part.kind in ("symbol", "opaque") for part in parts)
            node = Node(kind, children=tuple(sorted(parts, key=repr)) if named else parts)
        return node

    def sum(self) -> Node:
        node = self.terms()
        if self.skip(r"\over"):
            return quotient(node, self.terms())
        if self.skip(r"\choose"):
            return call("binomial", node, self.terms())
        return node

    def terms(self) -> Node:
        """Terms with their signs and in one unit, up to TeX's infix commands."""
        terms: list[Node] = []
        units = len(self.units)
        sign = self.take().text if self.sees(*SIGNS) else "+"
        while True:
            term = self.product()
            if sign == "-":
                term = negated(term)
            elif sign in (r"\pm", r"\mp"):
                term = Node("plus_minus", "+" if sign == r"\pm" else "-", (term,))
            terms.append(term)
            if not self.sees(*SIGNS) or (self.sees("-") and self.sees(r"\{", ahead=1)):
                break
            sign = self.take().text
        if len(terms) > 1 and unlike(self.units[units:]):
            raise ParseError
        return nary("sum", terms)

    # -- products and their units

    def product(self) -> Node:
        factors = [self.factor()]
        while True:
            if starts_unit(self):
                factors = measured(self, factors)
            elif self.sees("*", r"\cdot", r"\times", "/"):
                self.multiply(factors)
            elif self.sees(*OPERATIONS):
                return operation(self, nary("product", factors))
            elif self.starts_factor():
                if self.kind() == "number" and self.follows_number(factors[-1]):
                    raise ParseError
                factors.append(self.factor())
            else:
                return nary("product", factors)

    def follows_number(self, factor: Node) -> bool:
        """Whether a number came last that is no exponent: two numbers side by side are no product."""
        return self.tokens[self.at - 1].kind == "number" and factor.kind != "power"

    def multiply(self, factors: list[Node]) -> None:
        """Take a sign of multiplication or division and its factor."""
        sign = self.take().text
        factor = negated(self.factor()) if self.skip("-") else self.factor()
        if sign == r"\times" and not self.vectors.isdisjoint((factors[-1], factor)):
            factors[-1:] = [Node("opaque", "cross", (factors[-1], factor))]
        else:
            factors.append(power(factor, number(-1)) if sign == "/" else factor)

    def starts_factor(self) -> bool:
        """Whether another factor comes next."""
        token = self.peek()
        if token is None or token.kind in ("number", "repeating", "letter"):
            return token is not None
        if token.kind == "sign":
            bar = token.text == "|" and not self.bars
            bracket = token.text in ("(", "[", "{") and not self.sees(r"\bmod", ahead=1)
            return bar or bracket
        return token.kind == "command" and token.text not in NO_FACTOR and not token.text.startswith(r"\end")

    # -- factors

    def factor(self) -> Node:
        return self.postfix(self.atom())

    def postfix(self, node: Node) -> Node:
        while True:
            if self.sees("!"):
                node = literals.factorials(self, node)
            elif self.skip("%"):
                self.units.append("percent")
                node = Node("percent", children=(node,))
            elif self.skip("'"):
                node = _primed(node)
            elif self.skip("_"):
                index = self.script()
                if node.kind != "symbol":
                    raise ParseError
                node = Node("opaque", f"{node.name}_", (index,))
            elif self.skip("^"):
                node = self.raised(node)
            elif self.sees(r"\circ") and node.kind == "number" and not self.composes():
                self.take()
                node = self.degrees(node)
            else:
                return node

    def composes(self) -> bool:
        """Whether a circle has something to operate on after it."""
        self.at += 1
        composes = self.starts_factor()
        self.at -= 1
        return composes

    def raised(self, node: Node) -> Node:
        """What an exponent makes of a node: a power, degrees, or (an ordinal's ending) the node itself."""
        braced = self.sees("{")
        inner = self.peek(1 if braced else 0)
        if inner is None or (braced and not self.sees("}", ahead=2)):
            return power(node, self.script())
        if inner.text == r"\prime":
            self.script()
            return _primed(node)
        word = inner.text.lower()
        degrees = inner.text == r"\circ" or (
            word in DEGREES and (inner.kind == "text" or node.kind == "number")
        )
        if not degrees and not (inner.kind == "text" and word in ORDINALS and node.kind == "number"):
            return power(node, self.script())
        for _ in range(3 if braced else 1):
            self.take()
        return self.degrees(node) if degrees else node

    def degrees(self, node: Node) -> Node:
        """Degrees of an angle, or of a scale of temperature whose letter ends the answer."""
        scale = self.peek()
        if scale is not None and scale.text in SCALES and self.peek(1) is None:
            self.units.append(SCALES[self.take().text])
        else:
            self.units.append("degree")
        return Node("degree", children=(node,))

    def script(self) -> Node:
        """An index or exponent: a group, or one signed atom; towers associate to the right."""
        self.deeper()
        if self.sees("{"):
            node = self.group()
        elif self.skip("-"):
            node = negated(self.script())
        else:
            self.skip("+")
            node = literals.factorials(self, self.atom())
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

    # -- atoms

    def atom(self) -> Node:
        self.deeper()
        node = literals.in_base(self) or self.taken(self.take())
        self.depth -= 1
        return node

    def taken(self, token: Token) -> Node:
        """The node that a token begins."""
        if token.kind == "number":
            return literals.literal(self, token.text)
        if token.kind == "repeating":
            return literals.repeating(token.text)
        if token.kind == "letter":
            return self.named(token.text)
        if token.kind == "text":
            return self.spoken(token.text)
        if token.text in ("(", "[", r"\{", "{", r"\lfloor", r"\lceil"):
            return bracketed(self, token.text)
        if token.text == "|":
            return absolute(self)
        if token.kind == "command":
            return command(self, token.text)
        if token.text == ".":
            return self.atom()
        raise ParseError

    def spoken(self, phrase: str) -> Node:
        """Words where a value is expected: a sign, emphasis, or a name.

        Raises:
            ParseError: they negate or doubt what follows.
        """
        words = phrase.lower()
        if words in NEGATING:
            return negated(self.factor())
        if words in EXACT:
            return self.factor()
        if doubts(words):
            raise ParseError
        return symbol(phrase if len(phrase) == 1 else f"text {words}")

    def named(self, letter: str) -> Node:
        """A letter: a variable, or an undefined function with its arguments."""
        inverse = self.shape(5) == "^{-n}" and self.tokens[self.at + 3].text == "1"
        if letter in UNDEFINED and inverse:
            for _ in range(5):
                self.take()
            letter += "^-1"
        primes = 0
        while letter[0] in UNDEFINED and self.skip("'"):
            primes += 1
        letter += "'" * primes
        if self.sees("(") and (letter[0] in UNDEFINED or holds_several(self)):
            self.take()
            items, _ = self.items()
            self.expect(")")
            return Node("opaque", letter, tuple(items))
        return symbol(letter)


def _primed(node: Node) -> Node:
    """A node with a prime: another name, or an undefined function of what is no name."""
    return symbol(f"{node.name}'") if node.kind == "symbol" else call("'", node)
