"""Pitfalls of other libraries, looked for in the whole training program: `train()` from records to release.

Each check is also run on a double that has the fault, and must find it there.
"""

import ast
import hmac
import json
import random
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from promptdp.closure import import_closure
from promptdp.files import read_json
from promptdp.policy.base import load_base
from promptdp.policy.local import LocalEngine
from promptdp.policy.lora import attach
from promptdp.policy.performance import Performance
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.noise import gaussian_noise
from promptdp.privacy.randomness import Randomness
from promptdp.records.record import Record, write_records
from promptdp.training import round as round_module
from promptdp.training import run as run_module
from promptdp.training.descent import Descent
from promptdp.training.identity import zone_key
from tests.training.conftest import EXPECTED, ROUNDS, SLOTS, Run, calibration, small_study
from tests.training.kills import after, before, killed

SEEDED = small_study(randomness="seeded")
WEIGHTS = {"theta_sha256", "adapter_sha256", "ledger_head"}
"""Keys of the manifest that follow from the noisy weights."""


@pytest.fixture(autouse=True)
def rounds_alone(monkeypatch):
    """What is watched here are the rounds; the public record that is tried before them is left out."""
    monkeypatch.setattr(run_module, "preflight", lambda *rest: None)


def mechanism() -> Mechanism:
    return Mechanism(SLOTS, EXPECTED, ROUNDS, calibration()["sigma"], clipping_norm=0.1, delta=0.01)


def everyone(mechanism, stream):
    """A double of `poisson_draw` whose coins all came up 1."""
    return list(range(mechanism.slots))


def watch(monkeypatch, owner, name):
    """Keep what a function returns, call by call."""
    kept, original = [], getattr(owner, name)

    def watched(*args, **options):
        kept.append(original(*args, **options))
        return kept[-1]

    monkeypatch.setattr(owner, name, watched)
    return kept


def watch_steps(monkeypatch):
    """The noisy mean gradient of every round."""
    steps, original = [], Descent.step

    def step(self, noisy_mean):
        steps.append(noisy_mean.clone())
        original(self, noisy_mean)

    monkeypatch.setattr(Descent, "step", step)
    return steps


def engine_of(monkeypatch, engine):
    monkeypatch.setattr(run_module, "LocalEngine", engine)


# --- empty rounds ---


def is_pure_noise(steps) -> bool:
    """Whether every update is exactly what line 8 adds, under the seeded source of seed 1."""
    streams = [Randomness.seeded(1).stream(t, "noise") for t in range(1, ROUNDS + 1)]
    return [step.tolist() for step in steps] == [
        (gaussian_noise(mechanism(), len(steps[0]), stream) / EXPECTED).tolist() for stream in streams
    ]


def test_a_study_without_a_single_record_trains_all_its_rounds_on_noise(run, monkeypatch):
    steps, prompts, original = watch_steps(monkeypatch), [], LocalEngine.generate
    monkeypatch.setattr(
        LocalEngine,
        "generate",
        lambda self, asked, *rest: prompts.extend(asked) or original(self, asked, *rest),
    )
    run.study = SEEDED
    run.write_records(0)
    run()
    committed = [line for line in run.ledger.read_text().splitlines() if '"event":"commit"' in line]
    assert len(committed) == len(steps) == ROUNDS
    assert is_pure_noise(steps) and not prompts
    steps.clear()
    run.write_records(SLOTS)
    run()
    assert prompts and not is_pure_noise(steps)


# --- presence bits ---


def without_weights(run) -> dict[str, str]:
    """Every public file, without what follows from the noisy weights."""
    files = dict(run.public_files(), calibration=run.calibration.read_bytes())
    del files["adapter/adapter_model.safetensors"]
    manifest = {key: value for key, value in json.loads(files["run.json"]).items() if key not in WEIGHTS}
    ledger = [json.loads(line) for line in files["ledger.jsonl"].splitlines()]
    return {
        **{name: content.decode() for name, content in files.items()},
        "run.json": json.dumps(manifest),
        "ledger.jsonl": json.dumps([{k: v for k, v in line.items() if not is_hash(v)} for line in ledger]),
    }


def is_hash(value) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


def flipped(tmp_path, base, monkeypatch) -> tuple[list[Mechanism], list[dict[str, str]]]:
    """Two complete runs, with and without the record of one slot: their mechanisms and public files."""
    used, original = [], round_module.poisson_draw
    monkeypatch.setattr(
        round_module,
        "poisson_draw",
        lambda mechanism, stream: used.append(mechanism) or original(mechanism, stream),
    )
    files = []
    for count in (6, 7):
        one = Run(tmp_path / str(count), base)
        one.write_records(count)
        one()
        files.append(without_weights(one))
    return used, files


