"""Table I: the settings of the private runs."""

from collections.abc import Callable

from promptdp.reporting.cells import Cell, absent, count, label, number
from promptdp.reporting.inputs import Inputs, MechanismKey
from promptdp.reporting.mechanism_tables import delta_cell, reserve_note, rounds
from promptdp.reporting.notes import arm_label, nonprivate_note
from promptdp.reporting.shown import own_sets
from promptdp.reporting.table import Table
from promptdp.study import EvaluationSet, Study


def benchmarks(study: Study, inputs: Inputs) -> Table:
    """Table I: what differs between benchmarks; what arms share or override stands in the notes."""

    def sigma(name: str) -> Cell:
        found = inputs.calibrations.get(_mechanism(study, name))
        return number(found["sigma"], 3) if found else absent()

    rows: dict[str, Callable[[str], Cell]] = {
        "Slots n": lambda name: count(study.benchmarks[name].slots),
        "Evaluation set": lambda name: label(_evaluation_sets(study, name)),
        "Expected records per round m": lambda name: count(study.benchmarks[name].expected),
        "Rounds T": lambda name: rounds(study.benchmarks[name]),
        "Expected passes mT/n": lambda name: number(_passes(study, name), 2),
        "Noise multiplier σ": sigma,
        "Budget ε per run": lambda name: _budget(study.benchmarks[name].epsilon),
        "δ": lambda name: delta_cell(_delta(study, name)),
        "Completion cap (tokens)": lambda name: count(study.benchmarks[name].cap),
        "Strict scorer": lambda name: label(_strict_scorers(study, name)),
    }
    trained = {arm for arm, spec in study.arms.items() if spec.trained}
    return Table(
        caption="Per-benchmark settings of the private runs.",
        columns=("Setting", *study.benchmarks),
        rows=tuple((label(title), *map(cell, study.benchmarks)) for title, cell in rows.items()),
        notes=(_shared(study), *_overrides(study), *reserve_note(study), *nonprivate_note(study, trained)),
    )


def _mechanism(study: Study, name: str) -> MechanismKey:
    """The mechanism of a benchmark's arms that override nothing."""
    spec = study.benchmarks[name]
    rounds = spec.rounds + spec.replay_reserve
    return MechanismKey(spec.slots, spec.expected, rounds, _delta(study, name), spec.epsilon, None)


def _passes(study: Study, name: str) -> float:
    spec = study.benchmarks[name]
    return spec.expected * spec.rounds / spec.slots


def _delta(study: Study, name: str) -> float:
    spec = study.benchmarks[name]
    return 1 / (10 * spec.slots) if spec.delta is None else spec.delta


def _budget(epsilon: float) -> Cell:
    return Cell(f"{epsilon:g}", {"": epsilon})


def _evaluation_sets(study: Study, name: str) -> str:
    return "; ".join(f"{spec.problems:,} {spec.split}" for spec in _own_sets(study, name))


def _strict_scorers(study: Study, name: str) -> str:
    return "; ".join(dict.fromkeys(spec.scorers.strict for spec in _own_sets(study, name)))


def _own_sets(study: Study, name: str) -> list[EvaluationSet]:
    sets = [study.evaluation_sets[key] for key in own_sets(study)]
    return [spec for spec in sets if spec.benchmark == name]


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
