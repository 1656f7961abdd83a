"""What must be said beside a study's numbers: what is not private, and what the runs cost together."""

from collections.abc import Collection, Iterable

from promptdp.reporting.cells import fixed, one_over
from promptdp.reporting.inputs import Inputs
from promptdp.study import Study

DAGGER = "†"
SEEDED = "NOT PRIVATE (seeded)"


def arm_label(study: Study, arm: str) -> str:
    """An arm's label, with a dagger where the arm is trained without privacy."""
    spec = study.arms[arm]
    return f"{spec.label}{DAGGER}" if spec.trained and not spec.private else spec.label


def headline(study: Study) -> str:
    """The warning over every table and figure of a study whose runs are not private, else nothing."""
    return SEEDED if study.randomness == "seeded" else ""


def warnings(study: Study) -> list[str]:
    """Why a study's runs are not private, or less than they seem: shown before any other note."""
    found = []
    if study.randomness == "seeded":
        found.append(
            f"{SEEDED}: every run draws its sampling and noise from a fixed seed, for tests; "
            "no budget shown here is a guarantee."
        )
    if study.isolation == "packed":
        found.append(
            "Isolation is packed: records share batches, so assumption (A2) is not met in floating point."
        )
    return found


def nonprivate_note(study: Study, arms: set[str]) -> list[str]:
    """The dagger's meaning, if one of some arms carries it."""
    carried = any(study.arms[arm].trained and not study.arms[arm].private for arm in arms)
    return [f"{DAGGER} Not private: trained without noise, makes no privacy claim."] if carried else []


def budget_notes(
    study: Study, inputs: Inputs, benchmarks: Iterable[str], arms: Collection[str] | None = None
) -> list[str]:
    """The budget of one run of some arms, and of all private runs on the same slots together, by benchmark.

    Without `arms`, those that do not stand in blocks alone.
    """
    chosen = study.arms.keys() - study.supporting_arms() if arms is None else arms
    found: dict[str, list[str]] = {}
    for benchmark in benchmarks:
        if text := _budget(study, inputs, benchmark, chosen):
            found.setdefault(text, []).append(benchmark)
    return [f"{', '.join(names)}: {text}." for text, names in found.items()]


def _budget(study: Study, inputs: Inputs, benchmark: str, arms: Collection[str]) -> str | None:
    runs = [
        study.run_settings(name, arm)
        for name, arm, _ in study.runs()
        if name == benchmark and arm in arms and study.arms[arm].private
    ]
    if not runs:
        return None
    accounted = {c["epsilon_pld"] for run in runs if (c := inputs.calibration(run))}
    targets = {run.epsilon for run in runs if run.epsilon is not None}
    each = dict.fromkeys(
        [fixed(epsilon, 3) for epsilon in sorted(accounted)]
        or [f"{epsilon:g}" for epsilon in sorted(targets)]
    )
    if not each:
        return None
    text = f"ε={' or '.join(each)} per run at δ={one_over(runs[0].delta)}"
    if composed := inputs.compositions.get(benchmark):
        text += (
            f"; all {len(composed['runs'])} private runs on the same slots compose to "
            f"ε={fixed(composed['epsilon'], 3)}"
        )
    return text
