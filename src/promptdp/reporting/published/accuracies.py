"""Accuracies and their differences (Tables II to V, X, XI, XIII, XIV): sums, means and counts of problems.

What is printed of two arms must follow from a pair of the counts that their printed accuracies leave.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from promptdp.reporting.published.counts import (
    ARMS,
    BASE,
    CONTROL,
    ENDPOINTS,
    FILTERED,
    GOLD,
    METHOD,
    NONPRIVATE,
    arm_counts,
    differences,
    has_counts,
    nearest_counts,
    problems,
    seed_counts,
    seed_values,
    seeds,
    shared_counts,
)
from promptdp.reporting.published.finding import Finding, judge
from promptdp.reporting.published.printed import mean, middle, point
from promptdp.reporting.published.values import Published, Value

PER_SEED = {
    "MATH strict": "MATH",
    "GSM8K strict": "GSM8K",
    "MATH format-robust": "MATH format-robust",
}
"""The groups of Table X and their endpoints."""


def check_accuracies(published: Published) -> Iterator[Finding]:
    """Every check of accuracies and differences."""
    for endpoint in ENDPOINTS:
        yield from _counts(published, endpoint)
        yield from _gains(published, endpoint)
    yield from _means_of_seeds(published)
    for benchmark, arm in product(("MATH", "GSM8K"), (CONTROL, FILTERED, GOLD)):
        yield from _contrast_of_seeds(published, benchmark, arm)
    for benchmark in ("MATH", "GSM8K"):
        yield from _same_seeds(published, benchmark)
    yield from _contrasts_of_the_text(published)
    yield from _transfer(published)
    yield from _decomposition(published)


def _counts(published: Published, endpoint: str) -> Iterator[Finding]:
    table, column = ENDPOINTS[endpoint]
    for arm in (BASE, *ARMS, NONPRIVATE):
        value = published.get(table, arm, column)
        if value is None or (arm == NONPRIVATE and table != "5"):  # Appendix C-A: of another base
            continue
        total = problems(published, endpoint) * seeds(published, endpoint, arm)
        if has_counts(value, total):
            yield judge("a whole number of answers", value, *nearest_counts(value.span, total))


def _gains(published: Published, endpoint: str) -> Iterator[Finding]:
    table, column = ENDPOINTS[endpoint]
    for arm in (*ARMS, NONPRIVATE):
        gain = published.get(table, arm, f"{column} difference")
        if gain is None or (arm == NONPRIVATE and table != "5"):
            continue
        base, accuracy = published[table, BASE, column], published[table, arm, column]
        ours = differences(published, endpoint, arm, BASE)
        yield judge("the arm's answers less the base's", gain, *ours)
        yield judge("the base's accuracy and the gain", accuracy, base.span + gain.span)
        if arm == METHOD:
            yield judge("DP-GRPO's accuracy less its gain", base, accuracy.span - gain.span)
    if endpoint == "MATH":  # the non-private run is measured over the base of its own precision
        own = published.span("C-C", "MATH: Public base (bf16)", "correct") * 100 / problems(published, "MATH")
        gain, accuracy = (published[table, NONPRIVATE, name] for name in (f"{column} difference", column))
        yield judge("accuracy less the bf16 base's", gain, accuracy.span - own)
        yield judge("the bf16 base's accuracy and the gain", accuracy, own + gain.span)


def _row_of_seeds(published: Published, table: str, row: str) -> list[Value]:
    found = (published.get(table, row, f"Seeds {seed}") for seed in range(1, 5))
    return [value for value in found if value is not None]


def _means_of_seeds(published: Published) -> Iterator[Finding]:
    for group, endpoint in PER_SEED.items():
        table, column = ENDPOINTS[endpoint]
        for arm in ARMS:
            row = _row_of_seeds(published, "10", f"{group}: {arm}")
            if not row:  # Table X has the supervised arms under the strict scorer only
                continue
            average = mean(value.span for value in row)
            yield judge("the mean of the seeds", published["10", f"{group}: {arm}", "Mean"], average)
            accuracy = published[table, arm, column]
            yield judge("the mean of Table X's seeds", accuracy, average)
            total = accuracy.span * seeds(published, endpoint, arm)
            for value in row:
                others = [other.span for other in row if other is not value]
                yield judge("the mean less the other seeds", value, total - sum(others[1:], others[0]))


def _contrast_of_seeds(published: Published, benchmark: str, arm: str) -> Iterator[Finding]:
    """DP-GRPO against an arm: by seed (Table XI), pooled (Table II), and by accuracy (Tables III, IV, X)."""
    n = problems(published, benchmark)
    counts = seed_counts(published, benchmark, arm)
    gain = published["2", arm, benchmark]
    for seed, (value, count) in enumerate(
        zip(seed_values(published, benchmark, arm), counts, strict=True), 1
    ):
        yield judge("a whole number of problems", value, Fraction(100 * count, n))
        ours, theirs = (
            published.span("10", f"{benchmark} strict: {one}", f"Seeds {seed}") for one in (METHOD, arm)
        )
        yield judge("the difference of Table X's seeds", value, ours - theirs)
    yield judge("the mean of Table XI's counts", gain, Fraction(100 * sum(counts), n * len(counts)))
    if len(counts) == seeds(published, benchmark, METHOD):
        yield judge(
            "the difference of the arms' answers", gain, *differences(published, benchmark, METHOD, arm)
        )
    else:
        shared = mean(
            published.span("10", f"{benchmark} strict: {METHOD}", f"Seeds {seed}")
            for seed in range(1, len(counts) + 1)
        )
        table, column = ENDPOINTS[benchmark]
        yield judge(
            "Table X's shared seeds less the arm's accuracy",
            gain,
            shared - published.span(table, arm, column),
        )


def _same_seeds(published: Published, benchmark: str) -> Iterator[Finding]:
    """Both supervised arms are compared with the same two seeds, so each gain gives the other."""
    total = 2 * problems(published, benchmark)
    for arm, other in ((FILTERED, GOLD), (GOLD, FILTERED)):
        candidates = [
            Fraction(100 * (ours - theirs), total)
            for ours in shared_counts(published, benchmark, other)
            for theirs in arm_counts(published, benchmark, arm)
        ]
        yield judge(f"the same seeds through {other}", published["2", arm, benchmark], *candidates)


def _contrasts_of_the_text(published: Published) -> Iterator[Finding]:
    def difference(place: str, endpoint: str, arm: str, versus: str) -> Finding:
        value = published[place, f"{endpoint}: {arm} − {versus}", "Difference"]
        return judge(
            "the difference of the arms' answers", value, *differences(published, endpoint, arm, versus)
        )

    yield difference("VIII-C", "MATH format-robust", METHOD, CONTROL)
    for arm in (CONTROL, FILTERED, GOLD):
        yield difference("VIII-D", "CSQA final answer", METHOD, arm)
    for endpoint in ("CSQA strict", "CSQA final answer"):
        yield difference("VIII-E", endpoint, NONPRIVATE, METHOD)
    robust = mean(published.span("10", f"MATH format-robust: {METHOD}", f"Seeds {seed}") for seed in (1, 2))
    for arm in (FILTERED, GOLD):
        value = published["VIII-C", f"MATH format-robust: {METHOD} − {arm}", "Difference"]
        accuracy = published.span("3", arm, "Format-robust")
        yield judge("Table X's shared seeds less the arm's accuracy", value, robust - accuracy)
    for change, arm in (
        ("SFT: LR 3·10^-4", "DP-SFT at DP-GRPO's LR"),
        ("SFT: 100 updates", "DP-SFT of 100 updates"),
    ):
        value = published["VIII-B", f"MATH: {METHOD} − {arm}", "Difference"]
        gain = Fraction(100 * sum(seed_counts(published, "MATH", FILTERED)), 2 * problems(published, "MATH"))
        yield judge(
            "the gain over filtered less the arm's change",
            value,
            point(gain) - published.span("12", change, "Change"),
        )
    n = problems(published, "GSM8K")
    yield judge(
        "the two seeds' answers less the base's",
        published["D-B", "GSM8K: DP-GRPO seeds 1–2 − Public base", "Difference"],
        *(
            Fraction(100 * ours, 2 * n) - Fraction(100 * base, n)
            for ours in shared_counts(published, "GSM8K", FILTERED)
            for base in arm_counts(published, "GSM8K", BASE)
        ),
    )
    unclipped = mean(published.span("D-B", "GSM8K: unclipped σ=0", f"Seeds {seed}") for seed in (1, 2))
    yield judge(
        "the mean of its seeds less the base",
        published["D-B", "GSM8K: unclipped σ=0 − Public base", "Difference"],
        unclipped - published.span("4", BASE, "Accuracy"),
    )


def _transfer(published: Published) -> Iterator[Finding]:
    """Table XIII: one problem in 1,000 is a tenth of a point, so that every seed is a count."""
    n = problems(published, "SVAMP")

    def counts(arm: str) -> list[int]:
        column = "Mean" if arm == BASE else "Seeds"
        values = [published["13", BASE, column]] if arm == BASE else _row_of_seeds(published, "13", arm)
        return [round(float(middle(value.span) * n / 100)) for value in values]

    ours = counts(METHOD)
    for arm in (BASE, *ARMS):
        average = Fraction(100 * sum(counts(arm)), n * len(counts(arm)))
        if arm != BASE:
            yield judge("the mean of the seeds", published["13", arm, "Mean"], average)
        if arm != METHOD:
            shared = ours[: len(counts(arm))] if arm in (FILTERED, GOLD) else ours
            method = Fraction(100 * sum(shared), n * len(shared))
            yield judge(
                "the shared seeds less the arm's", published["13", arm, "DP-GRPO − arm"], method - average
            )


def _decomposition(published: Published) -> Iterator[Finding]:
    """Table XIV: both groups make up all problems, and their contributions the gain."""
    parts = ("Boxed an answer", "No boxed answer")
    for column in ("Questions", "Strict", "Format-robust"):
        of_parts = [published.span("14", row, column) for row in parts]
        total = published["14", "All problems", column]
        yield judge("the sum of both groups", total, of_parts[0] + of_parts[1])
        for row, other in zip(parts, reversed(of_parts), strict=True):
            yield judge("the total less the other group", published["14", row, column], total.span - other)
    for column in ("Strict", "Format-robust"):
        gain = published.span("3", METHOD, f"{column} difference")
        yield judge("DP-GRPO's gain in Table III", published["14", "All problems", column], gain)
    yield judge(
        "the problems of Table I", published["14", "All problems", "Questions"], problems(published, "MATH")
    )
