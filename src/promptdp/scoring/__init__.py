"""Scorers: frozen rules that read an answer and compare it with the reference (VII-D, Appendix E).

A rule is a module of `promptdp.scoring.rules` with two plain functions, deterministic and without state:
`extract(response, capped, budget) -> Extraction`, which never sees the reference answer, and `judge(answer,
gold, budget) -> Judgement`. Each counts its work in the budget and stops with `LimitError` at its end, so
that any text has a verdict. Adding a module adds a rule and changes no other rule's files.
"""

from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from promptdp.errors import InputError
from promptdp.scoring import rules
from promptdp.scoring.limits import READING, RESPONSE_CHARACTERS, Budget, LimitError
from promptdp.scoring.verdict import Judgement, Reason, Verdict

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
        reading, comparing = Budget(READING), Budget()
        if len(response) > RESPONSE_CHARACTERS:
            return Verdict(None, False, str(Reason.LIMIT), 0)
        try:
            answer, reason = self.module.extract(response, capped, reading)
        except LimitError:
            answer, reason = None, Reason.LIMIT
        if answer is None:
            return Verdict(None, False, str(reason), reading.spent)
        correct, reason = self.judge(answer, gold, comparing)
        return Verdict(answer, correct, str(reason), reading.spent + comparing.spent)

    def judge(self, answer: str, gold: str, budget: Budget | None = None) -> Judgement:
        """Whether an answer, read by this rule or by a person, equals the reference."""
        try:
            judgement: Judgement = self.module.judge(answer, gold, budget or Budget())
        except LimitError:
            return Judgement(False, Reason.LIMIT)
        return judgement


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
