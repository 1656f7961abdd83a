"""Table XIII: a benchmark's adapters on problems of another source, without further training."""

from promptdp.reporting.accuracy_tables import by_seed, mean
from promptdp.reporting.cells import absent, gain, label
from promptdp.reporting.contrast_tables import find, largest_p
from promptdp.reporting.inputs import Inputs
from promptdp.reporting.notes import arm_label, budget_notes, nonprivate_note
from promptdp.reporting.shown import arms_of, scorers_of, transfer_sets
from promptdp.reporting.table import Row, Table, by_evaluation_set
from promptdp.study import Study


def transfer(study: Study, inputs: Inputs) -> Table:
    """Table XIII: strict accuracy by seed, and the method's difference from each arm."""
    sets = transfer_sets(study)
    method = study.method()
    title = study.arms[method].label if method else "DP-GRPO"
    specs = [study.evaluation_sets[name] for name in sets]
    notes = [
        *(
            f"{name}: {spec.problems:,} problems, answered by the adapters of {spec.benchmark} with its "
            f"prompt; scorer {spec.scorers.strict}."
            for name, spec in zip(sets, specs, strict=True)
        ),
        f"{title} − arm: points with the 95% bootstrap interval over problems, paired on the seeds that both "
        "arms have. MDE: the effect detectable with 80% power, where the interval includes zero. "
        "Holm p: exact McNemar tests, adjusted within each contrast's family on the transfer set. "
        "Scoring a released model on public problems costs no budget.",
        *nonprivate_note(study, {arm for name in sets for arm in arms_of(study, name)}),
        *budget_notes(study, inputs, dict.fromkeys(spec.benchmark for spec in specs)),
    ]
    if not sets:
        notes = ["This study evaluates no transfer set, so the table is empty."]
    return Table(
        caption="Transfer: strict accuracy (%) per seed without further training"
        f"{f' on {sets[0]}' if len(sets) == 1 else ''}, and {title}'s difference from each arm.",
        **by_evaluation_set(
            ("Arm", "Seeds", "Mean", f"{title} − arm (pp)", "Holm p, largest"),
            {name: [_row(study, inputs, name, arm) for arm in arms_of(study, name)] for name in sets},
        ),
        notes=tuple(notes),
    )


def _row(study: Study, inputs: Inputs, evaluation_set: str, arm: str) -> Row:
    rule = scorers_of(study, evaluation_set)["strict"]
    contrast = find(study, inputs, evaluation_set, "strict", study.method() or "", arm)
    return (
        label(arm_label(study, arm)),
        by_seed(study, inputs, evaluation_set, rule, arm),
        mean(study, inputs, evaluation_set, rule, arm),
        gain(contrast),
        largest_p(contrast) if contrast else absent(),
    )
