"""Table XII: supporting comparisons, each an alternative to the reference of its block."""

from promptdp.reporting.cells import Cell, absent, interval, label, number, signed
from promptdp.reporting.contrast_tables import find
from promptdp.reporting.inputs import Inputs
from promptdp.reporting.notes import arm_label, budget_notes, nonprivate_note
from promptdp.reporting.shown import block_contrasts, own_sets
from promptdp.reporting.table import Row, Table, by_evaluation_set
from promptdp.study import Contrast, Study


def blocks(study: Study, inputs: Inputs) -> Table:
    """Table XII: the change under the strict scorer, its interval and minimum detectable effect."""
    shown = {name: found for name in own_sets(study) if (found := block_contrasts(study, name))}
    ends = {end for found in shown.values() for spec in found for end in (spec.arm, spec.versus)}
    benchmarks = dict.fromkeys(study.evaluation_sets[name].benchmark for name in shown)
    notes = [
        "Alternative minus reference in points, with the 95% bootstrap interval over problems, paired on the "
        "seeds that both arms have. MDE: the effect detectable with 80% power. An arm is compared with the "
        "reference of its block, not with those of others.",
        *nonprivate_note(study, ends),
        *budget_notes(study, inputs, benchmarks, ends),
    ]
    if not shown:
        notes = ["This study contrasts no arms in blocks, so the table is empty."]
    return Table(
        caption=f"Supporting design comparisons{f' on {next(iter(shown))}' if len(shown) == 1 else ''}.",
        **by_evaluation_set(
            ("Block", "Alternative", "Change (pp)", "MDE (pp)"),
            {name: [_row(study, inputs, name, spec) for spec in found] for name, found in shown.items()},
        ),
        notes=tuple(notes),
    )


def _row(study: Study, inputs: Inputs, evaluation_set: str, spec: Contrast) -> Row:
    contrast = find(study, inputs, evaluation_set, "strict", spec.arm, spec.versus)
    reference = arm_label(study, spec.versus)
    return (
        Cell(f"{spec.block}; reference: {reference}", {"": spec.block, "reference": reference}),
        label(arm_label(study, spec.arm)),
        absent("", "low", "high")
        if contrast is None
        else Cell(
            f"{signed(contrast['difference_pp'])} {interval(contrast['ci95_pp'])}",
            dict(zip(("", "low", "high"), (contrast["difference_pp"], *contrast["ci95_pp"]), strict=True)),
        ),
        absent() if contrast is None else number(contrast["mde_pp"], 2),
    )
