"""One training run: from private records to a released adapter, its manifest and its ledger.

A run may be killed at any moment and started again with the same arguments. Each round is in the ledger
before its coins are drawn; its weights are saved before it is committed. On a restart, a round that was begun
but not saved is a new attempt with fresh randomness, and one that was saved but not committed is committed.
"""

import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch

from promptdp.errors import InputError, PrivacyRefusal, PromptDPError
from promptdp.files import (
    clear_unfinished,
    private_directory,
    read_bytes,
    sha256_file,
    write_json,
    write_text,
)
from promptdp.policy.base import load_base
from promptdp.policy.folders import check_replaceable
from promptdp.policy.local import LocalEngine
from promptdp.policy.lora import FILES, WEIGHTS, attach, theta_sha256
from promptdp.policy.performance import ANY_MACHINE, Performance
from promptdp.privacy.ledger import Ledger
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Randomness
from promptdp.privacy.register import Look, Register
from promptdp.privacy.zone import run_lock
from promptdp.records.record import Record, parse_records
from promptdp.records.slots import Slots
from promptdp.study import Study
from promptdp.training.calibrated import calibrated_mechanism
from promptdp.training.checkpoint import Place, load_checkpoint, save_checkpoint
from promptdp.training.descent import Descent
from promptdp.training.identity import private_fingerprint, public_settings, settings_sha256, zone_key
from promptdp.training.manifest import manifest
from promptdp.training.methods import training_method
from promptdp.training.objectives import Policy
from promptdp.training.preflight import preflight
from promptdp.training.rollouts import Rollouts
from promptdp.training.round import private_round

CHECKPOINT = "checkpoint.safetensors"
FAILURE = "failure-{}-{}.txt"
"""The traceback of a round and an attempt."""


def train(
    study: Study,
    benchmark: str,
    arm: str,
    seed: int,
    records: str | Path,
    calibration: str | Path | None,
    base: str | Path,
    recovery: str | Path,
    register: str | Path,
    out_adapter: str | Path,
    out_manifest: str | Path,
    out_ledger: str | Path,
    execution: int = 1,
    progress: Callable[[str], None] = lambda line: None,
    performance: Performance = ANY_MACHINE,
) -> None:
    """Train one arm with one seed, or go on with it, or write the outputs of a complete run again.

    Args:
        study: the experiment; the arm's settings on the benchmark come from it.
        benchmark: which benchmark's records.
        arm: which arm.
        seed: initialises the adapter and nothing else.
        records: the private records, JSON lines.
        calibration: the mechanism of a private arm; None for a non-private one.
        base: the public base model's folder.
        recovery: a folder of the private zone for this run; it outlives kills.
        register: the study's register of runs, in the private zone.
        out_adapter: the folder of the trained adapter, PEFT's layout.
        out_manifest: the public manifest.
        out_ledger: the closed ledger's copy; written last.
        execution: another number trains anew with fresh randomness, as another look at the same records.
        progress: is given a line with the round's number, or that training starts over.
        performance: how to use the machine.

    Raises:
        InputError: an input is missing, malformed or of another run; the study has no such run; a folder is
            open to others; the adapter's folder holds something else; or the model can't do what is asked.
        PrivacyRefusal: the study's records don't allow this arm, or that a run be published in which a round
            failed; or the ledger is gone or lacks rounds.
        PromptDPError: a fault of ours or of the machine; the same command goes on from the last round.
    """
    torch.set_num_threads(1)  # sums keep their order, and runs that share a machine don't fight for cores
    check_run(study, benchmark, arm, seed, execution)
    check_replaceable(Path(out_adapter), FILES)
    settings = study.run_settings(benchmark, arm)
    mechanism, epsilon = calibrated_mechanism(settings, calibration)
    _refuse_confidential(study, arm, mechanism)
    model = load_base(base, study.dtype, performance.device)
    public = public_settings(study, benchmark, arm, seed, execution, mechanism, model)
    identity = {"benchmark": benchmark, "arm": arm, "seed": seed, "settings_sha256": settings_sha256(public)}

    adapter = attach(model, seed, **study.lora.model_dump())
    if performance.gradient_checkpointing:
        adapter.checkpoint_layers()
    descent = Descent(adapter, settings.learning_rate, **study.optimizer.model_dump())
    policy = Policy(model, adapter, settings.prompt, study.rollouts.logprob_temperature, performance.chunk)
    engine = LocalEngine(model, study.isolation, performance.rows)
    rollouts = Rollouts(
        policy, engine, settings.samples, study.rollouts.temperature, settings.cap, study.isolation
    )
    objective = training_method(
        settings.objective, settings.advantage, settings.reward, study.rollouts.kl_weight, policy
    )
    randomness = Randomness.seeded(seed) if study.randomness == "seeded" else Randomness.from_os()
    preflight(objective, rollouts, randomness)

    zone, recovery = private_directory(Path(register).parent), private_directory(recovery)
    with run_lock(recovery / "lock"):
        looks = Register(register)
        looks.append({"event": "reads records", "study": study.name} | identity)
        content = read_bytes(records)
        fingerprint = private_fingerprint(public, content, zone_key(zone))
        folder = private_directory(recovery / fingerprint)
        live_ledger = folder / "ledger.jsonl"
        look = Look(study.name, benchmark, arm, seed, execution, fingerprint, live_ledger.resolve())
        known = look in looks.looks(benchmark)
        if known and not live_ledger.exists():
            raise PrivacyRefusal(
                f"{live_ledger}: is gone, and with it the count of attempts; put it back, "
                "or train another execution, charged beside this one"
            )
        header = {"study": study.name, "mechanism": mechanism.as_json()} | identity
        ledger = Ledger.open(live_ledger, header)
        if not known:
            looks.add_look(look, **identity)
        for written in (folder / CHECKPOINT, out_adapter, out_manifest, out_ledger):
            clear_unfinished(written)
        _resume(ledger, folder / CHECKPOINT, descent, progress)
        if not ledger.closed:
            one_round = partial(
                private_round,
                mechanism=mechanism,
                slots=Slots.fill(mechanism.slots, _checked_records(content, records, settings.objective)),
                randomness=randomness,
                rollouts=rollouts,
                objective=objective,
                descent=descent,
            )
            _train_rounds(mechanism.rounds, one_round, ledger, descent, folder, progress)
            ledger.close()
        if study.records == "confidential" and ledger.summary.failed_attempts:
            raise PrivacyRefusal(
                f"{folder}: a round failed inside the mechanism, and that it did may tell of a record: "
                "nothing of this run is published; train another execution, charged beside this one"
            )

        adapter.save(Path(out_adapter))
        adapter_sha256 = sha256_file(Path(out_adapter) / WEIGHTS)
        write_json(
            out_manifest,
            manifest(public, mechanism, epsilon, randomness, adapter, ledger.summary, adapter_sha256),
        )
        write_text(out_ledger, live_ledger.read_text(encoding="utf-8"))


