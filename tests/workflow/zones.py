"""A study with marked records, its road walked verb by verb, and the private facts of its training."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch

from promptdp.cli import main
from promptdp.files import private_directory
from promptdp.policy.local import LocalEngine
from promptdp.records.record import Record, write_records
from promptdp.training import methods
from promptdp.training import round as round_module
from promptdp.training import run as run_module
from tests.tiny import write_tiny_base
from tests.workflow.marks import Marks

RESULTS = Path("results/zones")
TEXTS = tuple(f"ZEBRA{part}" for part in ("ID", "ASK", "ANSWER", "SOLUTION", "CHOICE", "PERSON"))
ARMS = {"base": 0, "dp": 1, "gold": 1}
STUDY = """
name: zones
title: Marked records
records: confidential
base: {{checkpoint: {base}}}
lora: {{dropout: 0.0}}
rollouts: {{samples: 2, temperature: 1.0}}
benchmarks:
  own:
    {{source: jsonl, path: {records}, reward: math_strict, cap: 3, epsilon: 8,
      slots: {slots}, expected: {expected}, rounds: {rounds}}}
evaluation_sets:
  own: {{benchmark: own, path: {problems}, problems: 6, cap: 3, scorers: {{strict: math_strict}}}}
arms:
  base: {{label: Base, objective: none, seeds: [0]}}
  dp: {{label: DP-GRPO, objective: grpo, seeds: [1], learning_rate: 0.01, clipping_norm: 0.01}}
  gold: {{label: Gold, objective: gold, seeds: [1], learning_rate: 0.01, clipping_norm: 0.01}}
contrasts:
  - {{arm: dp, versus: base, family: one}}
  - {{arm: dp, versus: gold, family: one}}
tables: [1, 2, 3, 6, 10, 11]
"""


@dataclass(frozen=True)
class World:
    """A folder with the study, its private records, its public problems and its public base."""

    folder: Path
    slots: int
    expected: int
    rounds: int

    def fill(self, count: int) -> None:
        """Write the study's files, with `count` records; paths are relative to the folder."""
        records, problems = self.folder / "private/own.jsonl", self.folder / "problems.jsonl"
        private_directory(records.parent)
        write_records(records, [marked(i) for i in range(count)], private=True)
        write_records(problems, [Record(f"p{i}", f"{i}+2?", f"{i + 2}") for i in range(6)])
        write_tiny_base(self.folder / "tiny")
        settings = {"slots": self.slots, "expected": self.expected, "rounds": self.rounds}
        text = STUDY.format(base="tiny", records="private/own.jsonl", problems="problems.jsonl", **settings)
        (self.folder / "zones.yaml").write_text(text)

    def hashes(self) -> frozenset[str]:
        """Digests by which somebody who knows the records could recognise the files that hold them."""
        files = (self.folder / "private/own.jsonl", *self.folder.glob("private/**/train.jsonl"))
        contents = [path.read_bytes() for path in files]
        lines = [line for content in contents for line in content.splitlines()]
        questions = [json.loads(line)["question"].encode() for line in lines]
        kinds = (hashlib.sha256, hashlib.md5, hashlib.sha1)
        digests = {kind(content).hexdigest() for kind in kinds for content in (*contents, *lines, *questions)}
        return frozenset(digests) | {path.name for path in self.folder.glob("private/**/recovery/*/*/*/*")}


def marked(number: int) -> Record:
    """A record whose every field is marked."""
    name, ask, answer, solution, choice, person = TEXTS
    return Record(
        id=f"{name}{number}",
        question=f"{ask}{number}?",
        answer=f"{answer}{number}",
        solution=f"{solution}{number}",
        choices=(f"{choice}{number}",),
        contributor=f"{person}{number % 7}",
    )


def walk(world: World) -> None:
    """The road from records to releases and tables, in the world's folder, by the verbs of the rules."""
    prepare(world)
    for arm in ("dp", "gold"):
        train_arm(arm)
    certify("dp")
    evaluate()


STUDY_OPTION = {"study": "zones.yaml"}
TRAINED = STUDY_OPTION | {"benchmark": "own"}
EVALUATED = STUDY_OPTION | {"evaluation-set": "own"}
ZONE, BASE, CALIBRATION = Path("private/zones"), RESULTS / "base", RESULTS / "calibration/c.json"
RECORDS, PROBLEMS = ZONE / "records/own/train.jsonl", RESULTS / "records/own/eval.jsonl"
LOCK = Path(__file__).resolve().parents[2] / "config/frozen/math_strict.sha256"


def prepare(world: World) -> None:
    """All that training needs."""
    promptdp("base", **STUDY_OPTION, out=BASE, manifest=RESULTS / "base.json")
    promptdp("records", **TRAINED, out=RECORDS)
    promptdp("records", **EVALUATED, out=PROBLEMS, **{"split-out": PROBLEMS.with_name("split.json")})
    sampling = {"slots": world.slots, "expected": world.expected, "rounds": world.rounds}
    promptdp("calibrate", **sampling, epsilon=8, out=CALIBRATION)


def run_of(arm: str) -> Path:
    """The public folder of an arm's run."""
    return RESULTS / f"runs/own/{arm}/seed{ARMS[arm]}"


