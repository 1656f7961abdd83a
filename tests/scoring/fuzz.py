"""Fuzz the scorers: mutated and generated texts through every rule, in two orders and under two hash seeds.

    python -m tests.scoring.fuzz --inputs 100000 --seed 1

Every verdict must be in the rules' terms and within the work that they may do, and the same in both child
processes. Seconds are printed and judge nothing: those that the counted operations do not explain show where
work goes uncounted.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from time import process_time
from typing import NamedTuple

from promptdp.scoring import RULES, Verdict, score
from promptdp.scoring.limits import OPERATIONS, READING
from promptdp.scoring.verdict import Reason

from .corpus import Corpus

ROOT = Path(__file__).resolve().parents[2]
MOST = READING + OPERATIONS
NOTICED = 0.02
"""Seconds below which the ratio of time to operations is only noise."""


class Cost(NamedTuple):
    """What one verdict cost."""

    seconds: float
    operations: int
    number: int
    rule: str
    made: str

    def __str__(self) -> str:
        return f"{self.seconds:.3f} s, {self.operations} operations: {self.rule}, {self.number} ({self.made})"


class Findings(NamedTuple):
    """What a child reports: a mark of the verdicts on each input, faults, and costs."""

    marks: dict[str, str]
    faults: list[str]
    reasons: dict[str, int]
    most_operations: Cost
    slowest: Cost
    unexplained: list[Cost]


def fault(verdict: Verdict) -> str | None:
    """What is wrong with a verdict, if anything."""
    if not 0 <= verdict.operations <= MOST:
        return f"{verdict.operations} operations"
    if verdict.reason not in set(Reason):
        return f"the reason {verdict.reason!r}"
    if verdict.extracted is None and verdict.correct:
        return "credit for no answer"
    if verdict.correct != (verdict.reason == Reason.EQUAL):
        return f"correct is {verdict.correct} for the reason {verdict.reason!r}"
    return None


def check(seed: int, count: int, shuffled: bool) -> Findings:
    """Score every input by every rule, in order or shuffled."""
    corpus = Corpus(seed)
    marks: dict[str, str] = {}
    faults: list[str] = []
    reasons: Counter[str] = Counter()
    unexplained: list[Cost] = []
    most = slowest = Cost(0.0, 0, 0, "", "")
    for number in Random(seed).sample(range(count), count) if shuffled else range(count):
        *arguments, made = corpus[number]
        verdicts: list[Verdict] = []
        for rule in sorted(RULES):
            start = process_time()
            try:
                verdict = score(rule, *arguments)
                wrong = fault(verdict)
            except Exception as error:  # whatever it is, the next input is still to be checked
                verdict, wrong = Verdict(None, False, type(error).__name__, 0), repr(error)
            cost = Cost(process_time() - start, verdict.operations, number, rule, made)
            if wrong:
                faults.append(f"seed {seed}, input {number}, {rule}: {wrong} on {arguments!r:.1000}")
            most, slowest = max(most, cost, key=lambda cost: cost.operations), max(slowest, cost)
            if cost.seconds > NOTICED:
                unexplained.append(cost)
                unexplained.sort(key=lambda cost: (1 + cost.operations) / cost.seconds)
                del unexplained[5:]
            reasons[verdict.reason] += 1
            verdicts.append(verdict)
        marks[str(number)] = hashlib.sha256(repr(verdicts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Findings(marks, faults, reasons, most, slowest, unexplained)


def child(seed: int, count: int, shuffled: bool, hash_seed: int) -> subprocess.Popen[str]:
    """A process that checks all inputs under one hash seed and prints its findings."""
    code = (
        "import json; from tests.scoring.fuzz import check; "
        f"print(json.dumps(check({seed}, {count}, {shuffled})))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )


def findings(process: subprocess.Popen[str]) -> Findings:
    """What a child found."""
    output, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"a child ended with status {process.returncode}")
    marks, faults, reasons, most, slowest, unexplained = json.loads(output)
    return Findings(
        marks, faults, reasons, Cost(*most), Cost(*slowest), [Cost(*cost) for cost in unexplained]
    )


def fuzz(seed: int, count: int) -> tuple[list[str], Findings]:
    """All faults, those of determinism included, and what the child with the inputs in order found."""
    children = child(seed, count, False, hash_seed=1), child(seed, count, True, hash_seed=2)
    ordered, shuffled = map(findings, children)
    faults = sorted({*ordered.faults, *shuffled.faults})
    for number, mark in ordered.marks.items():
        if mark != shuffled.marks[number]:
            faults.append(f"seed {seed}, input {number}: another verdict in another order and hash seed")
    return faults, ordered


def main() -> None:
    """Print what was found; end with status 1 when a verdict is at fault."""
    parser = argparse.ArgumentParser(description="fuzz the scorers")
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    faults, found = fuzz(arguments.seed, arguments.inputs)
    verdicts = sum(found.reasons.values())
    print(f"seed {arguments.seed}: {len(found.marks)} inputs, {verdicts} verdicts")
    for reason, times in sorted(found.reasons.items(), key=lambda item: -item[1]):
        print(f"{times / verdicts:8.3%} {reason}")
    print(f"most operations, of {MOST}: {found.most_operations}")
    print(f"slowest: {found.slowest}")
    for cost in found.unexplained:
        print(f"seconds that operations explain least: {cost}")
    print("\n".join(faults) or "no fault; the same verdicts in both orders and under both hash seeds")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