def _train_rounds(
    rounds: int,
    one_round: Callable[[int, int], None],
    ledger: Ledger,
    descent: Descent,
    folder: Path,
    progress: Callable[[str], None],
) -> None:
    """The rounds that are left, each begun, computed, saved and committed, in this order."""
    for t in range(ledger.next_round(), rounds + 1):
        attempt = ledger.begin(t)
        place = Place(t, attempt, ledger.length, ledger.head)
        try:
            one_round(t, attempt)
        except Exception as error:
            ledger.fail(t, attempt)
            if isinstance(error, PromptDPError):
                raise
            # The message of an exception may quote private text: it stays in the zone, with the traceback.
            write_text(folder / FAILURE.format(t, attempt), traceback.format_exc())
            raise PromptDPError(
                f"round {t} failed inside the private mechanism; the traceback is in {folder}; "
                "start the same command again for a new attempt, whose result can't be released"
            ) from None
        save_checkpoint(folder / CHECKPOINT, descent.state(), place)
        ledger.commit(t, attempt, theta_sha256(descent.theta))
        progress(f"round {t} of {rounds}")


def _resume(ledger: Ledger, checkpoint: Path, descent: Descent, progress: Callable[[str], None]) -> None:
    """Bring the coordinates to where the ledger stands, completing a commit that a kill cut off.

    A ledger whose weights are gone, a closed one too, goes on with a new branch from round 1: every attempt
    stays charged.
    """
    saved = load_checkpoint(checkpoint)
    if saved is not None:
        state, place = saved
        ledger.confirm(place.ledger_length, place.ledger_head)
        uncommitted = place.ledger_length == ledger.length and ledger.pending == (place.round, place.attempt)
        if uncommitted:
            ledger.commit(place.round, place.attempt, theta_sha256(state["theta"]))
        if ledger.summary.theta_sha256 == theta_sha256(state["theta"]):
            descent.restore(state)
            return
    if ledger.summary.rounds:
        ledger.start_branch()
        progress("the saved weights are gone: training starts over, the rounds already drawn stay charged")


def check_run(study: Study, benchmark: str, arm: str, seed: int, execution: int = 1) -> None:
    """Refuse a run that the study doesn't have (InputError naming those it has)."""
    runs = study.runs()
    known: dict[str, tuple[str | int, set[Any]]] = {
        "benchmark": (benchmark, {b for b, _, _ in runs}),
        "arm": (arm, {a for b, a, _ in runs if b == benchmark}),
        "seed": (seed, {s for b, a, s in runs if (b, a) == (benchmark, arm)}),
    }
    for kind, (given, there) in known.items():
        if given not in there:
            names = ", ".join(map(str, sorted(there)))
            raise InputError(f"{study.name}: no run has {kind} {given} here; there are {names}")
    if execution < 1:
        raise InputError(f"execution {execution}: executions are numbered from 1")


def _refuse_confidential(study: Study, arm: str, mechanism: Mechanism) -> None:
    if study.records != "confidential":
        return
    if not mechanism.private:
        raise PrivacyRefusal(f"{study.name}: arm {arm} adds no noise; confidential records need it")
    if study.randomness != "os":
        raise PrivacyRefusal(f"{study.name}: seeded randomness is not private; set randomness: os")


def _checked_records(content: bytes, path: str | Path, objective: str) -> list[Record]:
    records = parse_records(content, path)
    if objective == "gold":
        for number, record in enumerate(records, start=1):
            if record.solution is None:
                raise InputError(
                    f"{path}:{number}: key 'solution' is missing; the gold objective imitates it"
                )
    return records
