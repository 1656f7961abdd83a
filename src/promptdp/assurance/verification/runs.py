"""Whole runs of the production trainer: their noise, their ledgers, and that records stay apart in them."""

import math
import shutil
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from promptdp.assurance.verification.chance import LEVEL, adjusted, correlation_p, scale_p
from promptdp.assurance.verification.row import Claim, Row
from promptdp.assurance.verification.subject import Subject
from promptdp.assurance.verification.zone import EXACT, NOISY, zone
from promptdp.records.record import Record
from promptdp.training.run import CHECKPOINT

CUT_OFF_LINES = 4
"""Opened, round 1 begun and committed, round 2 begun."""
SUM_TOLERANCE = 1e-5
NOISE = Claim(
    id="runs-noise",
    title="The trainer's noise, run by run",
    source="Assumption (A3)",
    claim="No two rounds share noise: not those of two runs with equal settings on neighbouring records, "
    "not an attempt that was cut off and the one after it, not a run and its repetition once its weights "
    "are lost.",
    method="The production trainer in one private zone (2 rounds over 6 slots, q = 1/3, noise multiplier "
    "100, so that records can't be seen): a run; the same from the files that a kill before the second "
    "round's save leaves; the same without its weights; another on one record less. The means of all "
    "seven rounds, pair by pair and tensor by tensor. Value: the smallest p-value of a correlation, "
    "adjusted for their number.",
)
SCALE = Claim(
    id="runs-scale",
    title="The trainer's noise, its scale",
    source="Algorithm 1, line 8; assumption (A3)",
    claim="Every round of a run adds noise of standard deviation sigma C / m to every tensor.",
    method="The same seven means. Exact chi-square tests of every tensor and of the whole. Value: the "
    "smallest p-value, adjusted for their number.",
)
LEDGER = Claim(
    id="runs-ledger",
    title="The trainer's ledger",
    source="Appendix A-F; design",
    claim="Every attempt that began is in the closed ledger and charged, one that was cut off and those of "
    "lost weights too; the weights are those committed last.",
    method="What these runs publish, each time one ends, beside our own count of attempts. Value: how many "
    "statements are wrong.",
)
SUM = Claim(
    id="runs-sum",
    title="Cross-prompt isolation through the production trainer",
    source="Appendix B; assumption (A2)",
    claim="A record's contribution doesn't know the texts and rewards of others: the step on two groups of "
    "records is the sum of the steps on either.",
    method="Runs of the trainer at q = 1 without clipping and noise, from a fixed source, in strict "
    "isolation, by gold imitation and by GRPO (which learns where the base is now right, now wrong), on two "
    "groups of two public records: each with prompts that are too long, and so contribute zero, in the "
    "other's place, and both. Value: the largest norm of the difference from the sum over the norm of the "
    "sum (NaN if no run learns).",
)


def check_runs(subject: Subject, base: str | Path) -> list[Row]:
    """Noise and ledger of a run, of what becomes of it after a kill and a loss, and of a neighbouring one."""
    records = _records(subject)[: NOISY.slots]
    with zone(subject, base, NOISY, "grpo") as runs:
        runs.train("run", records, rounds=1)
        folder = runs.recovery("run")
        shutil.copy(folder / CHECKPOINT, runs.folder / CHECKPOINT)
        runs.train("run", records)
        wrong = runs.wrong("run", 2)
        # What a kill leaves after round 2 began and before its weights were saved.
        shutil.copy(runs.folder / CHECKPOINT, folder / CHECKPOINT)
        lines = (folder / "ledger.jsonl").read_bytes().splitlines(keepends=True)
        (folder / "ledger.jsonl").write_bytes(b"".join(lines[:CUT_OFF_LINES]))
        runs.train("run", records)
        wrong += runs.wrong("run", 3)
        (folder / CHECKPOINT).unlink()
        runs.train("run", records)
        wrong += runs.wrong("run", 5)
        runs.train("neighbour", records[:-1])
        wrong += runs.wrong("neighbour", 2)
    std = NOISY.noise_multiplier * NOISY.clipping_norm / NOISY.expected
    edges = np.cumsum(subject.tensor_sizes())[:-1]
    noise = [np.split(mean / std, edges) for mean in runs.means]
    pairs = combinations(noise, 2)
    shared = [correlation_p(one, other) for pair in pairs for one, other in zip(*pair, strict=True)]
    scales = [scale_p(part) for tensors in noise for part in (np.concatenate(tensors), *tensors)]
    return [
        NOISE.at_least(adjusted(shared), LEVEL),
        SCALE.at_least(adjusted(scales), LEVEL),
        LEDGER.at_most(wrong, 0),
    ]


def check_sum(subject: Subject, base: str | Path) -> Row:
    """The step on two groups of records beside the steps on either."""
    records = _records(subject)[: EXACT.slots]
    half = EXACT.slots // 2
    blanks = [_too_long(subject, record) for record in records]
    differences = []
    for objective in ("gold", "grpo"):
        with zone(subject, base, EXACT, objective) as runs:
            runs.train("first", [*records[:half], *blanks[half:]])
            runs.train("second", [*blanks[:half], *records[half:]])
            runs.train("both", records)
        first, second, both = runs.means
        size = np.linalg.norm(first + second)
        if both.any() or size:
            differences.append(float(np.linalg.norm(both - first - second) / size) if size else math.inf)
    return SUM.at_most(max(differences, default=math.nan), SUM_TOLERANCE)


def _records(subject: Subject) -> Sequence[Record]:
    return subject.trial(next(iter(subject.study.benchmarks))).records


def _too_long(subject: Subject, record: Record) -> Record:
    return replace(record, question="1 " * subject.base.context)
