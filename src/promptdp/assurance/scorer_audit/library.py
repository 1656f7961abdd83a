"""The opinion of math-verify, which reads LaTeX by a grammar of its own and compares with sympy.

Whatever it takes for a number, and plain arithmetic (`3*(4+1)`), it hands to sympy as text, and sympy
evaluates text as Python. That one function, `parse_expr`, is replaced here by one that reads a decimal
numeral and refuses all else. The clocks of math-verify are off, for they hide a timeout behind "different".
"""

import re
from typing import Any

import math_verify.parser
import sympy.physics.units  # simplify imports it late, and it evaluates texts of its own
from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify
from sympy.parsing import sympy_parser

from promptdp.assurance.scorer_audit.opinion import NoOpinionError, Reason

LATEX = (LatexExtractionConfig(),)
LATEX_AND_NUMBERS = (LatexExtractionConfig(), ExprExtractionConfig())


NUMERAL = re.compile(r"-?([0-9]+|[0-9]*\.[0-9]+|[0-9]+\.)(?:[eE][-+]?[0-9]{1,4})?")


def numeral(text: str, *_: Any, **__: Any) -> Any:
    """The number that a decimal numeral names, in place of sympy's `parse_expr`.

    Raises:
        PermissionError: the text is no numeral.
    """
    if not NUMERAL.fullmatch(text):
        raise PermissionError
    return sympy.Integer(text) if text.lstrip("-").isdigit() else sympy.Float(text)


sympy_parser.parse_expr = numeral
math_verify.parser.parse_expr = numeral


def pair(answer: str, gold: str) -> bool:
    """Whether an extracted answer equals the reference.

    Raises:
        NoOpinionError: one of them was not read.
    """
    return verified(read(boxed(answer), LATEX), gold)


def whole(response: str, gold: str) -> bool:
    """Whether the answer that math-verify itself finds in a response equals the reference.

    Raises:
        NoOpinionError: it found no answer there, or did not read the reference.
    """
    return verified(read(response, LATEX_AND_NUMBERS), gold)


def verified(answers: list[Any], gold: str) -> bool:
    """Whether one of the answers equals the reference, with math-verify's own tolerances."""
    reference = read(boxed(gold), LATEX)
    return bool(
        verify(
            reference,
            answers,
            allow_set_relation_comp=True,  # an interval may be written as an inequality
            timeout_seconds=None,
            raise_on_error=True,
        )
    )


def read(text: str, notations: tuple[Any, ...]) -> list[Any]:
    """The sympy objects that math-verify finds in a text, never the text itself."""
    objects = parse(text, notations, "no_fallback", parsing_timeout=None, raise_on_error=True)
    if not objects:
        raise NoOpinionError(Reason.UNREAD)
    return list(objects)


def boxed(answer: str) -> str:
    """An answer as math-verify finds it without searching."""
    return rf"\boxed{{{answer}}}"
