"""A private zone in which the production trainer makes whole runs, read from the weights that it leaves.

The study of a zone is a small one on the examined base. Its AdamW has no memory and an eps far above any
gradient, so that a step can be inverted: the mean of every round is read from the weights.
"""

import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from promptdp.assurance.verification.subject import Subject
from promptdp.files import private_directory, read_json, write_json
from promptdp.policy.lora import attach
from promptdp.privacy.accounting import account, epsilon_all
from promptdp.privacy.ledger import verify_ledger
from promptdp.privacy.mechanism import Mechanism
from promptdp.records.record import Record, write_records
from promptdp.study import Study
from promptdp.training.checkpoint import load_checkpoint
from promptdp.training.run import CHECKPOINT, train

NAME, SEED = "small", 1
NOISY = Mechanism(slots=6, expected=2, rounds=2, noise_multiplier=100.0, clipping_norm=1.0, delta=1e-6)
EXACT = Mechanism(slots=4, expected=4, rounds=1, noise_multiplier=0.0, clipping_norm=math.inf, delta=1e-6)
CAPS, SAMPLES = {NOISY: 8, EXACT: 32}, {NOISY: 2, EXACT: 8}
EPS, RATES = 1e4, {NOISY: 4.0, EXACT: 1e10}
"""A mean of 50 moves a coordinate by 0.02, one of 1e-6 without noise by 1: float32 shows both to 1e-5."""


class _StoppedError(Exception):
    """What ends a run between two rounds."""


@dataclass
class Zone:
    """A private zone and the runs of one study in it, each under a name of its own.

    Attributes:
        folder: the zone, closed to others.
        study: the study.
        base: the base model's folder.
        mechanism: that of the study's one arm.
        start: theta_1, shape (p,).
        means: what each round handed to the optimizer, in the order they were drawn, each of shape (p,).
    """

    folder: Path
    study: Study
    base: Path
    mechanism: Mechanism
    start: torch.Tensor
    means: list[np.ndarray] = field(default_factory=list)

    def train(self, name: str, records: Sequence[Record], rounds: int | None = None) -> None:
        """Begin a run or go on with it, to its end or for some rounds."""
        saved = list(self.folder.glob(f"{name}/*/{CHECKPOINT}"))
        thetas = [_theta(saved[0]) if saved else self.start]

        def progress(line: str) -> None:
            # A run that starts over says so before it has weights.
            thetas.extend(map(_theta, self.folder.glob(f"{name}/*/{CHECKPOINT}")))
            if rounds and len(thetas) > rounds:
                raise _StoppedError

        write_records(self.folder / f"{name}.jsonl", list(records))
        with suppress(_StoppedError):
            train(
                self.study,
                benchmark=NAME,
                arm=NAME,
                seed=SEED,
                records=self.folder / f"{name}.jsonl",
                calibration=self.folder / "calibration.json" if self.mechanism.private else None,
                base=self.base,
                recovery=self.folder / name,
                register=self.folder / "register.jsonl",
                out_adapter=self.published(name) / "adapter",
                out_manifest=self.published(name) / "run.json",
                out_ledger=self.published(name) / "ledger.jsonl",
                progress=progress,
            )
        self.means += [self._mean(after.double() - before.double()) for before, after in pairwise(thetas)]

    def published(self, name: str) -> Path:
        """The folder of a run's outputs."""
        return self.folder / "published" / name

    def recovery(self, name: str) -> Path:
        """The recovery folder of a run that began."""
        (ledger,) = self.folder.glob(f"{name}/*/ledger.jsonl")
        return ledger.parent

    def wrong(self, name: str, attempts: int) -> int:
        """How many statements about a complete run are wrong, where it began so many attempts."""
        ledger = verify_ledger(self.published(name) / "ledger.jsonl")
        said = read_json(self.published(name) / "run.json")
        charged = epsilon_all(self.mechanism, attempts)
        return sum(
            (
                ledger.rounds != self.mechanism.rounds,
                ledger.begun_attempts != attempts,
                said["attempts"] != attempts,
                not math.isclose(said["accounting"]["epsilon_all"], charged, rel_tol=1e-6),
                said["ledger_head"] != ledger.head,
                said["theta_sha256"] != ledger.theta_sha256,
            )
        )

    def _mean(self, step: torch.Tensor) -> np.ndarray:
        """The gradient g of a step: -rate g / (|g| + eps)."""
        scaled = -step / RATES[self.mechanism]
        return (EPS * scaled / (1 - scaled.abs())).numpy()


@contextmanager
def zone(subject: Subject, base: str | Path, mechanism: Mechanism, objective: str) -> Iterator[Zone]:
    """A zone in a temporary folder, for a study of one arm on the examined base."""
    study = small_study(subject.study, mechanism, objective)
    start = attach(subject.base, SEED, **study.lora.model_dump()).theta
    with tempfile.TemporaryDirectory(prefix="promptdp-") as temporary:
        folder = private_directory(Path(temporary) / "zone")
        if mechanism.private:
            parameters = (mechanism.slots, mechanism.expected, mechanism.rounds, mechanism.noise_multiplier)
            write_json(folder / "calibration.json", account(*parameters, mechanism.delta).as_json())
        yield Zone(folder, study, Path(base), mechanism, start)


def small_study(examined: Study, mechanism: Mechanism, objective: str) -> Study:
    """A study of one trained arm with this mechanism and everything else of the examined study."""
    bench = next(iter(examined.benchmarks.values()))
    sizes = {"slots": mechanism.slots, "expected": mechanism.expected, "rounds": mechanism.rounds}
    public: dict[str, Any] = {"source": "arithmetic", "prompt": bench.prompt, "reward": bench.reward}
    cap = min(bench.cap, CAPS[mechanism])
    evaluation = {"benchmark": NAME, "problems": 1, "cap": cap, "scorers": {"strict": bench.reward}}
    clipping_norm = mechanism.clipping_norm if mechanism.private else None
    arm = {"label": NAME, "objective": objective, "seeds": [SEED], "clipping_norm": clipping_norm}
    arm |= {"learning_rate": RATES[mechanism], "noise_multiplier": mechanism.noise_multiplier}
    return Study.model_validate(
        examined.model_dump(include={"base", "lora", "engine", "dtype"})
        | {
            "name": NAME,
            "title": "Runs of the trainer that verification examines",
            "records": "public",
            "randomness": "os" if mechanism.private else "seeded",
            "isolation": "strict",
            "rollouts": examined.rollouts.model_dump() | {"samples": SAMPLES[mechanism]},
            "optimizer": {"beta1": 0.0, "beta2": 0.0, "eps": EPS},
            "benchmarks": {NAME: public | sizes | {"cap": cap, "epsilon": 1.0, "delta": mechanism.delta}},
            "evaluation_sets": {NAME: evaluation},
            "arms": {NAME: arm},
        }
    )


def _theta(checkpoint: Path) -> torch.Tensor:
    saved = load_checkpoint(checkpoint)
    assert saved is not None, "the file was there a moment ago"
    return saved[0]["theta"]
