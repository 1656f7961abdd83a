"""Checks beside the paper's tables: what length, the cap and unread answers could explain (Appendix E).

- Mean response tokens and the share of responses at the cap, by arm and seed.
- The reward contrast with every response at the cap counted as incorrect.
- The method's lead with every answer that the scorer did not read in the base's responses credited.
"""

from collections.abc import Callable, Mapping, Sequence

from promptdp.reporting.answers import Answer, Answers
from promptdp.reporting.cells import ABSENT, Cell, absent, fixed, gain, label, signed
from promptdp.reporting.inputs import Inputs
from promptdp.reporting.notes import arm_label, budget_notes, nonprivate_note
from promptdp.reporting.shown import base_of, control_of, own_sets, scorers_of
from promptdp.reporting.table import Row, Table
from promptdp.statistics.contrast import contrast
from promptdp.statistics.pairing import SEEDLESS
from promptdp.statistics.scores import require_same_problems
from promptdp.study import Study

NAME = "checks"
LENGTH = "Mean response tokens"
CAPPED = "Responses at the cap (%)"
CAPPED_INCORRECT = "Reward contrast, capped responses incorrect (pp)"
CREDITED = "Lead over the base, its unread answers credited (pp)"
NOTES = (
    f"{LENGTH}: the stop token included, a capped response as long as the cap. A gain with responses as "
    "long as the base's or longer does not come from shorter ones; lengths do not tell what it comes from.",
    f"{CAPPED_INCORRECT}: under the strict scorer, in both arms, with the 95% bootstrap interval over "
    "problems. It bounds what the credit of responses that were cut off adds to the contrast, and does not "
    "say what a larger cap would give.",
    f"{CREDITED}: under the scorer that reads more formats, every response of the base from which it "
    "extracts nothing counts as correct, and the method's such responses as incorrect. A descriptive bound "
    "on answers of the base that went unread; it does not cover errors in answers that were read. A lead "
    "that is not above zero leaves open that unread answers explain the gain.",
)


def checks(study: Study, inputs: Inputs) -> Table:
    """The length check, the capped-as-incorrect contrast and the abstentions-credited bound of a study.

    Raises:
        InputError: a file of scores lacks what it should say of a response, or two cover other problems.
    """
    rows = [row for name in study.evaluation_sets for row in _rows(study, inputs, name)]
    return Table(
        caption="What response length, the cap and unread answers could explain.",
        columns=("Evaluation set", "Check", "Arm", "Per seed", "Value"),
        rows=tuple(rows),
        notes=(
            *NOTES,
            *nonprivate_note(study, set(study.arms)),
            *budget_notes(study, inputs, study.benchmarks, study.arms),
        ),
        groups=2,
        name=NAME,
    )


def _rows(study: Study, inputs: Inputs, name: str) -> list[Row]:
    strict, *others = scorers_of(study, name).values()
    arms = list(dict.fromkeys(arm for arm, _ in study.evaluations(name)))
    answers = {arm: inputs.answers(study, name, strict, arm) for arm in arms}
    rows: list[Row] = [
        (label(name), label(check), label(arm_label(study, arm)), *_means(answers[arm], measure))
        for check, measure in ((LENGTH, _tokens), (CAPPED, _capped))
        for arm in arms
    ]
    method, control, base = study.method(), control_of(study), base_of(study)
    if name not in own_sets(study) or method not in arms:
        return rows
    if control in arms:
        title = f"{arm_label(study, method)} − {arm_label(study, control)}"
        cells = _capped_incorrect(answers[method], answers[control])
        rows.append((label(name), label(CAPPED_INCORRECT), label(title), *cells))
    if base in arms:
        title = f"{arm_label(study, method)} − {arm_label(study, base)}"
        read_more = others[0] if others else strict
        cells = _credited(*(inputs.answers(study, name, read_more, arm) for arm in (method, base)))
        rows.append((label(name), label(CREDITED), label(title), *cells))
    return rows


def _tokens(answer: Answer) -> float:
    return answer.tokens


def _capped(answer: Answer) -> float:
    return 100 * answer.capped


def _means(answers: Answers | None, measure: Callable[[Answer], float]) -> tuple[Cell, Cell]:
    """The mean of a measure over each seed's responses, and over those of all seeds."""
    if answers is None:
        return Cell(ABSENT, {}), absent()
    means = {seed: sum(map(measure, some.values())) / len(some) for seed, some in answers.items()}
    mean = sum(means.values()) / len(means)
    whole = Cell(fixed(mean, 1), {"": mean})
    if list(means) == [SEEDLESS]:
        return Cell(ABSENT, {}), whole
    return _per_seed(means, [fixed(value, 1) for value in means.values()]), whole


def _capped_incorrect(method: Answers | None, control: Answers | None) -> tuple[Cell, Cell]:
    if method is None or control is None:
        return Cell(ABSENT, {}), gain(None)
    result = contrast(_uncapped(method), _uncapped(control))
    seeds = [test["seed"] for test in result["mcnemar"]]
    by_seed = dict(zip(seeds, result["per_seed_pp"], strict=True))
    return _per_seed(by_seed, list(map(signed, by_seed.values()))), gain(result)


def _uncapped(arm: Answers) -> dict[int, dict[str, int]]:
    """The scores of an arm with every response at the cap counted as incorrect."""
    return {seed: {p: a.correct * (not a.capped) for p, a in some.items()} for seed, some in arm.items()}


def _credited(method: Answers | None, base: Answers | None) -> tuple[Cell, Cell]:
    """The lead in points; `abstentions` counts the base's unread answers, `credited` its correct ones too."""
    if method is None or base is None:
        return Cell(ABSENT, {}), absent("", "abstentions", "credited")
    require_same_problems(
        (f"the scores of {who}", seed, {problem: answer.correct for problem, answer in some.items()})
        for who, arm in (("the base", base), ("the method", method))
        for seed, some in arm.items()
    )
    responses = base[SEEDLESS].values()
    abstentions = sum(not answer.parsed for answer in responses)
    credited = abstentions + sum(answer.correct for answer in responses)
    right = {seed: sum(answer.correct for answer in some.values()) for seed, some in method.items()}
    by_seed = {seed: 100 * (number - credited) / len(responses) for seed, number in right.items()}
    lead = 100 * (sum(right.values()) - len(right) * credited) / (len(right) * len(responses))
    return (
        _per_seed(by_seed, list(map(signed, by_seed.values()))),
        Cell(signed(lead), {"": lead, "abstentions": abstentions, "credited": credited}),
    )


def _per_seed(values: Mapping[int, float], texts: Sequence[str]) -> Cell:
    return Cell(" / ".join(texts), {str(seed): value for seed, value in values.items()})
