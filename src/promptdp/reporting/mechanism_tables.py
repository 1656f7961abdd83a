"""Tables VI and VII: what each mechanism costs, and its parameters to the last digit."""

from collections.abc import Callable, Hashable
from typing import Any

from promptdp.reporting.cells import Cell, absent, count, exact, fixed, label, number, one_over
from promptdp.reporting.inputs import Inputs
from promptdp.reporting.notes import arm_label
from promptdp.reporting.table import Table
from promptdp.study import Benchmark, RunSettings, Study


def accounting(study: Study, inputs: Inputs) -> Table:
    """Table VI: every mechanism of every benchmark under PLD and RDP accounting, for one run and for all."""
    rows = []
    for benchmark in study.benchmarks:
        for settings, arms in _mechanisms(study, benchmark, lambda settings: settings.mechanism_name):
            found = inputs.calibration(settings)
            rows.append(
                (
                    label(benchmark),
                    label(arms),
                    count(settings.slots),
                    count(settings.expected),
                    rounds(settings),
                    delta_cell(settings.delta),
                    number(found["sigma"], 3) if found else absent(),
                    number(found["epsilon_pld"], 3) if found else absent(),
                    _rdp(found) if found else absent(),
                    *_composed(inputs.compositions.get(benchmark)),
                )
            )
    notes = [
        "q=m/n, add-or-remove-one relation. Parenthesized: the minimizing RDP order. "
        "All runs: ε at the same δ of releasing every private run on the benchmark's slots together.",
        *reserve_note(study),
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


def parameters(study: Study, inputs: Inputs) -> Table:
    """Table VII: what sampler, noise, divisor and accountant read, in the digits that give the same float."""
    rows = []
    for benchmark in study.benchmarks:
        for settings, arms in _mechanisms(study, benchmark, lambda s: (s.mechanism_name, s.clipping_norm)):
            found = inputs.calibration(settings)
            rows.append(
                (
                    label(benchmark),
                    label(arms),
                    count(settings.slots),
                    count(settings.expected),
                    rounds(settings),
                    exact(settings.expected / settings.slots),
                    exact(found["sigma"]) if found else absent(),
                    exact(settings.clipping_norm),
                    exact(settings.delta),
                )
            )
    notes = [
        "m is the expected number of records per round, q=m/n; coins are drawn by integer comparison with "
        "the fraction m/n itself. σ is in units of C: each coordinate of the noise has standard deviation "
        "σC, and the noisy sum is divided by qn=m. δ is 1/(10n) unless the study gives another.",
        *reserve_note(study),
    ]
    if not rows:
        notes = ["This study has no private arm, so there is no mechanism to state."]
    return Table(
        caption="Mechanism parameters at full precision.",
        columns=("Benchmark", "Arms", "n", "m", "T", "q", "σ", "C", "δ"),
        rows=tuple(rows),
        notes=tuple(notes),
        groups=1,
    )


def rounds(settings: Benchmark | RunSettings) -> Cell:
    """T, and the replay reserve beside it if there is one."""
    rounds, reserve = settings.rounds, settings.replay_reserve
    return Cell(f"{rounds:,} + {reserve:,}", {"": rounds, "reserve": reserve}) if reserve else count(rounds)


def reserve_note(study: Study) -> list[str]:
    """What T + R means, if a benchmark has a reserve."""
    if not any(spec.replay_reserve for spec in study.benchmarks.values()):
        return []
    return ["T + R: trained for T rounds; σ and ε are of T + R, so that R attempts may be begun again."]


def delta_cell(delta: float) -> Cell:
    """A delta as one over a whole number where it is."""
    return Cell(one_over(delta), {"": delta})


def _mechanisms(
    study: Study, benchmark: str, same: Callable[[RunSettings], Hashable]
) -> list[tuple[RunSettings, str]]:
    """The private mechanisms of a benchmark, one of those that are the `same`, with the arms that use it."""
    private = [
        arm for arm, spec in study.arms.items() if spec.private and benchmark in study.arm_benchmarks(arm)
    ]
    users: dict[Hashable, list[str]] = {}
    for arm in private:
        users.setdefault(same(study.run_settings(benchmark, arm)), []).append(arm)
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
