"""Table XIV: where the gain over the base comes from, by the format of the base's answer (Section E-A)."""

from collections.abc import Mapping
from functools import partial

from promptdp.reporting.answers import Answers, correctness
from promptdp.reporting.cells import Cell, absent, count, label, signed
from promptdp.reporting.inputs import Inputs
from promptdp.reporting.notes import budget_notes
from promptdp.reporting.shown import ROLES, base_of, rescored_sets, scorers_of
from promptdp.reporting.table import Row, Table, by_evaluation_set
from promptdp.statistics.pairing import SEEDLESS
from promptdp.statistics.scores import require_same_problems
from promptdp.study import Study

FORMATS = {"math_strict": ("Boxed an answer", "No boxed answer")}
OTHER_FORMATS = ("Strict answer extracted", "No strict answer extracted")
ALL = "All problems"


def decomposition(study: Study, inputs: Inputs) -> Table:
    """Table XIV: what the problems of each format contribute to the gain under each scorer.

    A contribution is an integer number of answers over the seeds and problems, so that the contributions sum
    to the gain exactly.

    Raises:
        InputError: a file of scores lacks what it should say of a response, or two cover other problems.
    """
    method, base = study.method(), base_of(study)
    sets = [
        name for name in rescored_sets(study) if {method, base} <= {arm for arm, _ in study.evaluations(name)}
    ]
    title = study.arms[method].label if method else "DP-GRPO"
    notes = [
        "Problems are parted by the public base's response: whether the strict scorer extracted an answer "
        f"from it, right or wrong. Contribution: the net number of additional correct answers of {title} in "
        "the group, averaged over its seeds, over all problems, in points; contributions sum to the gain. It "
        "tells on which problems accuracy changes, not the accuracy within a group, nor why it changes.",
        *budget_notes(study, inputs, dict.fromkeys(study.evaluation_sets[name].benchmark for name in sets)),
    ]
    if not sets:
        notes = [
            "This study has no evaluation set with two scorers that both the public base and an arm of GRPO "
            "with group advantages answer, so the table is empty."
        ]
    return Table(
        caption=f"Contributions to the gain of {title} over the base"
        f"{f' on {sets[0]}' if len(sets) == 1 else ''}.",
        **by_evaluation_set(
            ("Base response", "Questions", *(f"{role} (pp)" for role in ROLES.values())),
            {name: _rows(study, inputs, name, method or "", base or "") for name in sets},
        ),
        notes=tuple(notes),
    )


def _rows(study: Study, inputs: Inputs, evaluation_set: str, method: str, base: str) -> list[Row]:
    scorers = scorers_of(study, evaluation_set)
    names = (*FORMATS.get(scorers["strict"], OTHER_FORMATS), ALL)
    read = partial(inputs.answers, study, evaluation_set)
    answers = {role: (read(rule, method), read(rule, base)) for role, rule in scorers.items()}
    strict = answers["strict"][1]
    if strict is None:
        return [(label(name), absent(), *(absent("", "net") for _ in scorers)) for name in names]
    parsed = {problem: answer.parsed for problem, answer in strict[SEEDLESS].items()}
    groups = ([p for p in parsed if parsed[p]], [p for p in parsed if not parsed[p]], list(parsed))
    return [
        (label(name), count(len(group)), *(_contribution(*arms, group, parsed) for arms in answers.values()))
        for name, group in zip(names, groups, strict=True)
    ]


def _contribution(
    method: Answers | None, base: Answers | None, group: list[str], problems: Mapping[str, bool]
) -> Cell:
    """What a group of problems adds to the gain; `net` is in answers, over all seeds of the method."""
    if method is None or base is None:
        return absent("", "net")
    require_same_problems(
        [
            ("the base's strict scores", SEEDLESS, problems),
            *(("the base's scores", seed, correctness(scores)) for seed, scores in base.items()),
            *(("the method's scores", seed, correctness(scores)) for seed, scores in method.items()),
        ]
    )
    before = sum(base[SEEDLESS][problem].correct for problem in group)
    after = sum(scores[problem].correct for scores in method.values() for problem in group)
    net = after - len(method) * before
    pp = 100 * net / (len(method) * len(problems))
    return Cell(signed(pp), {"": pp, "net": net})