def test_a_presence_bit_moves_neither_the_mechanism_nor_any_public_fact(tmp_path, tiny_folder, monkeypatch):
    used, (absent, present) = flipped(tmp_path, tiny_folder, monkeypatch)
    assert set(used) == {mechanism()} and len(used) == 2 * ROUNDS
    assert {(m.divisor, m.rounds, m.delta) for m in used} == {(EXPECTED, ROUNDS, 0.01)}
    assert absent == present and len(absent) == 4


def test_a_mechanism_that_counts_the_records_would_be_noticed(tmp_path, tiny_folder, monkeypatch):
    original = run_module.private_round

    def counting(*args, mechanism, slots, **rest):
        present = sum(slots[i] is not None for i in range(len(slots)))
        counted = Mechanism(present, 4, ROUNDS, mechanism.noise_multiplier, 0.1, 0.01)
        return original(*args, mechanism=counted, slots=slots, **rest)

    monkeypatch.setattr(run_module, "private_round", counting)
    used, _ = flipped(tmp_path, tiny_folder, monkeypatch)
    assert len(set(used)) == 2


# --- what decides on the draws ---


@pytest.mark.parametrize("module", sorted(Path(round_module.__file__).parents[1].glob("privacy/*.py")))
def test_the_privacy_code_sees_nothing_of_a_machines_performance(module):
    closure = import_closure(f"promptdp.privacy.{module.stem}")
    assert not [name for name in closure if name.startswith(("promptdp.policy", "promptdp.training"))]
    names = {node.id for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.Name)}
    assert not names & {"Performance", "device_count", "world_size", "DataLoader"}


@pytest.mark.parametrize("performance", [Performance(chunk=1, rows=1), Performance(chunk=2, rows=64)])
def test_rows_and_chunks_change_neither_coins_nor_noise(tmp_path, tiny_folder, monkeypatch, performance):
    coins = watch(monkeypatch, round_module, "poisson_draw")
    noise = watch(monkeypatch, round_module, "gaussian_noise")
    for index, settings in enumerate((Performance(), performance)):
        Run(tmp_path / str(index), tiny_folder, study=SEEDED)(performance=settings)
    assert len(coins) == 2 * ROUNDS and coins[:ROUNDS] == coins[ROUNDS:]
    assert [z.tolist() for z in noise[:ROUNDS]] == [z.tolist() for z in noise[ROUNDS:]]


# --- one slot, one record ---


def test_one_text_in_two_slots_is_two_records_with_a_group_and_a_contribution_each(run, monkeypatch):
    texts = [f"{i}+1?" for i in range(SLOTS)]
    texts[9] = texts[3]
    write_records(run.records, [Record(f"id-{i}", text, "1") for i, text in enumerate(texts)])
    monkeypatch.setattr(round_module, "poisson_draw", everyone)
    groups = watch(monkeypatch, LocalEngine, "generate")
    contributions = watch(monkeypatch, round_module, "clip")
    run()
    assert len(groups) == len(contributions) == SLOTS * ROUNDS
    assert {len(group) for (group,) in groups} == {2}
    assert groups[3::SLOTS] != groups[9::SLOTS]
    # From the second round on the penalty alone gives every record a gradient.
    third, ninth = (torch.cat(contributions[SLOTS + slot :: SLOTS]) for slot in (3, 9))
    assert third.any() and ninth.any() and not torch.equal(third, ninth)


# --- generators that somebody else seeds ---


class Reseeding(LocalEngine):
    """An engine that seeds every usual generator when it starts and at every call, as vLLM does."""

    def __init__(self, *args, **options):
        reseed()
        super().__init__(*args, **options)

    def generate(self, *args, **options):
        reseed()
        return super().generate(*args, **options)


def reseed():
    torch.manual_seed(0), np.random.seed(0), random.seed(0)


def test_an_engine_that_reseeds_at_its_start_and_every_call_moves_neither_coins_nor_noise(
    tmp_path, tiny_folder, monkeypatch
):
    coins = watch(monkeypatch, round_module, "poisson_draw")
    noise = watch(monkeypatch, round_module, "gaussian_noise")
    runs = []
    for index, engine in enumerate((LocalEngine, Reseeding)):
        engine_of(monkeypatch, engine)
        runs.append(Run(tmp_path / str(index), tiny_folder, study=SEEDED))
        runs[-1]()
    assert coins[:ROUNDS] == coins[ROUNDS:]
    assert [z.tolist() for z in noise[:ROUNDS]] == [z.tolist() for z in noise[ROUNDS:]]
    assert runs[0].public_files() == runs[1].public_files()


