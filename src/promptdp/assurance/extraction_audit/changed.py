"""Changed extractions: saved responses from which two rules extract different answers (Appendix E)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptdp.errors import InputError
from promptdp.evaluation.rescore import read_predictions, read_verdicts, storable
from promptdp.files import sha256_file, shown
from promptdp.forms import Form, validated
from promptdp.records.record import Record, read_records

Run = tuple[str, int]
"""An arm and a seed."""


@dataclass(frozen=True)
class Side:
    """What one of the two rules says of a response."""

    extracted: str | None
    correct: bool


@dataclass(frozen=True)
class Change:
    """A response that the rules read differently, with every run that gave it to this problem."""

    problem: Record
    response: str
    strict: Side
    robust: Side
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Changes:
    """All changed extractions of one evaluation set.

    Attributes:
        study: the experiment.
        evaluation_set: whose problems were answered.
        strict: name and digest of the rule whose extractions changed.
        robust: name and digest of the rule that is audited.
        predictions: the SHA-256 of the prediction file of every run.
        responses: how many saved responses are read differently, repetitions included.
        distinct: one for each problem, response and pair of verdicts, in an order of their own content.
    """

    study: str
    evaluation_set: str
    strict: dict[str, str]
    robust: dict[str, str]
    predictions: dict[Run, str]
    responses: int
    distinct: tuple[Change, ...]


class _Origin(Form):
    """What a file of scores says of where it comes from."""

    study: str
    evaluation_set: str
    scorer: str
    scorer_digest: str
    arm: str
    seed: int
    predictions_sha256: str


@dataclass(frozen=True)
class _Scores:
    path: Path
    origin: dict[str, Any]
    verdicts: Mapping[str, Side]


def changed_extractions(
    strict: Sequence[Path], robust: Sequence[Path], predictions: Sequence[Path], records: Path
) -> Changes:
    """The responses that two rules read differently, each once for a problem however many runs gave it.

    Args:
        strict: scores by the first rule, a file for each run.
        robust: scores by the second rule, of the same runs.
        predictions: the prediction files that were scored, in any order.
        records: the evaluation records.

    Raises:
        InputError: a file is missing or malformed, or the files are not the scores of the same predictions
            by two rules.
    """
    first, second = _of_one_rule(strict), _of_one_rule(robust)
    _require_two_rules(first, second)
    problems = {record.id: record for record in read_records(records)}
    saved = {sha256_file(path): path for path in predictions}
    runs: dict[tuple[str, str, Side, Side], list[Run]] = {}
    for run, earlier in first.items():
        later, sha256 = second[run], earlier.origin["predictions_sha256"]
        if sha256 not in saved:
            raise InputError(f"{earlier.path}: its predictions are not given; name their file too")
        for name, prediction in read_predictions(saved[sha256], problems).items():
            before, after = _verdict(earlier, name), _verdict(later, name)
            if before.extracted != after.extracted:
                response = str(storable(prediction["response"]))
                runs.setdefault((name, response, before, after), []).append(run)
    return Changes(
        study=_common(first, "study"),
        evaluation_set=_common(first, "evaluation_set"),
        strict={"scorer": _common(first, "scorer"), "scorer_digest": _common(first, "scorer_digest")},
        robust={"scorer": _common(second, "scorer"), "scorer_digest": _common(second, "scorer_digest")},
        predictions={run: scores.origin["predictions_sha256"] for run, scores in sorted(first.items())},
        responses=sum(map(len, runs.values())),
        distinct=tuple(
            Change(problems[name], response, before, after, tuple(sorted(givers)))
            for (name, response, before, after), givers in sorted(runs.items(), key=repr)
        ),
    )


def _of_one_rule(paths: Sequence[Path]) -> dict[Run, _Scores]:
    """Scores by run, all of one rule on one evaluation set."""
    runs: dict[Run, _Scores] = {}
    for path in paths:
        scores = _scores(path)
        run = (scores.origin["arm"], scores.origin["seed"])
        if run in runs:
            raise InputError(f"{path}: is of the same run as {runs[run].path}; give each run once")
        runs[run] = scores
        _require_same(
            next(iter(runs.values())), scores, ("study", "evaluation_set", "scorer", "scorer_digest")
        )
    return runs


def _scores(path: Path) -> _Scores:
    metadata, rows = read_verdicts(path)
    origin = validated(_Origin, metadata, path)
    verdicts = {row["problem_id"]: Side(row["extracted"], row["correct"]) for row in rows}
    return _Scores(path, origin, verdicts)


def _verdict(scores: _Scores, problem: str) -> Side:
    try:
        return scores.verdicts[problem]
    except KeyError:
        raise InputError(f"{scores.path}: lacks problem {shown(problem)}; score the run again") from None


def _require_two_rules(first: Mapping[Run, _Scores], second: Mapping[Run, _Scores]) -> None:
    """Require scores of the same predictions by different rules."""
    for having, lacking in ((first, second), (second, first)):
        for run in having.keys() - lacking.keys():
            raise InputError(f"{having[run].path}: this run has no scores by the other rule; give both")
    for run, scores in first.items():
        _require_same(scores, second[run], ("study", "evaluation_set", "predictions_sha256"))
        if scores.origin["scorer"] == second[run].origin["scorer"]:
            raise InputError(f"{second[run].path}: is by the same rule as {scores.path}; give two rules")


def _require_same(one: _Scores, other: _Scores, keys: Sequence[str]) -> None:
    for key in keys:
        if one.origin[key] != other.origin[key]:
            raise InputError(f"{other.path}: its {key} is not that of {one.path}; score both again")


def _common(scores: Mapping[Run, _Scores], key: str) -> str:
    return str(next(iter(scores.values())).origin[key])
