"""Tables II and XI: what DP-GRPO gains over each comparator, and every contrast seed by seed."""

from typing import Any

from promptdp.reporting.cells import (
    ABSENT,
    Cell,
    absent,
    gain,
    includes_zero,
    interval,
    label,
    number,
    p_value,
    signed,
)
from promptdp.reporting.inputs import Inputs
from promptdp.reporting.notes import arm_label, budget_notes, nonprivate_note
from promptdp.reporting.shown import comparators, main_contrasts, own_sets, scorers_of
from promptdp.reporting.table import Table
from promptdp.study import Study


def gains(study: Study, inputs: Inputs) -> Table:
    """Table II: the method minus each comparator under the strict scorer of every evaluation set."""
    method, others, sets = study.method(), comparators(study), own_sets(study)
    title = study.arms[method].label if method else "DP-GRPO"
    notes = [
        f"Points with the 95% bootstrap interval over problems; positive values favor {title}. "
        "Each contrast is paired on the seeds that both arms have. "
        "MDE: the effect detectable with 80% power, where the interval includes zero.",
        *nonprivate_note(study, set(others)),
        *budget_notes(study, inputs, study.benchmarks),
    ]
    if not others:
        notes = ["This study contrasts no arm of GRPO with group advantages, so the table is empty."]
    return Table(
        caption=f"Accuracy gain of {title} over each comparator.",
        columns=("Comparator", *(f"{evaluation_set} (pp)" for evaluation_set in sets)),
        rows=tuple(
            (
                label(arm_label(study, versus)),
                *(gain(find(study, inputs, name, "strict", method or "", versus)) for name in sets),
            )
            for versus in others
        ),
        notes=tuple(notes),
    )


def seeds(study: Study, inputs: Inputs) -> Table:
    """Table XI: every contrast by seed, the spread of the seeds, and the largest Holm-adjusted p-value."""
    rows = tuple(
        (
            label(evaluation_set),
            label(rule),
            label(f"{arm_label(study, spec.arm)} − {arm_label(study, spec.versus)}"),
            *_row(find(study, inputs, evaluation_set, role, spec.arm, spec.versus)),
        )
        for evaluation_set in own_sets(study)
        for role, rule in scorers_of(study, evaluation_set).items()
        for spec in main_contrasts(study, evaluation_set)
    )
    ends = {end for spec in study.contrasts if spec.block is None for end in (spec.arm, spec.versus)}
    notes = [
        "Differences in points, in the order of the seeds that both arms have; sd and t interval are over "
        "the seeds' differences. "
        "Holm p: exact McNemar tests, adjusted within each contrast's family. "
        "MDE: the effect detectable with 80% power, where the interval includes zero.",
        *nonprivate_note(study, ends),
        *budget_notes(study, inputs, study.benchmarks),
    ]
    return Table(
        caption="Per-seed differences with Holm-adjusted exact McNemar p-values.",
        columns=(
            "Evaluation set",
            "Scorer",
            "Contrast",
            "Per-seed difference",
            "Difference [95% interval]",
            "MDE",
            "Seed sd",
            "Seed t interval",
            "Holm p, largest",
        ),
        rows=rows,
        notes=tuple(notes) if rows else ("This study has no contrast, so the table is empty.",),
        groups=2,
    )


def find(
    study: Study, inputs: Inputs, evaluation_set: str, role: str, arm: str, versus: str
) -> dict[str, Any] | None:
    """A contrast under the scorer that has a role on an evaluation set, if it is among the files."""
    rule = scorers_of(study, evaluation_set)[role]
    return inputs.contrasts.get((evaluation_set, rule, arm, versus))


def _row(contrast: dict[str, Any] | None) -> tuple[Cell, ...]:
    if contrast is None:
        return (
            Cell(ABSENT, {}),
            absent("", "low", "high"),
            absent(),
            absent(),
            absent("low", "high"),
            absent(),
        )
    low, high = contrast["ci95_pp"]
    tests, spread, t_interval = contrast["mcnemar"], contrast["seed_sd_pp"], contrast["seed_t_ci95_pp"]
    by_seed = {str(test["seed"]): value for test, value in zip(tests, contrast["per_seed_pp"], strict=True)}
    return (
        Cell(" / ".join(map(signed, by_seed.values())) or ABSENT, by_seed),
        Cell(
            f"{signed(contrast['difference_pp'])} {interval(contrast['ci95_pp'])}",
            {"": contrast["difference_pp"], "low": low, "high": high},
        ),
        number(contrast["mde_pp"], 2) if includes_zero(contrast) else absent(),
        absent() if spread is None else number(spread, 2),
        absent("low", "high")
        if t_interval is None
        else Cell(interval(t_interval), {"low": t_interval[0], "high": t_interval[1]}),
        largest_p(contrast),
    )


def largest_p(contrast: dict[str, Any] | None) -> Cell:
    """The largest Holm-adjusted p-value of a contrast's seeds."""
    tests = contrast["mcnemar"] if contrast else []
    return p_value(max(test["p_holm"] for test in tests)) if tests else absent()
