"""Reading scores: which evaluation problems an arm answered correctly, seed by seed.

Evaluation problems are public, so an error may name the first of them.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptdp.errors import InputError
from promptdp.files import parse_json, shown

Scores = Mapping[int, Mapping[str, int]]
"""Correctness (0 or 1) by seed and problem id. An arm whose only seed is 0 is seedless: it pairs with all."""

METADATA_KEY = b"promptdp"
"""Of a Parquet file: canonical JSON that says what the scores are and where they came from."""
SESSION = ("evaluation_set", "scorer", "scorer_digest")
PREDICTION = ("engine", "versions", "dtype", "device", "prompt_sha256", "cap")
_TRUTH = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1}


@dataclass(frozen=True)
class ScoreFile:
    """The content of one file of scores; `metadata` is None where the file has none."""

    path: Path
    seeds: Scores
    metadata: dict[str, Any] | None


def read_scores_file(path: str | Path, position: int = 1) -> ScoreFile:
    """Read a Parquet or CSV file with the columns problem_id, correct and, if it has one, seed.

    Without that column the seed is the `seed{k}` of the file's name, and without that `position`, the file's
    place in its list.

    Raises:
        InputError: the file can't be read, lacks a column, holds no row, repeats a problem within a seed, or
        has a
            problem without id, a seed that is not a whole number or a score that is not 0 or 1.
    """
    path = Path(path)
    rows, metadata = _read_parquet(path) if path.suffix == ".parquet" else (_read_csv(path), None)
    named = re.search(r"seed(\d+)", path.name)
    default = int(named.group(1)) if named else position
    seeds: dict[int, dict[str, int]] = {}
    repeated: list[str] = []
    for where, problem, correct, seed in rows:
        if problem in (None, ""):
            raise InputError(f"{where}: a row has no problem_id; give every problem an id")
        truth = _TRUTH.get(str(correct).lower())
        if truth is None:
            raise InputError(
                f"{where}: correct is not 0 or 1 for problem {shown(str(problem))}; score it again"
            )
        scores = seeds.setdefault(default if seed is None else _seed(seed, where), {})
        if str(problem) in scores:
            repeated.append(str(problem))
        scores[str(problem)] = truth
    if repeated:
        raise InputError(
            f"{path}: problems stand twice in one seed: {_first(repeated)}; keep one row for each"
        )
    if not seeds:
        raise InputError(f"{path}: holds no scores; score the arm again")
    return ScoreFile(path, seeds, metadata)


def read_scores_files(paths: Sequence[str | Path]) -> list[ScoreFile]:
    """Read files of scores; those without a seed of their own are numbered by their place, from 1.

    Raises:
        InputError: as `read_scores_file`.
    """
    return [read_scores_file(path, position) for position, path in enumerate(paths, start=1)]


def one_arm(files: Iterable[ScoreFile]) -> Scores:
    """The scores of an arm over all its files.

    Raises:
        InputError: a seed stands in two files.
    """
    scores: dict[int, Mapping[str, int]] = {}
    holders: dict[int, Path] = {}
    for file in files:
        for seed, problems in file.seeds.items():
            if seed in scores:
                raise InputError(
                    f"{file.path}: seed {seed} stands in {holders[seed]} too; give each seed once"
                )
            scores[seed], holders[seed] = problems, file.path
    return scores


def read_two_arms(first: Sequence[str | Path], second: Sequence[str | Path]) -> tuple[Scores, Scores]:
    """The scores of two arms that were evaluated alike.

    Raises:
        InputError: as `read_scores_file`, `require_one_evaluation` and `one_arm`.
    """
    a, b = read_scores_files(first), read_scores_files(second)
    require_one_evaluation([*a, *b])
    return one_arm(a), one_arm(b)


def require_same_problems(scores: Iterable[tuple[str, int, Mapping[str, int]]]) -> None:
    """Require that scores, each with its file and seed, cover one set of problems: a pair never drops a
    problem.

    Raises:
        InputError: some scores lack problems that the first ones have, or have problems those lack.
    """
    first, *others = scores
    for other in others:
        for lacking, having in ((other, first), (first, other)):
            if ids := having[2].keys() - lacking[2].keys():
                raise InputError(
                    f"{lacking[0]}: seed {lacking[1]} lacks problems that seed {having[1]} of {having[0]} "
                    f"has: {_first(sorted(ids))}; score the whole evaluation set for both"
                )


def require_one_evaluation(files: Sequence[ScoreFile]) -> None:
    """Require that all scores are of one set of problems, one scorer, one prediction setting (section VII-D).

    Scorer and setting of files without metadata (CSV) can't be checked.

    Raises:
        InputError: two files differ, with the first difference.
    """
    require_same_problems(
        (str(file.path), seed, problems) for file in files for seed, problems in file.seeds.items()
    )
    known = [(file.path, _session(file.metadata)) for file in files if file.metadata is not None]
    for path, session in known[1:]:
        first_path, first = known[0]
        for key, value in session.items():
            if value != first[key]:
                raise InputError(
                    f"{path}: {key} is {shown(value)}, but {shown(first[key])} in {first_path}; "
                    "predict and score both arms in one setting"
                )


def _session(metadata: dict[str, Any]) -> dict[str, Any]:
    manifest = metadata.get("manifest") or {}
    return {key: metadata.get(key) for key in SESSION} | {key: manifest.get(key) for key in PREDICTION}


Row = tuple[str, Any, Any, Any]  # where it stands, problem_id, correct, seed


def _read_csv(path: Path) -> Iterator[Row]:
    try:
        with open(path, encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            names = reader.fieldnames or ()
            if names and names[0].lstrip().startswith("{"):
                raise InputError(
                    f"{path}: holds JSON lines, as promptdp score writes them; give CSV with the columns "
                    "problem_id and correct (a line's id and correct), or Parquet of promptdp score-run"
                )
            _require_columns(path, names)
            for row in reader:
                where = f"{path}:{reader.line_num}"
                if None in row or None in row.values():
                    raise InputError(f"{where}: the row has not as many fields as the header; write it again")
                yield where, row["problem_id"], row["correct"], row.get("seed")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{path}: is not CSV text; give a CSV or .parquet file") from None


def read_columns(file: Any, columns: list[str] | None = None) -> Any:
    """The table in an open `pyarrow.parquet.ParquetFile`, or some of its columns, read by one thread.

    Arrow may abort the process at its exit while threads that read still end (apache/arrow issue 34314).
    """
    return file.read(columns, use_threads=False)


def _read_parquet(path: Path) -> tuple[Iterator[Row], dict[str, Any] | None]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with open(path, "rb") as stream, pq.ParquetFile(stream) as file:
            names = file.schema_arrow.names
            _require_columns(path, names)
            columns = ["problem_id", "correct", *(["seed"] if "seed" in names else [])]
            table = read_columns(file, columns)
            values = [table.column(name).to_pylist() for name in columns]
            raw = (file.schema_arrow.metadata or {}).get(METADATA_KEY)
    except (pa.ArrowException, ValueError):
        raise InputError(f"{path}: is not a Parquet file of scores; make it again with score-run") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or 'damaged'}); check the path") from None
    if "seed" in names and None in values[2]:
        raise InputError(f"{path}: a row has no seed; score the arm again")
    seeds = values[2] if "seed" in names else [None] * table.num_rows
    return ((str(path), *row) for row in zip(*values[:2], seeds, strict=True)), _metadata(path, raw)


def _metadata(path: Path, raw: bytes | None) -> dict[str, Any] | None:
    if raw is None:
        return None
    metadata = parse_json(raw, path)
    if not isinstance(metadata, dict) or not isinstance(metadata.get("manifest", {}), dict):
        raise InputError(f"{path}: its metadata are no JSON object; make it again with score-run")
    return metadata


def _require_columns(path: Path, names: Sequence[str]) -> None:
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise InputError(f"{path}: has more than one column {shown(repeated[0])}; keep one of each")
    missing = [name for name in ("problem_id", "correct") if name not in set(names)]
    if missing:
        raise InputError(f"{path}: has no column {missing[0]}; scores need problem_id and correct")


def _seed(value: Any, where: str) -> int:
    text = str(value)
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise InputError(
            f"{where}: seed is not a whole number from 0; number seeds from 1, 0 is for a seedless arm"
        )
    return int(text)


def _first(ids: Sequence[str], listed: int = 3) -> str:
    more = f" and {len(ids) - listed} more" if len(ids) > listed else ""
    return ", ".join(map(shown, ids[:listed])) + more
