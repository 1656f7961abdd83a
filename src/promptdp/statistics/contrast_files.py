"""Contrasts from files of scores, and the file a contrast becomes."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from promptdp.errors import InputError
from promptdp.files import read_json, sha256_file, write_json
from promptdp.statistics.contrast import contrast, mcnemar_p_values
from promptdp.statistics.scores import (
    ScoreFile,
    read_arm,
    require_one_session,
    require_same_problems,
    seeds_of,
)

SCHEMA = "promptdp/contrast/1"
Paths = Sequence[str | Path]


def contrast_files(
    scores: Paths,
    versus: Paths,
    pairs: str = "paired",
    family_p: Sequence[float] | None = None,
    draws: int | None = None,
    seed: int | None = None,
) -> dict[str, Any]:
    """The `contrast` of two arms given by their files of scores (Parquet or CSV).

    Raises:
        InputError: as `contrast` and `read_scores_file`, or the files are not of one evaluation session.
    """
    first, second = _read_both(scores, versus)
    return contrast(seeds_of(first), seeds_of(second), pairs, family_p, draws, seed)


def read_family(path: str | Path) -> list[float]:
    """The p-values of a JSON list.

    Raises:
        InputError: the file is not a JSON list.
    """
    values = read_json(path)
    if not isinstance(values, list):
        raise InputError(f"{path}: is not a list; write the family's unadjusted p-values as [0.01, 0.2]")
    return values


def write_contrast(
    out: str | Path,
    name: str,
    scores: Paths,
    versus: Paths,
    pairs: str = "paired",
    family: Iterable[tuple[Paths, Paths]] = (),
    draws: int | None = None,
    seed: int | None = None,
) -> dict[str, Any]:
    """Write the contrast of two arms of a study as JSON, schema `promptdp/contrast/1`, and return it.

    The scores say which study, evaluation set, scorer and arms they are of; `family` gives the score files of the
    other contrasts of the same Holm family, whose McNemar tests join its adjustment.

    Raises:
        InputError: as `contrast_files`, or a file does not say what it is.
    """
    first, second = _read_both(scores, versus)
    family_p: list[float] = []
    inputs = [*scores, *versus]
    for other_scores, other_versus in family:
        family_p += mcnemar_p_values(*map(seeds_of, _read_both(other_scores, other_versus)))
        inputs += [*other_scores, *other_versus]
    result = {
        "schema": SCHEMA,
        "name": name,
        "study": _said("study", [*first, *second]),
        "evaluation_set": _said("evaluation_set", [*first, *second]),
        "scorer": _said("scorer", [*first, *second]),
        "arm": _said("arm", first),
        "versus": _said("arm", second),
        "inputs": {str(path): sha256_file(path) for path in inputs},
        **contrast(seeds_of(first), seeds_of(second), pairs, family_p, draws, seed),
    }
    write_json(out, result)
    return result


def _read_both(scores: Paths, versus: Paths) -> tuple[list[ScoreFile], list[ScoreFile]]:
    first, second = read_arm(scores), read_arm(versus)
    require_one_session([*first, *second])
    require_same_problems(
        (str(file.path), seed, problems)
        for file in [*first, *second]
        for seed, problems in file.seeds.items()
    )
    return first, second


def _said(key: str, files: list[ScoreFile]) -> str:
    """What the metadata of all files says of `key`."""
    values = []
    for file in files:
        value = (file.metadata or {}).get(key)
        if not value:
            raise InputError(f"{file.path}: does not say its {key}; make it with the rule score")
        values.append(value)
        if values[-1] != values[0]:
            raise InputError(
                f"{file.path}: its {key} is {values[-1]}, not {values[0]}; give files of one {key}"
            )
    return values[0]
