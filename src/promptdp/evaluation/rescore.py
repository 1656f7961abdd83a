"""Scoring saved responses: one rule, one prediction file, one file of verdicts (VII-D).

The responses are never changed, and every problem of the evaluation set stays in the denominator: a
prediction file that lacks a problem, or holds one twice, is an error.
"""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from promptdp.errors import InputError
from promptdp.files import (
    atomic,
    canonical_json,
    parse_json,
    read_object,
    sha256_file,
    shown,
    write_text,
)
from promptdp.records.record import Record, read_records
from promptdp.scoring import score
from promptdp.scoring.freeze import digest
from promptdp.statistics.scores import read_columns

SCHEMA = "promptdp/scores/1"
COLUMNS = pa.schema(
    [
        ("problem_id", pa.string()),
        ("seed", pa.int64()),
        ("extracted", pa.string()),
        ("correct", pa.bool_()),
        ("capped", pa.bool_()),
        ("tokens", pa.int64()),
    ]
)


MANIFEST = {"study": str, "evaluation_set": str, "arm": str, "seed": int}
LARGEST = 2**63 - 1  # of a column of integers

Kinds = type | tuple[type, ...]


def _lines(path: Path, fields: Mapping[str, Kinds]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file of lines, gzipped or not, with their line numbers, fields checked."""
    opener: Any = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opener(path, "rt", encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                value = parse_json(line, path, number, halves=True)
                for name, kinds in fields.items():
                    if not isinstance(value, dict) or not _is(value.get(name), kinds):
                        raise InputError(
                            f"{path}:{number}: {name} is missing or is no {_named(kinds)}; add it"
                        )
                yield number, value
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        what = getattr(error, "strerror", None) or "damaged or not UTF-8"
        raise InputError(f"{path}:{number + 1}: cannot be read ({what}); check the file") from None


def _is(value: Any, kinds: Kinds) -> bool:
    """Whether a JSON value is of these kinds; a bool is no integer."""
    return type(value) in (kinds if isinstance(kinds, tuple) else (kinds,))


def _named(kinds: Kinds) -> str:
    return " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))


def manifest_path(predictions: Path) -> Path:
    """The manifest that lies beside a prediction file."""
    return predictions.with_name(predictions.name.removesuffix(".jsonl.gz") + ".manifest.json")


def _manifest(predictions: Path) -> dict[str, Any]:
    """The manifest of a prediction file, which is the one it names."""
    path = manifest_path(predictions)
    manifest = read_object(path)
    if manifest.get("predictions_sha256") != sha256_file(predictions):
        raise InputError(f"{predictions}: is not the file its manifest names; predict again")
    for key, kind in MANIFEST.items():
        if not _is(manifest.get(key), kind):
            raise InputError(f"{path}: key '{key}' is missing or is no {_named(kind)}; predict again")
    if not 0 <= manifest["seed"] <= LARGEST:
        raise InputError(f"{path}: seed is out of range; number seeds from 1, 0 is for a seedless arm")
    return manifest


def read_predictions(path: Path, records: dict[str, Record]) -> dict[str, dict[str, Any]]:
    """The prediction of each problem: its response, token count and whether the cap stopped it.

    Raises:
        InputError: the file cannot be read, or a problem is unknown, repeated or missing.
    """
    fields = {"problem_id": str, "response": str, "tokens": int, "capped": bool}
    predictions: dict[str, dict[str, Any]] = {}
    for number, prediction in _lines(path, fields):
        name = prediction["problem_id"]
        if name not in records:
            raise InputError(
                f"{path}:{number}: {shown(name)} is not in the evaluation set; predict on the same set"
            )
        if name in predictions:
            raise InputError(f"{path}:{number}: {shown(name)} appears twice; predict again")
        if not 0 <= prediction["tokens"] <= LARGEST:
            raise InputError(f"{path}:{number}: tokens is out of range; predict again")
        predictions[name] = prediction
    if missing := sorted(records.keys() - predictions.keys()):
        raise InputError(
            f"{path}: {len(missing)} problems are missing, the first is {shown(missing[0])}; predict again"
        )
    return predictions


def storable(text: str | None) -> str | None:
    """A text with what no UTF-8 file can hold (lone surrogates) replaced by question marks."""
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")


def rescore(predictions: Path, records: Path, rule: str, out: Path) -> None:
    """Score a prediction file with a rule and write the verdicts as Parquet, sorted by problem.

    Args:
        predictions: gzipped JSON lines {problem_id, response, tokens, capped}, its manifest beside it.
        records: the evaluation records.
        rule: a name in `scoring.RULES`.
        out: the Parquet file; its metadata key `promptdp` says in canonical JSON where the scores come from.

    Raises:
        InputError: a file is missing or malformed, a problem is unknown, repeated or missing, the manifest
            names other predictions, or there is no such rule.
    """
    predictions, records = Path(predictions), Path(records)
    manifest = _manifest(predictions)
    sha256 = manifest["predictions_sha256"]
    problems = {record.id: record for record in read_records(records)}
    metadata = {
        "schema": SCHEMA,
        "study": manifest["study"],
        "evaluation_set": manifest["evaluation_set"],
        "scorer": rule,
        "scorer_digest": digest(rule),
        "arm": manifest["arm"],
        "seed": manifest["seed"],
        "predictions_sha256": sha256,
        "records_sha256": sha256_file(records),
        "manifest": manifest,
    }
    rows = []
    for name, prediction in sorted(read_predictions(predictions, problems).items()):
        verdict = score(rule, prediction["response"], problems[name].answer, prediction["capped"])
        rows.append(
            {
                "problem_id": name,
                "seed": manifest["seed"],
                "extracted": storable(verdict.extracted),
                "correct": verdict.correct,
                "capped": prediction["capped"],
                "tokens": prediction["tokens"],
            }
        )
    schema = COLUMNS.with_metadata({b"promptdp": canonical_json(metadata).encode()})
    with atomic(out) as temporary:
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), temporary)


def read_scores(path: str | Path) -> tuple[dict[str, Any], pa.Table]:
    """A file of verdicts: where it comes from, and its table.

    Raises:
        InputError: the file cannot be read, or `rescore` did not write it.
    """
    try:
        with open(path, "rb") as stream:
            table: pa.Table = read_columns(pq.ParquetFile(stream))
    except (OSError, pa.ArrowException):
        raise InputError(
            f"{path}: cannot be read as Parquet; make it again with the rule that wrote it"
        ) from None
    metadata = parse_json((table.schema.metadata or {}).get(b"promptdp", b"{}"), path)
    if not isinstance(metadata, dict) or metadata.get("schema") != SCHEMA:
        raise InputError(f"{path}: is no file of scores ({SCHEMA}); make it with the rule `score`")
    return metadata, table


def read_verdicts(path: str | Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A file of verdicts: where it comes from, and its rows, each with every one of `COLUMNS`.

    Raises:
        InputError: as `read_scores`, or a column is missing or is not of its type.
    """
    metadata, table = read_scores(path)
    if not table.schema.equals(COLUMNS):
        raise InputError(f"{path}: its columns are not those of scores; make it again with score-run")
    return metadata, table.to_pylist()


def score_lines(rule: str, input_path: Path, output_path: Path) -> None:
    """Score lines {id, gold, response, [capped]} into lines {id, extracted, correct, reason}, in order.

    An id is a text or an integer and comes back as it was given; other keys are ignored.

    Raises:
        InputError: the input is missing or malformed, or there is no such rule.
    """
    score(rule, response="", gold="")  # refuses an unknown rule where there is no line that would
    results = []
    for number, case in _lines(Path(input_path), {"id": (str, int), "gold": str, "response": str}):
        capped = case.get("capped", False)
        if type(capped) is not bool:
            raise InputError(f"{input_path}:{number}: capped is no bool; write true or false")
        verdict = score(rule, case["response"], case["gold"], capped)
        results.append(
            {
                "id": case["id"],
                "extracted": verdict.extracted,
                "correct": verdict.correct,
                "reason": verdict.reason,
            }
        )
    write_text(output_path, "".join(json.dumps(result, ensure_ascii=True) + "\n" for result in results))