@pytest.mark.parametrize("faulty", [False, True])
def test_under_an_engine_that_reseeds_two_runs_share_no_noise(tmp_path, tiny_folder, monkeypatch, faulty):
    if faulty:
        monkeypatch.setattr(
            round_module,
            "gaussian_noise",
            lambda mechanism, p, stream: mechanism.noise_std * torch.randn(p, dtype=torch.float64),
        )
    noise = watch(monkeypatch, round_module, "gaussian_noise")
    engine_of(monkeypatch, Reseeding)
    for index in range(2):
        Run(tmp_path / str(index), tiny_folder)()
    assert len(noise) == 2 * ROUNDS
    values = torch.cat(noise)
    assert (len(values.unique()) == len(values)) == (not faulty)


# --- the key of the randomness ---


def neighbouring_files(run):
    """Two runs in one zone that differ in a record."""
    run()
    run.write_records(6)
    run()


def two_executions(run):
    """Two executions of one run."""
    run()
    run(execution=2)


def one_kill_resumed_twice(run):
    """A run killed in round 1, and resumed in its zone and in a copy of it."""
    killed(run, before(run_module, "save_checkpoint"))
    copy = Run(run.folder / "copy", run.base)
    shutil.copytree(run.private, copy.private, dirs_exist_ok=True)
    run()
    copy()


def are_unrelated(run, monkeypatch, pair) -> bool:
    """Whether two trainings, in which no record was drawn, moved by other noise in every round.

    The updates are compared and not the coordinates: AdamW's first step keeps an update's sign alone.
    """
    monkeypatch.setattr(round_module, "poisson_draw", lambda *_: [])
    steps = watch_steps(monkeypatch)
    pair(run)
    assert len(steps) == 2 * ROUNDS
    first, second = torch.cat(steps[:ROUNDS]), torch.cat(steps[ROUNDS:])
    correlation = torch.corrcoef(torch.stack([first, second]))[0, 1]
    return bool((first != second).all() and abs(correlation) < 6 / len(first) ** 0.5)


@pytest.mark.parametrize("pair", [neighbouring_files, two_executions, one_kill_resumed_twice])
def test_no_two_trainings_in_one_zone_share_their_noise(run, monkeypatch, pair):
    assert are_unrelated(run, monkeypatch, pair)


@pytest.mark.parametrize(
    ("ingredients", "pair"),
    [
        (("zone",), neighbouring_files),
        (("zone",), two_executions),
        (("zone",), one_kill_resumed_twice),
        (("zone", "settings"), neighbouring_files),
        (("zone", "settings"), one_kill_resumed_twice),
        (("zone", "settings", "records"), one_kill_resumed_twice),
    ],
)
def test_a_key_that_is_kept_in_the_zone_would_be_noticed(run, monkeypatch, ingredients, pair):
    settings = watch(monkeypatch, run_module, "settings_sha256")

    def kept(cls):
        known = {
            "zone": zone_key(run.private),
            "settings": settings[-1].encode(),
            "records": run.records.read_bytes(),
        }
        source = Randomness(seed=None)
        source._root = hmac.new(b"".join(known[name] for name in ingredients), digestmod="sha256")
        return source

    monkeypatch.setattr(Randomness, "from_os", classmethod(kept))
    assert not are_unrelated(run, monkeypatch, pair)


# --- the adapter that is trained ---


def watch_rounds(monkeypatch, look):
    """Call `look(descent, rollouts)` before the first and after every round."""
    original = run_module.private_round

    def watched(t, attempt, *, descent, rollouts, **rest):
        look(descent, rollouts)
        original(t, attempt, descent=descent, rollouts=rollouts, **rest)
        look(descent, rollouts)

    monkeypatch.setattr(run_module, "private_round", watched)


