"""Every response of a study's evaluation sets with its verdict: the scores in the files, scored once more."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptdp.errors import InputError
from promptdp.evaluation.rescore import read_predictions, read_verdicts, storable
from promptdp.files import sha256_file, shown
from promptdp.forms import Form, of_study, validated
from promptdp.records.record import Record, read_records
from promptdp.scoring import RULES, Verdict, score
from promptdp.study import Study


class Source(Form):
    """What a file of scores says of itself."""

    evaluation_set: str
    scorer: str
    arm: str
    seed: int
    predictions_sha256: str


@dataclass(frozen=True)
class Scored:
    """One response and what the rule says about it."""

    problem: str
    arm: str
    seed: int
    response: str
    gold: str
    verdict: Verdict


def read_scored(
    study: Study, scores: Iterable[Path], predictions: Iterable[Path], records: Iterable[Path]
) -> dict[tuple[str, str], list[Scored]]:
    """The scored responses of each evaluation set and scorer, in the order of arms, seeds and problems.

    Args:
        study: whose files they are.
        scores: Parquet files of the rule `score`.
        predictions: the files they were made from, known by their hash.
        records: the evaluation sets, known by their problems.

    Raises:
        InputError: a file cannot be read or is of another study, one is missing or stands twice, or the
            rule no longer gives the verdicts in a file.
    """
    answers = {sha256_file(path): path for path in predictions}
    problems = [{record.id: record for record in read_records(path)} for path in records]
    found: dict[tuple[str, str], list[Scored]] = {}
    seen: set[tuple[Any, ...]] = set()
    for path in scores:
        source, rows = read_verdicts(path)
        of_study(study.name, validated(Source, source, path), path)
        if source["scorer"] not in RULES:
            raise InputError(f"{path}: there is no scorer {shown(source['scorer'])}; score again")
        if source["predictions_sha256"] not in answers:
            raise InputError(f"{path}: its predictions are not among those given; add their file")
        run = tuple(source[key] for key in ("evaluation_set", "scorer", "arm", "seed"))
        if run in seen:
            raise InputError(f"{path}: the same run is scored in another file too; give one")
        seen.add(run)
        known = _problems(path, [row["problem_id"] for row in rows], problems)
        given = read_predictions(answers[source["predictions_sha256"]], known)
        scored = found.setdefault((source["evaluation_set"], source["scorer"]), [])
        for row in rows:
            answer, gold = given[row["problem_id"]], known[row["problem_id"]].answer
            verdict = score(source["scorer"], answer["response"], gold, answer["capped"])
            if (storable(verdict.extracted), verdict.correct) != (row["extracted"], row["correct"]):
                raise InputError(
                    f"{path}: {shown(row['problem_id'])} has another verdict by {source['scorer']} as it is "
                    "now; score again"
                )
            scored.append(
                Scored(row["problem_id"], source["arm"], source["seed"], answer["response"], gold, verdict)
            )
    for scored in found.values():
        scored.sort(key=lambda one: (one.arm, one.seed, one.problem))
    return dict(sorted(found.items()))


def _problems(path: Path, ids: list[str], sets: list[dict[str, Record]]) -> dict[str, Record]:
    """The evaluation set that has exactly these problems."""
    for problems in sets:
        if sorted(problems) == sorted(ids):
            return problems
    raise InputError(f"{path}: no file of --records has exactly its problems; add the set's eval.jsonl")
