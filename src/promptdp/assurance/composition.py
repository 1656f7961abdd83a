"""What all private runs on the same slots cost together (Appendix A-E: the guarantee is per run)."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from promptdp.assurance.looks import ChargedLook, charged_looks, look_of, private_looks
from promptdp.errors import InputError
from promptdp.files import read_object
from promptdp.forms import Form, of_study, validated
from promptdp.privacy.accounting import Event, composed_epsilon
from promptdp.study import Study

Run = tuple[str, str, int]
"""Benchmark, arm, seed."""


class Mechanism(Form):
    """What a run's manifest says of its mechanism."""

    slots: int
    expected: int
    noise_multiplier: float


class Settings(Form):
    """What it says of its settings."""

    benchmark: str
    arm: str


class RunManifest(Form):
    """What the composition reads of it."""

    settings: Settings
    seed: int
    mechanism: Mechanism
    attempts: int
    ledger_head: str = ""


def compose_benchmark(
    study: Study, benchmark: str, manifests: Sequence[Path], register: Path | None = None
) -> dict[str, Any]:
    """Compose every private run of a benchmark by its privacy-loss distribution, every begun attempt charged.

    With a register, runs of other executions and runs that were never finished are composed too. Non-private
    runs have no finite budget; they are counted, and whoever releases them too has none either.

    Args:
        study: the study.
        benchmark: its benchmark.
        manifests: the `run.json` of every private run on the benchmark's slots.
        register: the study's private register; without it the manifests' runs alone are composed.

    Raises:
        InputError: there is no such benchmark, a file is no manifest of this study, two are of one run, the
        manifest of a private run is not among the files, or the register doesn't know one (`charged_looks`).
        PrivacyRefusal: the ledger of a look is gone.
    """
    if benchmark not in study.benchmarks:
        raise InputError(
            f"--benchmark: no benchmark is named '{benchmark}'; see {', '.join(study.benchmarks)}"
        )
    found: dict[Run, dict[str, Any]] = {}
    for path in manifests:
        manifest = of_study(study.name, read_object(path, "promptdp/run/1"), path)
        validated(RunManifest, manifest, path)
        run = manifest["settings"]["benchmark"], manifest["settings"]["arm"], manifest["seed"]
        if run in found:
            raise InputError(f"{path}: is of a run that another manifest is of; give each run once")
        found[run] = manifest
    runs = [run for run in study.runs() if run[0] == benchmark]
    private = [run for run in runs if study.arms[run[1]].private]
    missing = [run for run in private if run not in found]
    if not private:
        raise InputError(f"--benchmark: {benchmark} has no private run, so there is nothing to compose")
    if missing:
        raise InputError(
            f"--runs: the manifest of {'/'.join(map(str, missing[0]))} is missing; give every run's"
        )
    nonprivate = Counter((arm, seed) for _, arm, seed in runs if not study.arms[arm].private)
    events = {f"{arm}/seed{seed}": _event(found[name, arm, seed]) for name, arm, seed in private}
    if register is not None:
        looks = charged_looks(register, benchmark)
        events |= _other_looks(looks, [found[run] for run in private], register)
        # A run of the study may not have begun yet, and may have been begun several times.
        nonprivate |= Counter((look.arm, look.seed) for look in looks if not look.mechanism.private)
    delta = study.run_settings(benchmark, private[0][1]).delta
    return {
        "schema": "promptdp/composition/1",
        "study": study.name,
        "benchmark": benchmark,
        "runs": {name: attempts for name, (_, _, attempts, _) in events.items()},
        "nonprivate_runs": nonprivate.total(),
        "delta": delta,
        "epsilon": composed_epsilon(list(events.values()), delta),
    }


def _other_looks(
    looks: Sequence[ChargedLook], manifests: Sequence[dict[str, Any]], register: Path
) -> dict[str, Event]:
    """What the private looks that no manifest is of are charged, by arm, seed and execution."""
    for manifest in manifests:
        if look_of(manifest.get("ledger_head", ""), looks) is None:
            run = manifest["settings"]
            raise InputError(
                f"{register}: does not know the run {run['benchmark']}/{run['arm']}/{manifest['seed']}; "
                "give the register of the zone in which it was trained"
            )
    heads = {manifest["ledger_head"] for manifest in manifests}
    events: dict[str, Event] = {}
    met: Counter[str] = Counter()
    for look in private_looks(looks):
        if look.head not in heads:
            name = f"{look.arm}/seed{look.seed}/execution{look.execution}"
            met[name] += 1  # other settings or other records make another run of one name
            events[name if met[name] == 1 else f"{name}/{met[name]}"] = look.event
    return events


def _event(manifest: dict[str, Any]) -> Event:
    """(slots, expected, attempts begun, noise multiplier) of a run."""
    mechanism = manifest["mechanism"]
    return (
        mechanism["slots"],
        mechanism["expected"],
        manifest["attempts"],
        mechanism["noise_multiplier"],
    )
