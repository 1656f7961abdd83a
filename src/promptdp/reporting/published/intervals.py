"""Intervals, minimum detectable effects, seed intervals and p-values, from what is printed beside them."""

import math
from collections.abc import Iterator
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from promptdp.reporting.published.counts import (
    BASE,
    CONTROL,
    FILTERED,
    GOLD,
    METHOD,
    problems,
    seed_counts,
)
from promptdp.reporting.published.finding import Finding, judge, judge_that
from promptdp.reporting.published.printed import Span, exact, mean, middle
from promptdp.reporting.published.values import Published, Value
from promptdp.statistics.contrast import DETECTABLE, contrast
from promptdp.statistics.scores import Scores

NORMAL = NormalDist()
HALF_WIDTH = NORMAL.inv_cdf(0.975)  # of a 95% interval, in standard errors
OFF_CENTRE = 0.04
"""How far an interval's middle may lie from its point, in standard errors, beyond rounding and half a
problem: 0.03 is five standard deviations of the paper's 100,000 draws, the rest skewness."""


def check_intervals(published: Published) -> Iterator[Finding]:
    """Every check of an interval, an effect, a spread or a p-value."""
    for value in published:
        ends = interval_of(published, value)
        if ends is None:
            continue
        yield from _centred(published, value, *ends)
        effect = published.get(value.table, value.row, "MDE")
        if effect is not None:
            yield judge("(z.975 + z.80) SE of the interval", effect, detectable(*(end.span for end in ends)))
    for benchmark in ("MATH", "GSM8K"):
        yield from _spread(published, benchmark, seed_counts(published, benchmark, CONTROL), "VIII-A")
        for arm in (CONTROL, FILTERED, GOLD):
            yield _mcnemar(published, benchmark, arm)
    yield from _spread(published, "SVAMP", _transfer_counts(published), "D-D")
    yield from _bounds(published)


def interval_of(published: Published, value: Value) -> tuple[Value, Value] | None:
    """The ends of the interval that is printed with a difference."""
    low = published.get(value.table, value.row, f"{value.column} low")
    high = published.get(value.table, value.row, f"{value.column} high")
    return (low, high) if low is not None and high is not None else None


def detectable(low: Span, high: Span) -> Span:
    """The minimum detectable effect of an interval, within the rounding of its ends."""
    return _standard_error(low, high) * DETECTABLE


def _standard_error(low: Span, high: Span) -> Span:
    return (high - low) / 2 / HALF_WIDTH


def _centred(published: Published, value: Value, low: Value, high: Value) -> Iterator[Finding]:
    """The percentile interval of a mean of thousands is symmetric but for its steps, its draws and its skew.

    Each end is held to the mirror image of the other, and the point to the middle of both.
    """
    n = problems(published, "SVAMP" if value.table == "13" else f"{value.row} {value.column}")
    slack = exact(OFF_CENTRE) * _standard_error(low.span, high.span).high + Fraction(100, 2 * n)
    yield judge("the middle of its interval", value, mean((low.span, high.span)).widened(slack))
    for end, other in ((low, high), (high, low)):
        mirrored = value.span * 2 - other.span
        yield judge("the other end, mirrored at the point", end, mirrored.widened(2 * slack))


def _spread(published: Published, benchmark: str, counts: list[int], place: str) -> Iterator[Finding]:
    """The seed sd and t interval by our own contrast of arms that differ by these counts."""
    found = contrast(*_arms(counts, problems(published, benchmark)))
    row = f"{benchmark}: {METHOD} − {BASE if benchmark == 'SVAMP' else CONTROL}"
    low, high = found["seed_t_ci95_pp"]
    for column, ours in (("Seed sd", found["seed_sd_pp"]), ("Seed t low", low), ("Seed t high", high)):
        value = published.get(place, row, column)
        if value is not None:
            yield judge("from the counts of the seeds", value, ours)
    multiple = published.get(place, row, "effect over seed sd, whole part")
    if multiple is not None:
        ratio = found["difference_pp"] / found["seed_sd_pp"]
        yield judge("whole part of effect over sd", multiple, math.floor(ratio))


def _arms(counts: list[int], total: int) -> tuple[Scores, Scores]:
    """Two arms of which the first answers `counts` problems more, by seed."""

    def scores(correct: int) -> dict[str, int]:
        return {str(problem): int(problem < correct) for problem in range(total)}

    seeds = range(1, len(counts) + 1)
    first = {seed: scores(max(count, 0)) for seed, count in zip(seeds, counts, strict=True)}
    return first, {seed: scores(max(-count, 0)) for seed, count in zip(seeds, counts, strict=True)}


def _transfer_counts(published: Published) -> list[int]:
    base = published["13", BASE, "Mean"]
    gains = [published.span("13", METHOD, f"Seeds {seed}") - base.span for seed in range(1, 5)]
    return [round(float(middle(gain)) * problems(published, "SVAMP") / 100) for gain in gains]


def _mcnemar(published: Published, benchmark: str, arm: str) -> Finding:
    """Wins and losses of one seed exist that give the printed p, adjusted by one of Holm's multipliers."""
    from scipy.stats import binom

    value = published["11", f"{benchmark}: {METHOD} − {arm}", "Holm p, largest"]
    counts = seed_counts(published, benchmark, arm)
    candidates: list[float] = []
    for net in counts:
        losses = np.arange((problems(published, benchmark) - net) // 2 + 1)
        p = np.minimum(1.0, 2 * binom.cdf(losses, 2 * losses + net, 0.5))
        adjusted = np.outer(np.arange(1, len(counts) + 1), p).ravel()
        candidates.append(float(adjusted[np.argmin(abs(adjusted - float(middle(value.span))))]))
    return judge("a table of wins and losses", value, *candidates)


def _bounds(published: Published) -> Iterator[Finding]:
    """Bounds on p-values, by the normal approximation: they hold by orders of magnitude or not at all."""
    family = published.span("VII-E", "Final-answer rescore", "tests in the family").high
    for value in published:
        if " p below" not in value.column:
            continue
        difference = published[value.table, value.row, "Difference"]
        ends = interval_of(published, difference)
        assert ends is not None, "every bounded contrast is printed with its interval"
        error = _standard_error(*(end.span for end in ends)).high
        tests = family if value.column.startswith("Holm") else 1
        p = float(tests) * 2 * NORMAL.cdf(-float(abs(middle(difference.span)) / error))
        yield judge_that("p by the interval's SE, normal", value, p < value.span.low, f"{p:.1e}")
