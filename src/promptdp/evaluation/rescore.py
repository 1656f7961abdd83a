"""Scoring saved responses: one rule, one prediction file, one file of verdicts (VII-D).

The responses are never changed, and every problem of the evaluation set stays in the denominator: a
prediction file that lacks a problem, or holds one twice, is an error.
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from promptdp.errors import InputError
from promptdp.files import atomic, canonical_json, read_json, sha256_file, write_text
from promptdp.records.record import Record, read_records
from promptdp.scoring import score
from promptdp.scoring.freeze import digest

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


def _lines(path: Path, fields: dict[str, type]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file of lines, gzipped or not, with their line numbers, fields checked."""
    opener: Any = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opener(path, "rt", encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                try:
                    value = json.loads(line)
                except json.JSONDecodeError:
                    raise InputError(f"{path}:{number}: not valid JSON; write one object a line") from None
                for name, kind in fields.items():
                    if not isinstance(value, dict) or type(value.get(name)) is not kind:
                        raise InputError(
                            f"{path}:{number}: {name} is missing or is no {kind.__name__}; add it"
                        )
                yield number, value
    except (OSError, EOFError, UnicodeDecodeError) as error:
        what = getattr(error, "strerror", None) or "damaged or not UTF-8"
        raise InputError(f"{path}:{number + 1}: cannot be read ({what}); check the file") from None


def manifest_path(predictions: Path) -> Path:
    """The manifest that lies beside a prediction file."""
    return predictions.with_name(predictions.name.removesuffix(".jsonl.gz") + ".manifest.json")


def _predictions(path: Path, records: dict[str, Record]) -> dict[str, dict[str, Any]]:
    """The prediction of each problem, complete and without repetition."""
    fields = {"problem_id": str, "response": str, "tokens": int, "capped": bool}
    predictions: dict[str, dict[str, Any]] = {}
    for number, prediction in _lines(path, fields):
        name = prediction["problem_id"]
        if name not in records:
            raise InputError(f"{path}:{number}: {name} is not in the evaluation set; predict on the same set")
        if name in predictions:
            raise InputError(f"{path}:{number}: {name} appears twice; predict again")
        predictions[name] = prediction
    if missing := sorted(records.keys() - predictions.keys()):
        raise InputError(
            f"{path}: {len(missing)} problems are missing, the first is {missing[0]}; predict again"
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
    manifest = read_json(manifest_path(predictions))
    sha256 = sha256_file(predictions)
    if manifest.get("predictions_sha256") != sha256:
        raise InputError(f"{predictions}: is not the file its manifest names; predict again")
    for key in ("study", "evaluation_set", "arm", "seed"):
        if key not in manifest:
            raise InputError(f"{manifest_path(predictions)}: key '{key}' is missing; predict again")
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
        "manifest": manifest,
    }
    rows = []
    for name, prediction in sorted(_predictions(predictions, problems).items()):
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
        table = pq.read_table(path)
    except (OSError, pa.ArrowException):
        raise InputError(
            f"{path}: cannot be read as Parquet; make it again with the rule that wrote it"
        ) from None
    metadata = json.loads((table.schema.metadata or {}).get(b"promptdp", b"{}"))
    if metadata.get("schema") != SCHEMA:
        raise InputError(f"{path}: is no file of scores ({SCHEMA}); make it with the rule `score`")
    return metadata, table


def score_lines(rule: str, input_path: Path, output_path: Path) -> None:
    """Score lines {id, gold, response, [capped]} into lines {id, extracted, correct, reason}, in order.

    Raises:
        InputError: the input is missing or malformed, or there is no such rule.
    """
    results = []
    for number, case in _lines(Path(input_path), {"id": str, "gold": str, "response": str}):
        capped = case.get("capped", False)
        if type(capped) is not bool:
            raise InputError(f"{input_path}:{number}: capped is no bool; write true or false")
        verdict = score(rule, case["response"], case["gold"], capped)
        results.append({"id": case["id"], **verdict._asdict()})
    write_text(output_path, "".join(json.dumps(result, ensure_ascii=True) + "\n" for result in results))