def train_arm(arm: str) -> None:
    """One private run."""
    promptdp(
        "train",
        **TRAINED,
        arm=arm,
        seed=ARMS[arm],
        records=RECORDS,
        calibration=CALIBRATION,
        base=BASE,
        lock=LOCK,
        recovery=ZONE / f"recovery/own/{arm}/seed1",
        register=ZONE / "register.jsonl",
        adapter=run_of(arm) / "adapter",
        manifest=run_of(arm) / "run.json",
        ledger=run_of(arm) / "ledger.jsonl",
    )


def certify(arm: str) -> None:
    """The certificate of a run, and the folder that may be published."""
    certificate, release = RESULTS / f"assurance/{arm}.json", RESULTS / f"release/own/{arm}/seed{ARMS[arm]}"
    promptdp("certificate", run=run_of(arm), register=ZONE / "register.jsonl", out=certificate)
    promptdp("release", run=run_of(arm), certificate=certificate, out=release)
    promptdp("certificate", check=release)


def evaluate() -> None:
    """Predictions, scores, contrasts and tables of every arm."""
    scores = []
    for arm, seed in ARMS.items():
        predictions = RESULTS / f"predictions/own/{arm}/seed{seed}.jsonl.gz"
        promptdp(
            "predict",
            **EVALUATED,
            arm=arm,
            seed=seed,
            records=PROBLEMS,
            base=BASE,
            out=predictions,
            manifest=predictions.with_name(f"seed{seed}.manifest.json"),
            **({} if arm == "base" else {"adapter": run_of(arm) / "adapter"}),
        )
        scores.append(RESULTS / f"scores/own/math_strict/{arm}/seed{seed}.parquet")
        made = {"predictions": predictions, "records": PROBLEMS, "lock": LOCK}
        promptdp("score-run", "math_strict", **made, out=scores[-1])
    composed = RESULTS / "calibration/composed-own.json"
    promptdp("compose", **TRAINED, runs=[run_of(arm) / "run.json" for arm in ("dp", "gold")], out=composed)
    contrasts = [RESULTS / f"contrasts/own/math_strict/dp-{versus}.json" for versus in ("base", "gold")]
    for contrast in contrasts:
        named = {"scorer": "math_strict", "name": contrast.stem}
        promptdp("contrast-run", **EVALUATED, **named, scores=scores, out=contrast)
    for number in (1, 2, 3, 6, 10, 11):
        inputs = [*scores, *contrasts, CALIBRATION, composed]
        promptdp("table", number, **STUDY_OPTION, inputs=inputs, stem=RESULTS / f"tables/table{number}")


def promptdp(*words: object, **options: object) -> None:
    """One call of the command line, in this process."""
    for name, value in options.items():
        words += (f"--{name}", *(value if isinstance(value, list) else [value]))
    main([str(word) for word in words])


@dataclass
class Witness:
    """What training does with private records and shows nobody: counts and numbers, as they come up.

    Attributes:
        counts: realised batch sizes, and tokens of a round's completions.
        values: rewards, norms before and after clipping, of the sum too, and means of these.
    """

    counts: set[int] = field(default_factory=set)
    values: set[float] = field(default_factory=set)

    def watch(self, monkeypatch, draws: int) -> None:
        """Draw the first `draws` slots in every round, give rewards that can be recognised, and look on."""
        clip, noise = round_module.clip, round_module.gaussian_noise
        rewards: list[float] = []
        clipped: list[torch.Tensor] = []
        norms: list[float] = []
        lengths: list[int] = []

        def verifier(rule):
            def reward(*, response, reference, capped):
                rewards.append(0.5772156649 + 0.0618033988 * sum(map(ord, response)) / 1e3)
                return rewards[-1]

            return reward

        def clipping(gradient, *rest):
            norms.append(float(gradient.double().norm()))
            clipped.append(clip(gradient, *rest))
            return clipped[-1]

        def drawing(*_):
            norms.clear(), rewards.clear(), clipped.clear(), lengths.clear()
            return list(range(draws))

        def noising(*args):
            self.values |= {*norms, *rewards, float(torch.stack(clipped).sum(0).norm())}
            self.values |= set(means(norms)) | set(means(rewards))
            self.values |= set(means(lengths))
            self.counts |= {len(clipped), len(lengths), sum(lengths)}
            return noise(*args)

        class Watched(LocalEngine):
            def generate(engine, *args):  # noqa: N805
                groups = super().generate(*args)
                lengths.extend(len(row) for group in groups for row in group)
                return groups

        monkeypatch.setattr(round_module, "poisson_draw", drawing)
        monkeypatch.setattr(round_module, "clip", clipping)
        monkeypatch.setattr(round_module, "gaussian_noise", noising)
        monkeypatch.setattr(run_module, "LocalEngine", Watched)
        monkeypatch.setattr(methods, "verifier", verifier)

    def marks(self, world: World, count: int) -> Marks:
        """Everything to look for; numbers of few digits are left out, since they'd be found by chance."""
        shares = {count / world.slots, 1 - count / world.slots, count / world.expected}
        return Marks(
            TEXTS,
            frozenset(n for n in {*self.counts, count, world.slots - count} if n >= 1000),
            frozenset(x for x in self.values | shares if len(f"{x:.12g}".strip("0.").replace(".", "")) >= 8),
            world.hashes(),
        )


def means(values: list[float]) -> Iterator[float]:
    """What a log would say of many numbers: their sum, mean and root mean square."""
    if values:
        yield from (float(sum(values)), sum(values) / len(values))
        yield (sum(value**2 for value in values) / len(values)) ** 0.5
