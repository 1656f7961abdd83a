"""One gradient, however it is computed: in chunks or at once, by the fast way or by the reference."""

import math
from collections.abc import Iterator

import torch

from promptdp.assurance.verification.isolation import relative_difference
from promptdp.assurance.verification.row import Claim, Row
from promptdp.assurance.verification.sensitivity import clipping_norms
from promptdp.assurance.verification.subject import Subject, Trial
from promptdp.policy.logprob import can_share_prefix, padded_logprobs, shared_prefix_logprobs

ROLLOUTS, CHUNKS, RECORDS = 8, (1, 2, 4, 8), 4
RTOL, ATOL = 1e-10, 1e-12
SINGLE_TOLERANCE, DOUBLE_TOLERANCE = 1e-3, 1e-10
CHUNKED = Claim(
    id="chunks",
    title="Chunk identity in binary64",
    source="Appendix B; Algorithm 1, lines 6 and 7",
    claim="Eight rollouts give the same gradient in chunks of 1, 2, 4 and 8: every coordinate agrees "
    "at rtol 1e-10, atol 1e-12.",
    method="The GRPO gradients of four public records of each benchmark, in binary64 throughout, no "
    "dropout. Value: the largest difference of a coordinate over what is allowed to it.",
)
CHUNKED_OWN = Claim(
    id="chunks-own",
    title="Chunk identity in the study's number format",
    source="Appendix B; Algorithm 1, lines 6 and 7",
    claim="Chunks change a gradient by rounding alone.",
    method="As in binary64. Value: the largest norm of a difference over the norm of the gradient.",
)
FLIPS = Claim(
    id="clip-flips",
    title="Clip decisions that chunking flips",
    source="Appendix B, separate fp16 preflight",
    claim="Nothing is claimed: a gradient whose norm is within rounding of C may be clipped or not.",
    method="The same gradients at every clipping norm of the study. Value: how often a chunked "
    "gradient is on the other side of C than the whole one.",
)
FAST = Claim(
    id="fast-gradients",
    title="Fast gradients against the reference",
    source="Design",
    claim="One row that shares the prompt gives the gradient of one padded row per completion.",
    method="The gradient of the mean log-probability of eight completions of four public records of "
    "each benchmark, both ways, no dropout. Value: the largest norm of the difference over the norm "
    "of the gradient.",
)


def check_chunks(subject: Subject) -> Row:
    """Chunk identity of a binary64 subject (see `Binary64`), coordinate by coordinate."""
    excesses = [
        float(((chunked - whole).abs() / (ATOL + RTOL * whole.abs())).max())
        for whole, chunked in _chunked(subject)
    ]
    return CHUNKED.at_most(max(excesses, default=math.nan), 1)


def check_chunks_by_norm(subject: Subject, claim: Claim, flips: Claim, tolerance: float | None) -> list[Row]:
    """Chunk identity in any format, reported where no tolerance is given, and the clip decisions it flips."""
    pairs, norms = list(_chunked(subject)), clipping_norms(subject)
    worst = max((relative_difference(chunked, whole) for whole, chunked in pairs), default=math.nan)
    flipped = sum(bool((a.norm() > c) != (b.norm() > c)) for a, b in pairs for c in norms)
    return [
        claim.reported(worst) if tolerance is None else claim.at_most(worst, tolerance),
        flips.reported(f"{flipped} of {len(pairs) * len(norms)}"),
    ]


def check_fast(subject: Subject, claim: Claim, tolerance: float | None) -> Row:
    """The fast way against the reference; reported where no tolerance is given."""
    if not can_share_prefix(subject.base.model):
        return claim.reported("the reference itself is used on this architecture")
    worst = 0.0
    for trial, slot in _trials(subject):
        record, adapter = trial.records[slot], trial.policy.adapter
        prompt, completions = trial.policy.prompt(record), trial.completions(slot, record)
        fast, reference = (
            adapter.gradient(torch.stack([u.mean() for u in way(adapter.model, prompt, completions)]).mean())
            for way in (shared_prefix_logprobs, padded_logprobs)
        )
        worst = max(worst, relative_difference(fast, reference))
    return claim.reported(worst) if tolerance is None else claim.at_most(worst, tolerance)


def _trials(subject: Subject) -> Iterator[tuple[Trial, int]]:
    for benchmark in subject.study.benchmarks:
        trial = subject.trial(benchmark, dropout=0.0).with_samples(ROLLOUTS)
        yield from ((trial, slot) for slot in range(RECORDS))


def _chunked(subject: Subject) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The whole and the chunked gradient of each record and size of chunk."""
    for trial, slot in _trials(subject):
        record = trial.records[slot]
        completions = trial.completions(slot, record)
        whole = trial.gradient(slot, record, completions)
        for size in CHUNKS:
            chunked = trial.with_chunk(size).gradient(slot, record, completions)
            if whole is not None and chunked is not None:
                yield whole, chunked
