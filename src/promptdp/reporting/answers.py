"""What a file of scores says of each response: its score, whether it was parsed or capped, its length."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptdp.errors import InputError
from promptdp.statistics.scores import read_columns, read_scores_file

COLUMNS = ("extracted", "capped", "tokens")


@dataclass(frozen=True)
class Answer:
    """A response as a scorer saw it.

    `parsed` says whether the scorer extracted an answer, `capped` whether the response reached the cap,
    `tokens` are its length.
    """

    correct: int
    parsed: bool
    capped: bool
    tokens: int


Answers = Mapping[int, Mapping[str, Answer]]
"""What an arm answered, by seed and problem."""


def read_answers(path: Path) -> Mapping[str, Answer]:
    """The answers of one seed by problem, from a Parquet file of scores.

    Raises:
        InputError: the file is no file of one seed's scores, or lacks a column or a value of `COLUMNS`.
    """
    seeds = list(read_scores_file(path).seeds.values())
    problems, columns = _columns(path)
    if len(seeds) != 1:
        raise InputError(f"{path}: holds more than one seed; give each seed a file, as score-run does")
    return {
        problem: Answer(seeds[0][problem], extracted is not None, capped, tokens)
        for problem, extracted, capped, tokens in zip(problems, *columns, strict=True)
    }


def correctness(answers: Mapping[str, Answer]) -> dict[str, int]:
    """The scores of one seed by problem."""
    return {problem: answer.correct for problem, answer in answers.items()}


def _columns(path: Path) -> tuple[list[str], list[list[Any]]]:
    import pyarrow.parquet as pq

    with open(path, "rb") as stream, pq.ParquetFile(stream) as file:
        for name in COLUMNS:
            if file.schema_arrow.names.count(name) != 1:
                raise InputError(f"{path}: lacks the one column {name}; score the arm again with score-run")
        table = read_columns(file, ["problem_id", *COLUMNS])
    problems, *columns = (table.column(name).to_pylist() for name in table.column_names)
    if not all(
        type(capped) is bool and type(tokens) is int for capped, tokens in zip(*columns[1:], strict=True)
    ):
        raise InputError(f"{path}: capped or tokens is missing for a problem; score the arm again")
    return [str(problem) for problem in problems], columns
