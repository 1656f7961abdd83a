"""Zero-advantage groups: a group with equal rewards keeps its penalty and is treated as any other."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from promptdp.assurance.verification.rounds import everyone, mean_of_round
from promptdp.assurance.verification.row import Claim, Row
from promptdp.assurance.verification.subject import Subject, Trial
from promptdp.privacy.randomness import Randomness
from promptdp.training.advantages import Advantage, Integers, advantages

RECORDS = 4
ADVANTAGES = Claim(
    id="groups-advantages",
    title="Zero-advantage groups, advantages",
    source="Appendix B; equation (2)",
    claim="Equal rewards give advantages of exactly zero.",
    method="Every kind of advantage on groups of 2 to 16 rewards that are all 0, all 1 or all 0.35. "
    "Value: the largest absolute advantage.",
)
GRADIENTS = Claim(
    id="groups-gradients",
    title="Zero-advantage groups, gradients",
    source="Appendix B; equation (7)",
    claim="The gradients of an all-correct and an all-wrong group are finite, not zero and "
    "bit-identical: the penalty alone.",
    method="The GRPO gradients of four public records of each benchmark under both constant rewards. "
    "Value: how many records break the claim.",
)
RETAINED = Claim(
    id="groups-retained",
    title="Zero-advantage groups, retained and clipped",
    source="Appendix B; assumption (A1)",
    claim="A group with equal rewards is kept and clipped, not removed by data-dependent control flow.",
    method="The same records, one at a time through the production round, with a clipping norm below "
    "their gradient's. Value: how many did not add a vector of exactly that norm (to 1e-10).",
)


def check_advantages(
    function: Callable[[Advantage, Sequence[float], Integers], torch.Tensor] = advantages,
) -> Row:
    """Every kind of advantage on equal rewards."""
    stream = Randomness.seeded(1).stream(0, "advantages")
    largest = max(
        float(function(kind, [reward] * size, stream).abs().max())
        for kind in Advantage
        for size in range(2, 17)
        for reward in (0.0, 1.0, 0.35)
    )
    return ADVANTAGES.at_most(largest, 0)


def check_constant_groups(
    subject: Subject, gradients: Claim = GRADIENTS, retained: Claim = RETAINED
) -> list[Row]:
    """The gradients of constant groups, and what becomes of them in a round."""
    broken = missing = 0
    for benchmark in subject.study.benchmarks:
        trial = subject.trial(benchmark)
        right, wrong = (_rewarding(trial, value) for value in (1.0, 0.0))
        for slot, record in enumerate(trial.records[:RECORDS]):
            completions = trial.completions(slot, record)
            first, second = (t.gradient(slot, record, completions) for t in (right, wrong))
            if first is None or second is None or not _sound(first) or not torch.equal(first, second):
                broken += 1
                missing += 1
                continue
            bound = float(first.double().norm()) / 2
            contents = [record if place == slot else None for place in range(RECORDS)]
            mean = mean_of_round(
                everyone(RECORDS, bound), contents, right.objective, len(first), right.rollouts
            )
            missing += abs(float(mean.norm()) * RECORDS / bound - 1) > 1e-10
    return [gradients.at_most(broken, 0), retained.at_most(missing, 0)]


def _rewarding(trial: Trial, value: float) -> Trial:
    method: Any = trial.objective
    return replace(trial, objective=replace(method, reward=lambda **_: value))


def _sound(gradient: torch.Tensor) -> bool:
    return bool(gradient.isfinite().all()) and bool(gradient.any())
