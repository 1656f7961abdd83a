"""A round that draws nobody, and the divisor of one that draws fewer than expected."""

from collections.abc import Iterable

import torch

from promptdp.assurance.verification.rounds import Known, everyone, mean_of_round
from promptdp.assurance.verification.row import Claim, Row
from promptdp.assurance.verification.subject import Subject
from promptdp.privacy.clip import clip
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Randomness
from promptdp.records.record import Record
from promptdp.records.slots import Slots
from promptdp.training.descent import Descent
from promptdp.training.round import private_round

SLOTS, PRESENT = 6, 2
EMPTY = Claim(
    id="empty-round",
    title="An empty round",
    source="Algorithm 1, lines 3, 8 and 9; design",
    claim="A round without a record adds noise to every coordinate and takes the step.",
    method="One production round over absent slots with the study's base, adapter and descent, for "
    "every mechanism of the study. Value: how many coordinates did not move.",
)
DIVISOR = Claim(
    id="divisor",
    title="The divisor is public",
    source="Algorithm 1, line 8; assumption (A1)",
    claim="The sum is divided by m = qn, never by the number of records drawn.",
    method="Two records present of six slots drawn, in the production round without noise. Value: the "
    "relative difference of m times the mean from the clipped sum.",
)


def check_empty_round(subject: Subject, mechanisms: Iterable[Mechanism]) -> Row:
    """How many coordinates stay where they are."""
    benchmark = next(iter(subject.study.benchmarks))
    still = 0
    for mechanism in mechanisms:
        trial = subject.trial(benchmark)
        before = trial.policy.adapter.theta
        descent = Descent(trial.policy.adapter, 0.1, **subject.study.optimizer.model_dump())
        slots, randomness = Slots.fill(mechanism.slots, []), Randomness.seeded(1)
        private_round(1, 1, mechanism, slots, randomness, trial.rollouts, trial.objective, descent)
        still += int((trial.policy.adapter.theta == before).sum())
    return EMPTY.at_most(still, 0)


def check_divisor() -> Row:
    """The mean of two records where six are expected."""
    generator = torch.Generator().manual_seed(3)
    records = [Record(str(place), "-", "-") for place in range(PRESENT)]
    known = {r.id: torch.randn(100, generator=generator, dtype=torch.float64) for r in records}
    mean = mean_of_round(everyone(SLOTS, 1.0), records, Known(known), 100)
    total = torch.stack([clip(gradient, 1.0) for gradient in known.values()]).sum(0)
    return DIVISOR.at_most(float((SLOTS * mean - total).norm() / total.norm()), 1e-12)
