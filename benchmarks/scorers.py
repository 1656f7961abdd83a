"""What scoring saved responses costs, on one core, beside math-verify on the same responses.

The responses are real ones where they lie beside the repository, else those of the recorded run: median CPU
seconds, and the ratio of math-verify's to ours. math-verify runs in this process and, as in the audit of the
scorers, is kept from evaluating text as Python.
"""

import gzip
import json
import logging
from collections.abc import Callable, Iterable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from stopwatch import medians

from promptdp.records.worlds import draw
from promptdp.scoring import RULES
from promptdp.study import load_study

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
PREDICTIONS = ROOT / "resources" / "recorded" / "micro" / "predictions"
REAL = {
    "math_strict": ("predictions_math_qwen25_1p5b_instruct_20x17.jsonl.gz", "math_test.jsonl.gz", 4499),
    "gsm8k": ("predictions_gsm8k_openai.jsonl.gz", "gsm8k_test.jsonl", 5276),
}
RECORDED = {"math_robust": ("arithmetic", 4499), "gsm8k": ("stories", 5276)}
COMPARED = 300
"""Responses that math-verify reads too: it is slower."""

Pair = tuple[str, str]


def lines(path: Path) -> list[dict[str, Any]]:
    """The JSON objects of a file of lines, gzipped or not."""
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def paired(predictions: Iterable[Path], golds: dict[str, str]) -> list[Pair]:
    """Each response with its problem's reference answer."""
    return [(row["response"], golds[row["problem_id"]]) for path in predictions for row in lines(path)]


def responses() -> dict[str, tuple[list[Pair], int]]:
    """The responses with their references, by rule, and how many are to be scored."""
    if SHARED.is_dir():
        return {
            rule: (
                paired([SHARED / saved], {row["id"]: row["answer"] for row in lines(SHARED / problems)}),
                number,
            )
            for rule, (saved, problems, number) in REAL.items()
        }
    study = load_study("micro")
    found = {}
    for rule, (name, number) in RECORDED.items():
        chosen = study.evaluation_sets[name]
        settings = study.benchmarks[chosen.benchmark]
        records = draw(settings.source, chosen.split, chosen.problems, settings.seed)
        golds = {record.id: record.answer for record in records}
        found[rule] = paired(sorted((PREDICTIONS / name).glob("*/*.jsonl.gz")), golds), number
    return found


def math_verify() -> Callable[[str, str], object] | None:
    """What math-verify says of a response, or that it gives up; None where it is not installed."""
    try:
        from promptdp.assurance.scorer_audit.library import whole
    except ImportError:
        return None

    def says(response: str, gold: str) -> object:
        try:
            return whole(response, gold)
        except Exception as error:  # it gives up in many ways, each of which ends its work
            return error

    return says


def applied(call: Callable[[str, str], object], pairs: list[Pair], number: int) -> Callable[[], None]:
    """A grader's work on so many responses, from the first again after the last."""

    def work() -> None:
        for response, gold in islice(cycle(pairs), number):
            call(response, gold)

    return work


def main() -> None:
    """Print the seconds and ratios."""
    logging.disable()  # math-verify warns at every response that its clocks are off
    other = math_verify()
    for rule, (pairs, number) in responses().items():
        seconds = medians({"ours": applied(RULES[rule], pairs, number)}, repeats=3)
        print(f"{rule:12} {number} responses: {seconds['ours']:.2f} s")
        if other is not None:
            both = {"ours": applied(RULES[rule], pairs, COMPARED), "theirs": applied(other, pairs, COMPARED)}
            seconds = medians(both, repeats=3)
            print(f"{rule:12} math-verify takes {seconds['theirs'] / seconds['ours']:.1f} times as long")
    if other is None:
        print("math-verify is not installed: no ratio")


if __name__ == "__main__":
    main()
