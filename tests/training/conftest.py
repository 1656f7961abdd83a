"""The tiny random models, and a small study with its records, ready to train."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from promptdp.files import private_directory, write_json
from promptdp.privacy.accounting import calibrate, epsilon_all, epsilon_bound, epsilon_retained
from promptdp.records.record import Record, write_records
from promptdp.study import Study
from promptdp.training.run import train
from tests.tiny import exact, family, tiny, tiny_folder, tiny_folders  # noqa: F401

torch.set_num_threads(1)

ROUNDS, SLOTS, EXPECTED = 4, 10, 4


@cache
def calibration() -> dict[str, Any]:
    """The mechanism of the private arms, with its budget."""
    return calibrate(SLOTS, EXPECTED, ROUNDS, epsilon=8, delta=0.01).as_json()


@cache
def reserved_calibration() -> dict[str, Any]:
    """The same with two more rounds in reserve."""
    return calibrate(SLOTS, EXPECTED, ROUNDS + 2, epsilon=8, delta=0.01).as_json()


def small_study(**changes: Any) -> Study:
    """Four rounds over ten slots; `changes` replace top-level settings."""
    private = {"label": "x", "seeds": [1, 2], "learning_rate": 0.01, "clipping_norm": 0.1}
    settings = {
        "name": "small",
        "title": "A study of four rounds",
        "records": "public",
        "base": {"checkpoint": "tiny"},
        "lora": {"dropout": 0.0},
        "rollouts": {"samples": 2, "temperature": 1.0},
        "benchmarks": {
            "sums": {
                "source": "arithmetic",
                "reward": "math_strict",
                "slots": SLOTS,
                "expected": EXPECTED,
                "rounds": ROUNDS,
                "cap": 6,
                "epsilon": 8,
                "delta": 0.01,
            }
        },
        "evaluation_sets": {
            "sums": {"benchmark": "sums", "problems": 5, "cap": 6, "scorers": {"strict": "math_strict"}}
        },
        "arms": {
            "dp": private | {"objective": "grpo"},
            "filtered": private | {"objective": "filtered"},
            "gold": private | {"objective": "gold"},
            "free": private | {"objective": "grpo", "clipping_norm": None, "noise_multiplier": 0},
        },
    }
    return Study.model_validate(settings | changes)


@dataclass
class Run:
    """The arguments of one training run, and where its files lie."""

    folder: Path
    base: Path
    arm: str = "dp"
    study: Study = field(default_factory=small_study)
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.private, self.results = self.folder / "private", self.folder / "results"
        self.adapter, self.manifest = self.results / "adapter", self.results / "run.json"
        self.ledger, self.records = self.results / "ledger.jsonl", self.private / "train.jsonl"
        self.calibration = self.folder / "calibration.json"
        self.register, self.recovery = self.private / "register.jsonl", self.private / "recovery"
        private_directory(self.private)
        if not self.records.exists():
            self.write_records(7)
        write_json(self.calibration, calibration())

    def write_records(self, count: int) -> None:
        """Private records with marked texts."""
        write_records(
            self.records,
            [
                Record(id=f"id-{i}", question=f"MARK{i}+1?", answer=f"{i + 1}", solution=f"MARKED {i + 1}")
                for i in range(count)
            ],
        )

    def __call__(self, **changes: Any) -> None:
        """Train; `changes` replace which run."""
        private = self.study.arms[self.arm].private
        which = {"benchmark": "sums", "arm": self.arm, "seed": 1} | changes
        train(
            self.study,
            **which,
            records=self.records,
            calibration=self.calibration if private else None,
            base=self.base,
            recovery=self.recovery,
            register=self.register,
            out_adapter=self.adapter,
            out_manifest=self.manifest,
            out_ledger=self.ledger,
            progress=self.lines.append,
        )

    def public_files(self) -> dict[str, bytes]:
        """Every public file's bytes by its path."""
        paths = sorted(path for path in self.results.rglob("*") if path.is_file())
        return {str(path.relative_to(self.results)): path.read_bytes() for path in paths}

    @property
    def recovered(self) -> Path:
        """The one recovery folder of the run."""
        (folder,) = (path for path in self.recovery.iterdir() if path.is_dir())
        return folder


@pytest.fixture
def run(tmp_path, tiny_folder) -> Run:  # noqa: F811
    return Run(tmp_path, tiny_folder)


bound_of, retained_of, charge_of = cache(epsilon_bound), cache(epsilon_retained), cache(epsilon_all)


@pytest.fixture(autouse=True)
def _budgets_are_computed_once(monkeypatch):
    """Runs of one mechanism share its numbers: their accounting is half of a tiny run's time."""
    monkeypatch.setattr("promptdp.training.calibrated.epsilon_bound", bound_of)
    monkeypatch.setattr("promptdp.training.calibrated.epsilon_retained", retained_of)
    monkeypatch.setattr("promptdp.training.manifest.epsilon_all", charge_of)
