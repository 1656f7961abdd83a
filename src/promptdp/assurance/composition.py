"""What all private runs on the same slots cost together (Appendix A-E: the guarantee is per run)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from promptdp.errors import InputError
from promptdp.files import read_json
from promptdp.privacy.accounting import composed_epsilon
from promptdp.study import Study


def compose_benchmark(study: Study, benchmark: str, calibrations: Sequence[Path]) -> dict[str, Any]:
    """Compose the mechanisms of every private run of a benchmark by their privacy-loss distributions.

    Non-private runs have no finite budget; they are counted, and whoever releases them too has none either.

    Args:
        study: the study.
        benchmark: its benchmark.
        calibrations: the calibration files of the benchmark's mechanisms, each named after its mechanism.

    Raises:
        InputError: the calibration of a mechanism is not among the files.
    """
    found = {path.stem: read_json(path) for path in calibrations}
    events, runs, without_noise = [], [], 0
    for name, arm, seed in study.runs():
        if name != benchmark:
            continue
        settings = study.run_settings(benchmark, arm)
        if not settings.private:
            without_noise += 1
            continue
        if settings.mechanism_name not in found:
            raise InputError(f"{settings.mechanism_name}.json: is missing; make it with promptdp calibrate")
        sigma = found[settings.mechanism_name]["sigma"]
        events.append((settings.slots, settings.expected, settings.rounds, sigma))
        runs.append(f"{arm}/seed{seed}")
    delta = study.run_settings(benchmark, runs[0].partition("/")[0]).delta if runs else None
    return {
        "schema": "promptdp/composition/1",
        "study": study.name,
        "benchmark": benchmark,
        "runs": runs,
        "nonprivate_runs": without_noise,
        "delta": delta,
        "epsilon": composed_epsilon(events, delta) if delta is not None else None,
    }