def test_the_optimizer_holds_every_coordinate_of_the_adapter_and_a_round_moves_every_tensor(run, monkeypatch):
    thetas = []

    def look(descent, rollouts):
        adapter = rollouts.policy.adapter
        assert all(parameter.requires_grad for parameter in adapter.parameters)
        trainable = [p for p in adapter.model.parameters() if p.requires_grad]
        assert {id(p) for p in trainable} == {id(p) for p in adapter.parameters}
        (group,) = descent._adamw.param_groups
        assert sum(p.numel() for p in group["params"]) == descent.coordinates == adapter.coordinates
        assert torch.equal(descent.theta, adapter.theta)
        thetas.append([parameter.detach().clone() for parameter in adapter.parameters])

    watch_rounds(monkeypatch, look)
    run()
    assert len(thetas) == 2 * ROUNDS and len(thetas[0]) == read_json(run.manifest)["lora"]["tensors"] == 28
    for start_of, end_of in zip(thetas[::2], thetas[1::2], strict=True):
        assert all((a != b).all() for a, b in zip(start_of, end_of, strict=True))
    start = attach(load_base(run.base), 1, **run.study.lora.model_dump())
    released = load_file(run.adapter / "adapter_model.safetensors")
    for name, parameter in zip(start.names, start.parameters, strict=True):
        assert (released[name] != parameter).all(), name


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_adapter_is_float32_over_half_precision_at_start_after_a_resume_and_released(
    run, monkeypatch, dtype
):
    run.study = small_study(dtype=dtype)
    killed(run, after(run_module, "save_checkpoint", 2))
    seen = []

    def look(descent, rollouts):
        adapter, base = rollouts.policy.adapter, rollouts.policy.base
        seen.append({descent.theta.dtype, *(p.dtype for p in adapter.parameters)})
        assert base.model.dtype == getattr(torch, dtype)

    watch_rounds(monkeypatch, look)
    run()
    assert seen == [{torch.float32}] * 4  # before and after rounds 3 and 4
    assert {t.dtype for t in load_file(run.recovered / "checkpoint.safetensors").values()} == {torch.float32}
    assert {t.dtype for t in load_file(run.adapter / "adapter_model.safetensors").values()} == {torch.float32}
    start = attach(load_base(run.base, dtype), 1, **run.study.lora.model_dump())
    assert {parameter.dtype for parameter in start.parameters} == {torch.float32}


# --- the weights that the engine serves ---


class Remembering(LocalEngine):
    """A double with the fault of servers that know an adapter by its name: its first weights stay."""

    known = None

    def serve(self, adapter):
        if self.known != id(adapter):
            self.known = id(adapter)
            super().serve(adapter)


def stale_rounds(run, monkeypatch, engine) -> int:
    """In how many rounds the engine answers greedily otherwise than the adapter's present coordinates do."""
    probes, stale = [[2, 40, 41, 42, 3], [2, 50, 3], [2, *range(10, 30), 3]], []

    class Probed(engine):
        def serve(self, adapter):
            super().serve(adapter)
            answers = self.generate(probes, 1, 0, 1)
            with torch.no_grad():
                logits = [adapter.model(torch.tensor([ids])).logits[0, -1] for ids in probes]
            stale.append([group[0][0] for group in answers] != [int(row.argmax()) for row in logits])

    engine_of(monkeypatch, Probed)
    run()
    assert len(stale) == ROUNDS
    return sum(stale)


def test_the_engine_answers_with_the_present_coordinates_in_every_round(run, monkeypatch):
    fast = run.study.arms["dp"].model_dump() | {"learning_rate": 1.0}
    run.study = small_study(arms={"dp": fast})
    count = partial(stale_rounds, run, monkeypatch)
    assert count(LocalEngine) == 0
    run.write_records(6)  # another run
    assert count(Remembering) > 0


# --- the randomness of rollouts ---


def first_rollouts(tmp_path, base, monkeypatch, name):
    monkeypatch.setattr(round_module, "poisson_draw", everyone)
    groups = watch(monkeypatch, LocalEngine, "generate")
    one = Run(tmp_path / name, base)
    one.write_records(SLOTS)
    one()
    return groups[:SLOTS]


def test_two_runs_of_one_seed_sample_other_rollouts_from_the_same_start(tmp_path, tiny_folder, monkeypatch):
    first, second = (first_rollouts(tmp_path, tiny_folder, monkeypatch, name) for name in ("a", "b"))
    assert len(first) == len(second) == SLOTS and first != second


def test_an_engine_with_a_seed_of_its_own_would_be_noticed(tmp_path, tiny_folder, monkeypatch):
    original = LocalEngine.generate

    def fixed(self, prompts, samples, temperature, cap, streams):
        source = Randomness.seeded(0)
        return original(
            self, prompts, samples, temperature, cap, [source.stream(1, "r", i) for i in range(len(streams))]
        )

    monkeypatch.setattr(LocalEngine, "generate", fixed)
    first, second = (first_rollouts(tmp_path, tiny_folder, monkeypatch, name) for name in ("a", "b"))
    assert first == second
