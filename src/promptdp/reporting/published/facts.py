"""Numbers of the results that follow from others: those printed twice, counts, shares and bounds."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from promptdp.reporting.published.counts import (
    BASE,
    CONTROL,
    ENDPOINTS,
    FILTERED,
    GOLD,
    METHOD,
    NONPRIVATE,
    arm_counts,
    nearest_counts,
    problems,
)
from promptdp.reporting.published.finding import Derived, Finding, judge, judge_that
from promptdp.reporting.published.printed import Span
from promptdp.reporting.published.values import Key, Published


def check_facts(published: Published) -> Iterator[Finding]:
    """Every check of a number that is printed twice, or follows from others by arithmetic."""
    yield from _repeats(published)
    for derive in (_counts, _shares):
        for key, check, ours in derive(published):
            yield judge(check, published[key], ours)
    yield from _counts_of_the_text(published)
    yield from _relations(published)


def _repeats(published: Published) -> Iterator[Finding]:
    for value in published:
        if value.original is not None:
            key, turned = value.original
            there = published[key]
            check = f"as in {there.source}" + (", sign turned" if turned else "")
            agrees = value.span.overlaps(-there.span if turned else there.span)
            yield judge_that(check, value, agrees, there.text)


def _counts(published: Published) -> Iterator[Derived]:
    """Appendices C-C, D-D, E-B: what sets, families and answers add up to."""
    p = published.span
    kept = p("C-C", "MATH", "test problems") - p("C-C", "MATH", "duplicated problems")
    unselected = kept - p("C-C", "MATH", "problems of MATH-500")
    yield ("C-C", "MATH", "saved predictions"), "all but the duplicated", kept
    yield ("1", "Evaluation set", "MATH"), "all but the duplicated and MATH-500", unselected
    n = problems(published, "MATH")
    fp16, bf16 = (p("C-C", f"MATH: Public base ({dtype})", "correct") for dtype in ("fp16", "bf16"))
    yield ("C-C", "MATH: Public base (fp16)", "Accuracy"), "its correct answers", fp16 * 100 / n
    yield ("C-C", "MATH: Public base (bf16)", "Accuracy"), "its correct answers", bf16 * 100 / n
    yield ("C-C", "MATH: Public base (fp16)", "correct"), "Table III", p("3", BASE, "Strict") * n / 100
    own = p("3", NONPRIVATE, "Strict") - p("3", NONPRIVATE, "Strict difference")
    yield ("C-C", "MATH: Public base (bf16)", "correct"), "Table III, accuracy less gain", own * n / 100
    scored = p("C-C", "Final-answer rescore", "comparators") * p("C-C", "Final-answer rescore", "scorings")
    yield ("VII-E", "Final-answer rescore", "tests in the family"), "comparators × scorings", scored
    shown = sum(value.table == "13" and value.column == "DP-GRPO − arm" for value in published)
    yield ("D-D", "SVAMP", "contrasts in the family"), "those of Table XIII and two references", shown + 2
    paired = p("9", f"MATH: {FILTERED}", "Seeds") * 4
    yield ("VIII-B", "Supervised contrasts", "seed-paired"), "two seeds × two arms × two benchmarks", paired
    n = problems(published, "CSQA")
    base = ("E-B", "CSQA final answer: Public base")
    correct, abstained, credited = (
        p(*base, column) for column in ("correct", "abstentions", "correct with abstentions credited")
    )
    yield (*base, "correct"), "Table V", p("5", BASE, "Final answer") * n / 100
    yield (*base, "abstentions"), "836 − 815", credited - correct
    yield (*base, "correct with abstentions credited"), "815 + 21", correct + abstained
    gap = (p("E-B", "CSQA final answer: DP-GRPO", "correct") - credited) * 100 / n
    contrast = "CSQA final answer: DP-GRPO − Public base with abstentions credited"
    yield ("E-B", contrast, "Difference"), "(872.5 − 836) over 1,221", gap
    for benchmark, arm in product(("MATH", "GSM8K"), (CONTROL, FILTERED, GOLD, METHOD)):
        row = f"{benchmark} strict: {arm}"
        of_arm = sum(one.key[:2] == ("10", row) and one.column.startswith("Seeds") for one in published)
        yield ("9", f"{benchmark}: {arm}", "Seeds"), "the seeds of Table X", of_arm


def _shares(published: Published) -> Iterator[Derived]:
    """Sections I, VIII-E, VIII-F, D-C, D-D: retained gains, smallest and largest gains, times."""
    p = published.span
    for benchmark, endpoint in (("MATH", "MATH"), ("GSM8K", "GSM8K"), ("CSQA", "CSQA final answer")):
        table, column = ENDPOINTS[endpoint]
        ours, theirs = (p(table, arm, f"{column} difference") for arm in (METHOD, NONPRIVATE))
        yield ("VIII-E", benchmark, "retained gain"), "DP-GRPO's gain over the other", ours * 100 / theirs
    gains = [p("2", arm, benchmark) for arm, benchmark in product((FILTERED, GOLD), ("MATH", "GSM8K"))]
    for name, extreme in (("smallest", min), ("largest", max)):
        end = Span(extreme(one.low for one in gains), extreme(one.high for one in gains))
        for place in ("Abstract", "I", "VIII-B"):
            yield (place, "Supervised contrasts", name), f"the {name} of Table II", end
    yield from _hours(published)
    gsm8k, svamp = p("4", METHOD, "Accuracy difference"), p("13", BASE, "DP-GRPO − arm")
    yield ("D-D", "SVAMP: share of GSM8K's gain", "one over"), "the ratio of both gains", gsm8k / svamp
    for endpoint in ("strict", "final answer"):
        price = p("VIII-E", f"CSQA {endpoint}: Non-private GRPO − DP-GRPO", "Difference")
        yield ("D-B", "CSQA: Non-private GRPO − DP-GRPO", "about"), f"Section VIII-E, {endpoint}", price


def _hours(published: Published) -> Iterator[Derived]:
    """Appendix D-C: the hours of both settings, each from one to another, and their ratio."""

    def places(arms: str) -> list[Key]:
        return [("D-C", "Training time", f"{arms}, {end}") for end in ("from", "to")]

    usual, short = (
        Span(published.span(*least).low, published.span(*most).high)
        for least, most in (places("reference"), places("two rollouts"))
    )
    ratio = published.span("D-C", "Two rollouts", "times faster")
    yield ("D-C", "Two rollouts", "times faster"), "the ratio of hours", usual / short
    for place in places("reference"):
        yield place, "the other hours times the ratio", short * ratio
    for place in places("two rollouts"):
        yield place, "the other hours over the ratio", usual / ratio


def _counts_of_the_text(published: Published) -> Iterator[Finding]:
    """Percentages of known sets, and counts behind percentages."""
    total = int(published.span("C-C", "MATH", "problems of MATH-500").low)
    for value in published:
        if value.table == "C-D" and value.column.startswith("MATH-500 accuracy"):
            yield judge("a whole number of answers", value, *nearest_counts(value.span, total))
    halves = [Fraction(count, 2) for count in arm_counts(published, "CSQA final answer", METHOD)]
    yield judge("Table V", published["E-B", "CSQA final answer: DP-GRPO", "correct"], *halves)


def _relations(published: Published) -> Iterator[Finding]:
    """Bounds that other printed numbers must keep."""
    p = published.span

    def bound(place: Key, found: list[Span]) -> Finding:
        largest, value = max(one.low for one in found), published[place]
        holds = largest <= value.span.high
        return judge_that("the largest is at most this", value, holds, f"{float(largest):.6g}")

    passes = [p("1", "Expected passes qT", benchmark) for benchmark in ("MATH", "GSM8K", "CSQA")]
    yield bound(("VII-A", "All benchmarks", "expected passes below"), passes)
    base = p("C-D", "Pilots: Public base", "MATH-500 accuracy")
    pilots = [value.span for value in published if value.row in (f"Pilots: {FILTERED}", f"Pilots: {GOLD}")]
    yield bound(("C-D", "Pilots", "largest gain over the base at most"), [one - base for one in pilots])
    for what in ("frequency error", "correlation"):
        largest = p("B", "Poisson sampling", f"largest {what}")
        yield bound(("B", "Poisson sampling", f"tolerance of the {what}"), [largest])
    for key, at_least in _ordered():
        value, other = published[key], published[at_least]
        holds = value.span.high >= other.span.low
        yield judge_that("at least another value", value, holds, f"at least {other.text}")
        yield judge_that("at most another value", other, holds, f"at most {value.text}")


def _ordered() -> list[tuple[Key, Key]]:
    """Pairs of which the first is said to be no less than the second."""
    run, reported = "Non-private MATH run", ("3", NONPRIVATE, "Strict")
    return [
        (("VIII-C", f"MATH: {METHOD}", "mean response"), ("VIII-C", f"MATH: {BASE}", "mean response")),
        (("IX", run, "largest accuracy"), reported),
        (reported, ("IX", run, "smallest accuracy")),
    ]
