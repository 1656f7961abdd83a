"""Tables I and VI: the settings of the private runs, and what each mechanism costs."""

from collections.abc import Callable
from typing import Any

from promptdp.reporting.cells import Cell, absent, count, fixed, label, number, one_over
from promptdp.reporting.inputs import Inputs, MechanismKey
from promptdp.reporting.notes import arm_label, nonprivate_note
from promptdp.reporting.table import Table
from promptdp.study import Benchmark, RunSettings, Study


def benchmarks(study: Study, inputs: Inputs) -> Table:
    """Table I: what differs between benchmarks; what arms share or override stands in the notes."""

    def sigma(name: str) -> Cell:
        found = inputs.calibrations.get(_mechanism(study, name))
        return number(found["sigma"], 3) if found else absent()

    rows: dict[str, Callable[[str], Cell]] = {
        "Slots n": lambda name: count(study.benchmarks[name].slots),
        "Evaluation set": lambda name: label(_evaluation_sets(study, name)),
        "Expected records per round m": lambda name: count(study.benchmarks[name].expected),
        "Rounds T": lambda name: _rounds(study.benchmarks[name]),
        "Expected passes mT/n": lambda name: number(_passes(study, name), 2),
        "Noise multiplier σ": sigma,
        "Budget ε per run": lambda name: _budget(study.benchmarks[name].epsilon),
        "δ": lambda name: _delta_cell(_delta(study, name)),
        "Completion cap (tokens)": lambda name: count(study.benchmarks[name].cap),
        "Strict scorer": lambda name: label(_strict_scorers(study, name)),
    }
    trained = {arm for arm, spec in study.arms.items() if spec.trained}
    return Table(
        caption="Per-benchmark settings of the private runs.",
        columns=("Setting", *study.benchmarks),
        rows=tuple((label(title), *map(cell, study.benchmarks)) for title, cell in rows.items()),
        notes=(_shared(study), *_overrides(study), *_reserve_note(study), *nonprivate_note(study, trained)),
    )


def accounting(study: Study, inputs: Inputs) -> Table:
    """Table VI: every mechanism of every benchmark under PLD and RDP accounting, for one run and for all."""
    rows = []
    for benchmark in study.benchmarks:
        for settings, arms in _mechanisms(study, benchmark):
            found = inputs.calibration(settings)
            rows.append(
                (
                    label(benchmark),
                    label(arms),
                    count(settings.slots),
                    count(settings.expected),
                    _rounds(settings),
                    _delta_cell(settings.delta),
                    number(found["sigma"], 3) if found else absent(),
                    number(found["epsilon_pld"], 3) if found else absent(),
                    _rdp(found) if found else absent(),
                    *_composed(inputs.compositions.get(benchmark)),
                )
            )
    notes = [
        "q=m/n, add-or-remove-one relation. Parenthesized: the minimizing RDP order. "
        "All runs: ε at the same δ of releasing every private run on the benchmark's slots together.",
        *_reserve_note(study),
    ]
    if not rows:
        notes = ["This study has no private arm, so there is no mechanism to account for."]
    return Table(
        caption="Every accounting configuration, under PLD (reported) and RDP accounting.",
        columns=(
            "Benchmark",
            "Arms",
            "n",
            "m",
            "T",
            "δ",
            "σ",
            "ε (PLD)",
            "ε (RDP)",
            "Private runs",
            "ε (PLD), all runs",
        ),
        rows=tuple(rows),
        notes=tuple(notes),
        groups=1,
    )


def _mechanism(study: Study, name: str) -> MechanismKey:
    """The mechanism of a benchmark's arms that override nothing."""
    spec = study.benchmarks[name]
    rounds = spec.rounds + spec.replay_reserve
    return MechanismKey(spec.slots, spec.expected, rounds, _delta(study, name), spec.epsilon, None)


def _rounds(settings: Benchmark | RunSettings) -> Cell:
    """T, and the replay reserve beside it if there is one."""
    rounds, reserve = settings.rounds, settings.replay_reserve
    return Cell(f"{rounds:,} + {reserve:,}", {"": rounds, "reserve": reserve}) if reserve else count(rounds)


def _reserve_note(study: Study) -> list[str]:
    if not any(spec.replay_reserve for spec in study.benchmarks.values()):
        return []
    return ["T + R: trained for T rounds; σ and ε are of T + R, so that R attempts may be begun again."]


def _passes(study: Study, name: str) -> float:
    spec = study.benchmarks[name]
    return spec.expected * spec.rounds / spec.slots


def _delta(study: Study, name: str) -> float:
    spec = study.benchmarks[name]
    return 1 / (10 * spec.slots) if spec.delta is None else spec.delta


def _delta_cell(delta: float) -> Cell:
    return Cell(one_over(delta), {"": delta})


def _budget(epsilon: float) -> Cell:
    return Cell(f"{epsilon:g}", {"": epsilon})


def _evaluation_sets(study: Study, name: str) -> str:
    return "; ".join(
        f"{spec.problems:,} {spec.split}" for spec in study.evaluation_sets.values() if spec.benchmark == name
    )


def _strict_scorers(study: Study, name: str) -> str:
    used = [spec.scorers.strict for spec in study.evaluation_sets.values() if spec.benchmark == name]
    return "; ".join(dict.fromkeys(used))


def _shared(study: Study) -> str:
    users: dict[str, list[str]] = {}
    for arm, spec in study.arms.items():
        if spec.learning_rate is not None:
            clipping = "no clipping" if spec.clipping_norm is None else f"C={spec.clipping_norm:g}"
            recipe = f"{clipping} and learning rate {spec.learning_rate:g}"
            users.setdefault(recipe, []).append(arm_label(study, arm))
    recipes = [f"{recipe} ({', '.join(arms)})" for recipe, arms in users.items()]
    return f"Shared by all benchmarks: G={study.rollouts.samples}; {'; '.join(recipes)}."


def _overrides(study: Study) -> list[str]:
    names = {"expected": "m", "rounds": "T", "samples": "G", "epsilon": "ε", "noise_multiplier": "σ"}
    found = []
    for arm, spec in study.arms.items():
        changed = [f"{symbol}={getattr(spec, key):g}" for key, symbol in names.items() if getattr(spec, key)]
        if changed:
            found.append(f"{arm_label(study, arm)} runs at {', '.join(changed)}.")
    return found


def _mechanisms(study: Study, benchmark: str) -> list[tuple[RunSettings, str]]:
    """Each private mechanism of a benchmark with the arms that use it."""
    private = [
        arm for arm, spec in study.arms.items() if spec.private and benchmark in study.arm_benchmarks(arm)
    ]
    users: dict[str, list[str]] = {}
    for arm in private:
        users.setdefault(study.run_settings(benchmark, arm).mechanism_name, []).append(arm)
    return [
        (
            study.run_settings(benchmark, arms[0]),
            "every private arm" if len(users) == 1 else ", ".join(arm_label(study, arm) for arm in arms),
        )
        for arms in users.values()
    ]


def _rdp(calibration: dict[str, Any]) -> Cell:
    epsilon, order = calibration["epsilon_rdp"], calibration["rdp_order"]
    return Cell(f"{fixed(epsilon, 3)} ({order:g})", {"": epsilon, "order": order})


def _composed(composition: dict[str, Any] | None) -> tuple[Cell, Cell]:
    if composition is None:
        return absent(), absent()
    return count(len(composition["runs"])), number(composition["epsilon"], 3)
