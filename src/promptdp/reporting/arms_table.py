"""Table IX: every arm of every benchmark, its seeds, and the tables and figures that report it."""

from collections.abc import Sequence

from promptdp.reporting.cells import ABSENT, Cell, absent, label
from promptdp.reporting.inputs import Inputs
from promptdp.reporting.notes import arm_label, nonprivate_note
from promptdp.reporting.shown import (
    arms_against_base,
    arms_of,
    base_of,
    block_contrasts,
    endpoint,
    main_contrasts,
    own_sets,
    rescored_sets,
    sweeps,
    transfer_sets,
)
from promptdp.reporting.table import Table
from promptdp.study import Study


def arms(study: Study, inputs: Inputs) -> Table:
    """Table IX: made from the study alone."""
    del inputs
    return Table(
        caption="Every arm, its seeds, and where it is reported.",
        columns=("Benchmark", "Arm", "Seeds", "Reported in"),
        rows=tuple(
            (
                label(benchmark),
                label(arm_label(study, arm)),
                _seeds(study, benchmark, arm),
                label(_places(study, benchmark, arm)),
            )
            for benchmark in study.benchmarks
            for arm in study.arms
            if benchmark in study.arm_benchmarks(arm)
        ),
        notes=(
            "Accuracies and contrasts alone count as reports; the mechanisms of all private arms stand in "
            "Tables 6 and 7. An arm that stands nowhere was trained, and is listed for completeness.",
            *nonprivate_note(study, set(study.arms)),
        ),
        groups=1,
    )


def _seeds(study: Study, benchmark: str, arm: str) -> Cell:
    seeds = [str(seed) for seed in study.seeds(arm, benchmark)]
    if not study.arms[arm].trained:
        return absent()
    return Cell(", ".join(seeds), {"": len(seeds), "list": " ".join(seeds)})


def _places(study: Study, benchmark: str, arm: str) -> str:
    """The tables and figures of the study that show results of an arm on a benchmark."""
    tables = [number for number in study.tables if number in _tables(study, benchmark, arm)]
    figures = [number for number in study.figures if number in _figures(study, benchmark, arm)]
    named = (_named("Table", tables), _named("Figure", figures))
    return "; ".join(filter(None, named)) or ABSENT


def _named(kind: str, numbers: Sequence[int]) -> str:
    listed = ", ".join(map(str, numbers))
    return f"{kind}{'s' * (len(numbers) > 1)} {listed}" if numbers else ""


def _tables(study: Study, benchmark: str, arm: str) -> set[int]:
    """The numbers of the tables that would show an arm's results on a benchmark."""
    sets, others = (
        [name for name in names if study.evaluation_sets[name].benchmark == benchmark]
        for names in (own_sets(study), transfer_sets(study))
    )
    main = [c for name in sets for c in main_contrasts(study, name)]
    blocks = [c for name in sets for c in block_contrasts(study, name)]
    of_method = [c for c in main if c.arm == study.method()]
    own = endpoint(study, benchmark)
    place = list(study.benchmarks).index(benchmark)
    shown = {
        2: any(arm in (c.arm, c.versus) for c in of_method),
        3 + place: place < 3 and own is not None and arm in arms_of(study, own),
        10: any(arm in arms_of(study, name) for name in sets),
        11: any(arm in (c.arm, c.versus) for c in main),
        12: any(arm in (c.arm, c.versus) for c in blocks),
        13: any(arm in arms_of(study, name) for name in others),
        14: arm in (study.method(), base_of(study)) and bool(set(sets) & set(rescored_sets(study))),
    }
    return {number for number, is_shown in shown.items() if is_shown}


def _figures(study: Study, benchmark: str, arm: str) -> set[int]:
    """The numbers of the figures that would show an arm's results on a benchmark."""
    own = endpoint(study, benchmark)
    if own is None:
        return set()
    in_sweeps = {arm for block in sweeps(study, own).values() for arm in block}
    return {number for number, shown in ((2, arms_against_base(study, own)), (3, in_sweeps)) if arm in shown}
