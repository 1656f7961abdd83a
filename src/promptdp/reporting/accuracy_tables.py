"""Tables III to V and X: the accuracy of every arm, by extractor and by seed."""

from promptdp.reporting.cells import ABSENT, Cell, absent, fixed, label, number, signed
from promptdp.reporting.inputs import Inputs
from promptdp.reporting.notes import arm_label, budget_notes, nonprivate_note
from promptdp.reporting.shown import ROLES, arms_of, base_of, endpoint, own_sets, scorers_of
from promptdp.reporting.table import Table
from promptdp.study import Study

ORDINALS = ("first", "second", "third")


def benchmark(study: Study, inputs: Inputs, place: int) -> Table:
    """Table III, IV or V: one benchmark, a column for each extractor, with the difference to the base."""
    names = list(study.benchmarks)
    evaluation_set = endpoint(study, names[place]) if place < len(names) else None
    if evaluation_set is None:
        return Table(
            caption=f"Accuracy on the {ORDINALS[place]} benchmark.",
            columns=("Model", "Strict (%)"),
            rows=(),
            notes=(f"This study evaluates no {ORDINALS[place]} benchmark, so the table is empty.",),
        )
    scorers = scorers_of(study, evaluation_set)
    arms = arms_of(study, evaluation_set)
    extractors = "two answer extractors" if len(scorers) == 2 else "one answer extractor"
    return Table(
        caption=f"Accuracy on {evaluation_set} under {extractors}, mean over seeds "
        "(difference to the base in points).",
        columns=("Model", *(f"{ROLES[role]} (%)" for role in scorers)),
        rows=tuple(
            (
                label(arm_label(study, arm)),
                *(_against_base(study, inputs, evaluation_set, rule, arm) for rule in scorers.values()),
            )
            for arm in arms
        ),
        notes=(
            "; ".join(f"{ROLES[role]}: scorer {rule}" for role, rule in scorers.items())
            + f"; {study.evaluation_sets[evaluation_set].problems:,} problems.",
            *nonprivate_note(study, set(arms)),
            *budget_notes(study, inputs, [names[place]]),
        ),
    )


def seeds(study: Study, inputs: Inputs) -> Table:
    """Table X: the accuracy of every seed of every arm under every scorer."""
    return Table(
        caption="Accuracy (%) of every seed, in the order of seeds.",
        columns=("Evaluation set", "Scorer", "Arm", "Seeds", "Mean"),
        rows=tuple(
            (
                label(evaluation_set),
                label(rule),
                label(arm_label(study, arm)),
                by_seed(study, inputs, evaluation_set, rule, arm),
                mean(study, inputs, evaluation_set, rule, arm),
            )
            for evaluation_set in own_sets(study)
            for rule in scorers_of(study, evaluation_set).values()
            for arm in arms_of(study, evaluation_set)
        ),
        notes=(*nonprivate_note(study, set(study.arms)), *budget_notes(study, inputs, study.benchmarks)),
        groups=2,
    )


def mean(study: Study, inputs: Inputs, evaluation_set: str, rule: str, arm: str) -> Cell:
    """The accuracy of an arm, averaged over all its seeds; absent if one is."""
    found = inputs.accuracies.get((evaluation_set, rule, arm), {})
    expected = study.seeds(arm, study.evaluation_sets[evaluation_set].benchmark)
    if any(seed not in found for seed in expected):
        return absent()
    return number(sum(found[seed] for seed in expected) / len(expected), 2)


def _against_base(study: Study, inputs: Inputs, evaluation_set: str, rule: str, arm: str) -> Cell:
    own = mean(study, inputs, evaluation_set, rule, arm)
    contrast = inputs.contrasts.get((evaluation_set, rule, arm, base_of(study) or ""))
    if contrast is None or own.text == ABSENT:
        return own
    low, high = contrast["ci95_pp"]
    return Cell(
        f"{own.text} ({signed(contrast['difference_pp'])})",
        {**own.values, "difference": contrast["difference_pp"], "low": low, "high": high},
    )


def by_seed(study: Study, inputs: Inputs, evaluation_set: str, rule: str, arm: str) -> Cell:
    """The accuracy of each seed of an arm, in the study's order; an untrained arm has none."""
    found = inputs.accuracies.get((evaluation_set, rule, arm), {})
    if not study.arms[arm].trained:
        return Cell(ABSENT, {})
    seeds = study.seeds(arm, study.evaluation_sets[evaluation_set].benchmark)
    each = {seed: found.get(seed) for seed in seeds}
    return Cell(
        " / ".join(ABSENT if value is None else fixed(value, 2) for value in each.values()),
        {str(seed): value for seed, value in each.items()},
    )
