"""The counts of correct answers behind printed percentages.

An accuracy is a count over a known number of problems and seeds, so that a printed one leaves few counts.
"""

import math
from fractions import Fraction
from itertools import product

from promptdp.reporting.published.printed import Span, middle
from promptdp.reporting.published.values import Published, Value

BASE, CONTROL, FILTERED, GOLD = "Public base", "Zero-adv. control", "Filtered DP-SFT", "Gold DP-SFT"
METHOD, NONPRIVATE = "DP-GRPO", "Non-private GRPO"
ARMS = (CONTROL, FILTERED, GOLD, METHOD)
ENDPOINTS = {
    "MATH": ("3", "Strict"),
    "GSM8K": ("4", "Accuracy"),
    "MATH format-robust": ("3", "Format-robust"),
    "CSQA strict": ("5", "Strict"),
    "CSQA final answer": ("5", "Final answer"),
}
"""Where the accuracies under a scorer stand: table and column."""


def problems(published: Published, name: str) -> int:
    """How many problems the benchmark in a name is evaluated on."""
    if "SVAMP" in name:
        return int(published.span("VII-D", "SVAMP", "evaluation problems").low)
    benchmark = next((one for one in ("GSM8K", "CSQA") if one in name), "MATH")
    return int(published.span("1", "Evaluation set", benchmark).low)


def seeds(published: Published, endpoint: str, arm: str) -> int:
    """How many seeds an arm has; the base has none, and counts once."""
    benchmark = endpoint.split()[0]
    if arm == BASE:
        return 1
    if arm == NONPRIVATE and benchmark == "CSQA":
        arm = METHOD  # it keeps DP-GRPO's seeds (Section VIII-E)
    if arm == METHOD and benchmark == "CSQA":
        return int(published.span("9", "CSQA: DP-GRPO", "Seeds").low)
    return int(published.span("9", f"{benchmark}: {arm}", "Seeds").low)


def whole(span: Span, total: int, factor: int = 100) -> list[int]:
    """The counts whose share of a total, times a factor, lies in an interval."""
    low, high = span.low * total / factor, span.high * total / factor
    return list(range(math.ceil(low), math.floor(high) + 1))


def nearest_counts(span: Span, total: int) -> list[Fraction]:
    """The percentages of whole counts on both sides of an interval's middle."""
    below = math.floor((span.low + span.high) / 2 * total / 100)
    return [Fraction(100 * count, total) for count in (below, below + 1)]


def has_counts(value: Value, total: int) -> bool:
    """Whether a printed percentage may be no count's: the steps of counts are wider than its rounding."""
    return Fraction(100, total) > value.span.high - value.span.low


def arm_counts(published: Published, endpoint: str, arm: str) -> list[int]:
    """The numbers of correct answers over all seeds that an arm's printed accuracy leaves."""
    table, column = ENDPOINTS[endpoint]
    total = problems(published, endpoint) * seeds(published, endpoint, arm)
    return whole(published.span(table, arm, column), total)


def differences(published: Published, endpoint: str, arm: str, versus: str) -> list[Fraction]:
    """The differences of two arms that their printed accuracies leave, in points."""
    n = problems(published, endpoint)
    first, second = (n * seeds(published, endpoint, one) for one in (arm, versus))
    counts = product(arm_counts(published, endpoint, arm), arm_counts(published, endpoint, versus))
    return [Fraction(100 * a, first) - Fraction(100 * b, second) for a, b in counts]


def seed_values(published: Published, benchmark: str, arm: str) -> list[Value]:
    """The differences in Table XI of DP-GRPO and an arm, by seed."""
    row = f"{benchmark}: {METHOD} − {arm}"
    found = (published.get("11", row, f"Per-seed difference {seed}") for seed in range(1, 5))
    return [value for value in found if value is not None]


def seed_counts(published: Published, benchmark: str, arm: str) -> list[int]:
    """The net numbers of problems that DP-GRPO answers better, by seed, from Table XI's differences.

    One problem is more than the rounding of two decimals, so that each difference leaves one count or none;
    the nearest is taken, and whether it can be printed so is a check of its own.
    """
    n = problems(published, benchmark)
    return [round(float(middle(value.span) * n / 100)) for value in seed_values(published, benchmark, arm)]


def shared_counts(published: Published, benchmark: str, arm: str) -> list[int]:
    """The answers of DP-GRPO's seeds 1 and 2 together that one supervised arm's values leave."""
    net = sum(seed_counts(published, benchmark, arm))
    return [count + net for count in arm_counts(published, benchmark, arm)]
