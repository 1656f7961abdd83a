"""The comparison of every verdict with second opinions, and the record of where they differ (VII-D).

Each distinct question is asked once. All but what the other software says follows from the files alone.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from promptdp.assurance.scorer_audit import asker as asking
from promptdp.assurance.scorer_audit import second_letter
from promptdp.assurance.scorer_audit.asker import Asker
from promptdp.assurance.scorer_audit.opinion import Opinion, Reason
from promptdp.assurance.scorer_audit.page import page
from promptdp.assurance.scorer_audit.reading import Scored, read_scored
from promptdp.closure import code_digest
from promptdp.evaluation.rescore import storable
from promptdp.files import write_json, write_text
from promptdp.scoring.freeze import digest
from promptdp.study import Study

SCHEMA = "promptdp/scorer_audit/1"
STATEMENT = (
    "Second opinions come from other software under a clock and a cap on memory: they may vary from machine "
    "to machine, and change no verdict. The verdicts come from counted work alone and do not vary. The "
    "stricter rule for letters is a function of the response and does not vary either."
)
VERSIONS = ("math-verify", "latex2sympy2_extended", "antlr4-python3-runtime", "sympy")
LISTED = 25
"""Most disagreements listed of one kind; all are counted."""
WHERE = 3
"""Most responses named for one disagreement."""
SHOWN = 200
"""Most characters of an answer that are shown."""

ANSWERS = ("math-verify", "sympy")
WHOLE = "whole response"
LETTER = "second letter"
OPINIONS = {
    "math_strict": (*ANSWERS, WHOLE),
    "math_robust": (*ANSWERS, WHOLE),
    "gsm8k": (*ANSWERS, WHOLE),
    "svamp": (*ANSWERS, WHOLE),
    "csqa_strict": (LETTER,),
    "csqa_final": (LETTER,),
}
"""Who is asked about the verdicts of a scorer; no one about those of other scorers."""

Outcome = tuple[Opinion, list[Scored]]


def audit(
    study: Study,
    scores: Iterable[Path],
    predictions: Iterable[Path],
    records: Iterable[Path],
    out: Path,
    out_page: Path,
    progress: Callable[[str], None] = lambda line: None,
) -> None:
    """Compare the scores of a study with second opinions; write the record and its page.

    Args:
        study: the experiment.
        scores: the Parquet files of the rule `score`.
        predictions: the files the scores were made from.
        records: the evaluation sets.
        out: the record, JSON.
        out_page: the same as a page, Markdown.
        progress: is given a line for every evaluation set and scorer.

    Raises:
        InputError: as `read_scored`.
        PromptDPError: the other software can't be started.
    """
    groups = read_scored(study, scores, predictions, records)
    with closing(Asker()) as asker:
        record = compare(study.name, groups, cache(asker.ask), progress)  # two scorers may ask the same
    write_json(out, record)
    write_text(out_page, page(record))


def compare(
    study: str,
    groups: dict[tuple[str, str], list[Scored]],
    ask: Callable[[str, str, str], Opinion],
    progress: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """The record; `ask(opinion, text, gold)` gives what the other software says."""
    rules = []
    for (evaluation_set, scorer), scored in groups.items():
        opinions = {name: _compared(name, scored, ask) for name in OPINIONS.get(scorer, ())}
        rules.append(
            {
                "evaluation_set": evaluation_set,
                "scorer": scorer,
                "scorer_digest": digest(scorer),
                "responses": len(scored),
                "reasons": _counted(one.verdict.reason for one in scored),
                "runs": _runs(scored, letters=LETTER in opinions),
                "opinions": opinions,
            }
        )
        differ = ", ".join(f"{name} {said['responses']['differs']}" for name, said in opinions.items())
        progress(f"{evaluation_set}, {scorer}: {len(scored)} responses; another opinion on: {differ or '-'}")
    return {
        "schema": SCHEMA,
        "study": study,
        "statement": STATEMENT,
        "code_sha256": code_digest(__name__),
        "versions": {package: version(package) for package in VERSIONS},
        "limits": {
            "seconds": asking.SECONDS,
            "megabytes": asking.MEGABYTES,
            "characters": asking.LONGEST,
        },
        "rules": rules,
    }


def _runs(scored: list[Scored], letters: bool) -> list[dict[str, Any]]:
    """How many responses of each arm and seed the rule recognises and credits, and the stricter rule too."""
    runs: dict[tuple[str, int], list[Scored]] = defaultdict(list)
    for one in scored:
        runs[one.arm, one.seed].append(one)
    rows = []
    for (arm, seed), responses in sorted(runs.items()):
        taken = [one for one in responses if one.verdict.extracted is not None]
        row = {
            "arm": arm,
            "seed": seed,
            "responses": len(responses),
            "recognised": len(taken),
            "credited": sum(one.verdict.correct for one in taken),
        }
        if letters:
            kept = [one for one in taken if second_letter.recognises(one.response, one.verdict.extracted)]
            row["recognised_without_second_letter"] = len(kept)
            row["credited_without_second_letter"] = sum(one.verdict.correct for one in kept)
        rows.append(row)
    return rows


def _compared(name: str, scored: list[Scored], ask: Callable[[str, str, str], Opinion]) -> dict[str, Any]:
    """What one opinion says of the responses it is asked about, and where it differs."""
    asked: dict[tuple[str, str, bool, str], list[Scored]] = defaultdict(list)
    for one in scored:
        text = one.verdict.extracted if name in ANSWERS else one.response
        if text is not None:
            asked[text, one.gold, one.verdict.correct, one.verdict.reason].append(one)
    outcomes = [
        (_by_letters(responses[0]) if name == LETTER else ask(name, text, gold), responses)
        for (text, gold, *_), responses in sorted(asked.items())
    ]
    return {
        "questions": _tally(outcomes, lambda responses: 1),
        "responses": _tally(outcomes, len),
        "differences": _differences(outcomes),
    }


def _by_letters(one: Scored) -> bool:
    """The verdict of the stricter rule for letters."""
    return one.verdict.correct and second_letter.recognises(one.response, one.verdict.extracted)


def _tally(outcomes: list[Outcome], weight: Callable[[list[Scored]], int]) -> dict[str, Any]:
    """How many agree, how many differ, and how many are without an opinion for each reason."""
    counts: Counter[str] = Counter()
    for opinion, responses in outcomes:
        if isinstance(opinion, Reason):
            counts[opinion] += weight(responses)
        else:
            counts["agrees" if opinion == responses[0].verdict.correct else "differs"] += weight(responses)
    agrees, differs = counts.pop("agrees", 0), counts.pop("differs", 0)
    return {"agrees": agrees, "differs": differs, "none": dict(sorted(counts.items()))}


def _differences(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """The differences by kind, the most frequent of each kind listed, all counted."""
    kinds: dict[tuple[bool, str], list[list[Scored]]] = defaultdict(list)
    for opinion, responses in outcomes:
        verdict = responses[0].verdict
        if not isinstance(opinion, Reason) and opinion != verdict.correct:
            kinds[verdict.correct, verdict.reason].append(responses)
    return [
        {
            "credited": credited,
            "reason": reason,
            "questions": len(cases),
            "responses": sum(map(len, cases)),
            "listed": [_listed(case) for case in sorted(cases, key=_first)[:LISTED]],
        }
        for (credited, reason), cases in sorted(kinds.items())
    ]


def _first(case: list[Scored]) -> tuple[Any, ...]:
    """The order of a list: the most frequent first, then by text."""
    return -len(case), case[0].gold, case[0].verdict.extracted or "", case[0].problem, case[0].response


def _listed(case: list[Scored]) -> dict[str, Any]:
    """A difference as the record shows it; the whole responses stand in the predictions."""
    return {
        "gold": _cut(case[0].gold),
        "extracted": _cut(case[0].verdict.extracted),
        "responses": len(case),
        "some": [{"problem_id": one.problem, "arm": one.arm, "seed": one.seed} for one in case[:WHERE]],
    }


def _cut(text: str | None) -> str | None:
    """As much of a text as is shown."""
    kept = storable(text)
    return kept if kept is None or len(kept) <= SHOWN else kept[: SHOWN - 1] + "…"


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))
