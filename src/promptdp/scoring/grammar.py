"""What the parts of the parser share: the tokens, the work done, and the rules of the grammar they call.

No token is read again but by bounded looks ahead, so that the work grows with the square of the length at
most; it is counted where a token is taken and where the parser descends.
"""

from abc import ABC, abstractmethod

from promptdp.scoring.limits import NESTING, Budget, LimitError
from promptdp.scoring.nodes import Node
from promptdp.scoring.tokens import Token


class ParseError(Exception):
    """The text is no answer in the notation that the parser knows."""


class Grammar(ABC):
    """The tokens of an answer, and the rules that read from them."""

    def __init__(self, tokens: list[Token], budget: Budget):
        self.tokens = tokens
        self.budget = budget
        self.at = 0
        self.depth = 0
        self.bars = 0
        """Absolute values, or a set-builder's bar, that the next bar would close."""
        self.builder = False
        """Whether a colon ends the name of a set-builder."""
        self.units: list[str] = []
        self.vectors: set[Node] = set()
        """Names written as vectors, whose products with a cross keep their order."""

    def peek(self, ahead: int = 0) -> Token | None:
        """A token that is not yet taken; None after the last."""
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else None

    def kind(self, ahead: int = 0) -> str:
        """The kind of a token that is not yet taken; empty after the last."""
        token = self.peek(ahead)
        return "" if token is None else token.kind

    def sees(self, *texts: str, ahead: int = 0) -> bool:
        """Whether a token not yet taken is one of some signs or commands."""
        token = self.peek(ahead)
        return token is not None and token.kind in ("sign", "command") and token.text in texts

    def take(self) -> Token:
        """The next token, taken.

        Raises:
            ParseError: there is none.
        """
        token = self.peek()
        if token is None:
            raise ParseError
        self.budget.spend()
        self.at += 1
        return token

    def skip(self, *texts: str) -> bool:
        """Take the next token if it is one of some signs or commands."""
        if self.sees(*texts):
            self.take()
            return True
        return False

    def expect(self, *texts: str) -> str:
        """The text of the next token, which must be one of some signs or commands.

        Raises:
            ParseError: it is another.
        """
        if not self.sees(*texts):
            raise ParseError
        return self.take().text

    def shape(self, length: int) -> str:
        """The next tokens, a character each: signs as they are, n for a number, t for a text, a dot else."""
        self.budget.spend(length)
        tokens = self.tokens[self.at : self.at + length]
        names = {"number": "n", "text": "t"}
        return "".join(
            names.get(token.kind, token.text if token.kind == "sign" and len(token.text) == 1 else ".")
            for token in tokens
        )

    def deeper(self) -> None:
        """Count a descent.

        Raises:
            LimitError: it is deeper than the cap.
        """
        self.budget.spend()
        self.depth += 1
        if self.depth > NESTING:
            raise LimitError

    @abstractmethod
    def items(self) -> tuple[list[Node], str]:
        """Relations up to a closing sign, and the word that joins them."""

    @abstractmethod
    def relation(self) -> Node:
        """A value, an equation, an inequality or a chain of them."""

    @abstractmethod
    def sum(self) -> Node:
        """Terms with their signs."""

    @abstractmethod
    def product(self) -> Node:
        """Factors and their units."""

    @abstractmethod
    def factor(self) -> Node:
        """An atom with what follows it closely."""

    @abstractmethod
    def starts_factor(self) -> bool:
        """Whether another factor comes next."""

    @abstractmethod
    def postfix(self, node: Node) -> Node:
        """A node with the exponents, indices and marks that follow it."""

    @abstractmethod
    def atom(self) -> Node:
        """A numeral, a name, a bracket or a command with its arguments."""

    @abstractmethod
    def group(self) -> Node:
        """A braced group."""

    @abstractmethod
    def argument(self) -> Node:
        """The argument of a command."""

    @abstractmethod
    def script(self) -> Node:
        """An index or an exponent."""
