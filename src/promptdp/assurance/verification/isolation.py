"""Cross-prompt isolation: a record's completions and gradient don't know who else was drawn."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import torch

from promptdp.assurance.verification.rounds import Witness, everyone, mean_of_round
from promptdp.assurance.verification.row import Claim, Row
from promptdp.assurance.verification.subject import Subject, Trial
from promptdp.policy.engine import Completions
from promptdp.policy.packed import packed_discrepancy
from promptdp.records.record import Record

SLOTS, COMPANY = 5, 12
Seen = tuple[Completions, torch.Tensor | None]
PERTURBED = Claim(
    id="isolation-rewards",
    title="Cross-prompt isolation, another record's rewards",
    source="Appendix B; assumption (A2)",
    claim="A record's gradient is bit-identical before and after all rewards of another record change.",
    method="For every training method and benchmark of the study: the gradient of record i, the "
    "gradient of record j, the same with all its rewards inverted, and again that of i. Value: how "
    "many gradients of i changed.",
)
COMPANIES = Claim(
    id="isolation-round",
    title="Cross-prompt isolation through the production round",
    source="Appendix B; assumption (A2)",
    claim="A record's completions and gradient are bit-identical alone, in company, in company in "
    "another order and in longer company.",
    method="Four production rounds for every training method and benchmark of the study, the record "
    "in the same slot with the same randomness. Value: how many of the comparisons differ.",
)
STRICT = Claim(
    id="isolation-strict",
    title="Strict isolation, twelve records",
    source="Assumption (A2); design",
    claim="In strict isolation no record's completions or gradient change with its company.",
    method="Twelve public records of each benchmark in one production round, and each alone in one. "
    "Value: how many records changed.",
)
PACKED = Claim(
    id="isolation-packed",
    title="Packed isolation, measured",
    source="Appendix A-G, (A2); design",
    claim="Nothing is claimed: records that share decoding batches may change each other's completions.",
    method="As for strict isolation. Value: how many records' completions changed, and the largest "
    "relative difference of a gradient.",
)


def check_rewards(subject: Subject, claim: Claim = PERTURBED) -> Row:
    """The paper's test, for every method of the study."""
    changed = 0
    for objective, advantage, benchmarks in subject.methods():
        for benchmark in benchmarks:
            trial = subject.trial(benchmark, objective, advantage)
            first, other = trial.examples(2)
            trial.gradient_of(other)
            if trial.reward is not None:
                trial.reward.inverted = True
                trial.gradient_of(other)
                trial.reward.inverted = False
            changed += not _same(trial.gradient_of(first), first.gradient)
    return claim.at_most(changed, 0)


def check_companies(subject: Subject, claim: Claim = COMPANIES) -> Row:
    """Through the production round, for every method of the study."""
    differ = 0
    for objective, advantage, benchmarks in subject.methods():
        for benchmark in benchmarks:
            trial = subject.trial(benchmark, objective, advantage)
            records = trial.records[:SLOTS]
            together = _round(trial, records)
            place = next((i for i, r in enumerate(records) if _is_lively(together[r.id])), None)
            if place is None:
                return claim.failed("no gradient differs from zero")
            record = records[place]
            others = [r for r in records if r is not record]
            companies = (
                _among(record, place, [None] * len(others)),
                _among(record, place, others[::-1]),
                _among(record, place, trial.records[-len(others) :]),
            )
            for company in companies:
                differ += not _equal(_round(trial, company)[record.id], together[record.id])
    return claim.at_most(differ, 0)


def check_strict(subject: Subject, claim: Claim = STRICT) -> Row:
    """How many of twelve records company changes in strict isolation."""
    changed, _, _ = _company_effect(subject, "strict")
    return claim.at_most(changed, 0)


def report_packed(subject: Subject, claim: Claim = PACKED) -> Row:
    """What sharing batches does to records."""
    changed, total, worst = _company_effect(subject, "packed")
    nats = 0.0
    for benchmark in subject.study.benchmarks:
        trial = subject.trial(benchmark)
        prompts = [trial.policy.prompt(record) for record in _alike(trial)]
        sampling = (trial.rollouts.samples, trial.rollouts.temperature, trial.rollouts.cap)
        nats = max(nats, packed_discrepancy(subject.base, trial.policy.adapter, prompts, *sampling))
    return claim.reported(
        f"{changed} of {total} records changed; largest relative difference of a gradient {worst:.3g}; "
        f"of a token's log-probability {nats:.3g} nats"
    )


def _company_effect(subject: Subject, isolation: Literal["strict", "packed"]) -> tuple[int, int, float]:
    """How many records company changes, of how many, and the largest relative difference of a gradient."""
    changed, total, worst = 0, 0, 0.0
    for benchmark in subject.study.benchmarks:
        trial = subject.trial(benchmark, isolation=isolation)
        records = _alike(trial)
        together = _round(trial, records)
        for place, record in enumerate(records):
            company = _among(record, place, [None] * (len(records) - 1))
            alone, accompanied = _round(trial, company)[record.id], together[record.id]
            total += 1
            changed += not _equal(alone, accompanied)
            worst = max(worst, relative_difference(accompanied[1], alone[1]))
    return changed, total, worst


def relative_difference(first: torch.Tensor | None, second: torch.Tensor | None) -> float:
    """The norm of the difference over the norm of the second; an absent gradient is zero."""
    if first is None or second is None:
        return 0.0 if first is second else 1.0
    size = torch.linalg.vector_norm(second)
    return float(torch.linalg.vector_norm(first - second) / size) if size > 0 else 0.0


def _round(trial: Trial, contents: Sequence[Record | None]) -> dict[str, Seen]:
    """What each record contributed to one production round that draws every slot."""
    witness = Witness(trial.objective)
    mechanism = everyone(len(contents), 1.0)
    mean_of_round(mechanism, contents, witness, trial.policy.adapter.coordinates, trial.rollouts)
    return witness.seen


def _alike(trial: Trial) -> list[Record]:
    """Twelve records, as many as possible with prompts of one length: those can share a batch."""
    lengths = {record: len(trial.policy.prompt(record)) for record in trial.records}
    common = Counter(lengths.values())
    return sorted(trial.records, key=lambda r: (-common[lengths[r]], lengths[r]))[:COMPANY]


def _among(record: Record, place: int, others: Sequence[Record | None]) -> list[Record | None]:
    return [*others[:place], record, *others[place:]]


def _is_lively(seen: Seen) -> bool:
    return seen[1] is not None and bool(seen[1].any())


def _equal(first: Seen, second: Seen) -> bool:
    return first[0] == second[0] and _same(first[1], second[1])


def _same(first: torch.Tensor | None, second: torch.Tensor | None) -> bool:
    if first is None or second is None:
        return first is second
    return torch.equal(first, second)
