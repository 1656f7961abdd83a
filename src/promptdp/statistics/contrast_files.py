"""Contrasts of arms given by their files of scores."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from promptdp.errors import InputError
from promptdp.files import read_json
from promptdp.statistics.contrast import contrast
from promptdp.statistics.scores import read_two_arms


def contrast_files(
    scores: Sequence[str | Path],
    versus: Sequence[str | Path],
    pairs: str = "paired",
    family: str | Path | None = None,
    draws: int | None = None,
    seed: int | None = None,
) -> dict[str, Any]:
    """The `contrast` of two arms given by their files of scores (Parquet or CSV).

    `family` is a JSON list of the unadjusted p-values of the other tests in the same Holm family.

    Raises:
        InputError: as `contrast` and `read_two_arms`, or `family` is not a list.
    """
    a, b = read_two_arms(scores, versus)
    family_p = [] if family is None else read_json(family)
    if not isinstance(family_p, list):
        raise InputError(f"{family}: is not a list; write the family's unadjusted p-values as [0.01, 0.2]")
    return contrast(a, b, pairs, family_p, draws, seed)
