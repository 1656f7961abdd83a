"""Scorers: frozen rules that read an answer and compare it with the reference (VII-D, Appendix E).

A rule is a module of `promptdp.scoring.rules` with two plain functions, total on any text and deterministic:
`extract(response, capped) -> Extraction`, which never sees the reference answer, and `judge(answer, gold) ->
Judgement`. Adding a module adds a rule and changes no other rule's files.
"""

from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from promptdp.errors import InputError
from promptdp.scoring import rules
from promptdp.scoring.verdict import Verdict

__all__ = ["RULES", "Rule", "Verdict", "score"]


@dataclass(frozen=True)
class Rule:
    """One scorer, imported when it is first used."""

    name: str

    @property
    def module(self) -> ModuleType:
        """The module that holds the rule's `extract` and `judge`."""
        return import_module(f"{rules.__name__}.{self.name}")

    def __call__(self, response: str, gold: str, capped: bool = False) -> Verdict:
        """Score one response; see `score`."""
        answer, reason = self.module.extract(response, capped)
        if answer is None:
            return Verdict(None, False, str(reason))
        correct, reason = self.module.judge(answer, gold)
        return Verdict(answer, correct, str(reason))


RULES: dict[str, Rule] = {module.name: Rule(module.name) for module in iter_modules(rules.__path__)}


def score(rule: str, response: str, gold: str, capped: bool = False) -> Verdict:
    """Score a response against a reference answer.

    Args:
        rule: a name in `RULES`.
        response: what the model wrote, any text.
        gold: the reference answer, in the benchmark's own notation.
        capped: whether the response was stopped by the token cap.

    Raises:
        InputError: there is no such rule.
    """
    if rule not in RULES:
        raise InputError(f"{rule}: no such scorer; use one of {', '.join(sorted(RULES))}")
    return RULES[rule](response, gold, capped)
