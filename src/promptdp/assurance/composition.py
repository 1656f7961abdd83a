"""What all private runs on the same slots cost together (Appendix A-E: the guarantee is per run)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from promptdp.errors import InputError
from promptdp.files import read_json
from promptdp.privacy.accounting import composed_epsilon
from promptdp.study import Study


def compose_benchmark(study: Study, benchmark: str, manifests: Sequence[Path]) -> dict[str, Any]:
    """Compose every private run of a benchmark by its privacy-loss distribution, every begun attempt charged.

    Non-private runs have no finite budget; they are counted, and whoever releases them too has none either.

    Args:
        study: the study.
        benchmark: its benchmark.
        manifests: the `run.json` of every private run on the benchmark's slots.

    Raises:
        InputError: there is no such benchmark, or the manifest of a private run is not among the files.
    """
    if benchmark not in study.benchmarks:
        raise InputError(
            f"--benchmark: no benchmark is named '{benchmark}'; see {', '.join(study.benchmarks)}"
        )
    found = {}
    for path in manifests:
        manifest = read_json(path)
        found[manifest["settings"]["benchmark"], manifest["settings"]["arm"], manifest["seed"]] = manifest
    runs = [run for run in study.runs() if run[0] == benchmark]
    private = [run for run in runs if study.arms[run[1]].private]
    missing = [run for run in private if run not in found]
    if missing or not private:
        raise InputError(
            f"--runs: the manifest of {'/'.join(map(str, (missing or [benchmark])[0]))} is missing"
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
