"""What all private runs on the same slots cost together (Appendix A-E: the guarantee is per run)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from promptdp.errors import InputError
from promptdp.files import read_object
from promptdp.forms import Form, of_study, validated
from promptdp.privacy.accounting import composed_epsilon
from promptdp.study import Study


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


def compose_benchmark(study: Study, benchmark: str, manifests: Sequence[Path]) -> dict[str, Any]:
    """Compose every private run of a benchmark by its privacy-loss distribution, every begun attempt charged.

    Non-private runs have no finite budget; they are counted, and whoever releases them too has none either.

    Args:
        study: the study.
        benchmark: its benchmark.
        manifests: the `run.json` of every private run on the benchmark's slots.

    Raises:
        InputError: there is no such benchmark, a file is no manifest of this study, two are of one run, or
        the manifest of a private run is not among the files.
    """
    if benchmark not in study.benchmarks:
        raise InputError(
            f"--benchmark: no benchmark is named '{benchmark}'; see {', '.join(study.benchmarks)}"
        )
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
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
    delta = study.run_settings(benchmark, private[0][1]).delta
    return {
        "schema": "promptdp/composition/1",
        "study": study.name,
        "benchmark": benchmark,
        "runs": {f"{arm}/seed{seed}": found[name, arm, seed]["attempts"] for name, arm, seed in private},
        "nonprivate_runs": len(runs) - len(private),
        "delta": delta,
        "epsilon": composed_epsilon([_event(found[run]) for run in private], delta),
    }


def _event(manifest: dict[str, Any]) -> tuple[int, int, int, float]:
    """(slots, expected, attempts begun, noise multiplier) of a run."""
    mechanism = manifest["mechanism"]
    return (
        mechanism["slots"],
        mechanism["expected"],
        manifest["attempts"],
        mechanism["noise_multiplier"],
    )
