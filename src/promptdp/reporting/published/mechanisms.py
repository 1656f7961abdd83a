"""Budgets and noise multipliers (Tables I, VI, VII, Appendix B), by our own accountant and calibration."""

import math
from collections.abc import Iterator
from functools import cache

from promptdp.privacy.accounting import epsilon_pld, epsilon_rdp
from promptdp.privacy.search import paper_bisection
from promptdp.reporting.published.finding import Finding, judge
from promptdp.reporting.published.printed import middle
from promptdp.reporting.published.values import Published

CONFIGURATIONS = {
    "MATH, ε=1 arm": "MATH, ε=1 (bf16)",
    "MATH, ε=4.23 arm": "MATH, ε=4.23 (bf16)",
    "MATH, reference": "MATH, reference",
    "MATH, DP-SFT T=100": "MATH, DP-SFT, 100 updates",
    "MATH, coverage": "MATH, coverage (G=2)",
    "MATH, hist. rank-4": "MATH, canary (bf16)",
    "GSM8K, CSQA": "GSM8K and CSQA, all arms",
}
"""The rows of Table VI and theirs in Table VII."""
OF_BENCHMARK = {"MATH": "MATH, reference", "GSM8K": "GSM8K, CSQA", "CSQA": "GSM8K, CSQA"}
TARGETS = {
    "MATH, reference": 8.0,
    "MATH, ε=1 arm": 1.0,
    "MATH, coverage": 8.0,
    "MATH, DP-SFT T=100": 8.0,
    "GSM8K, CSQA": 8.0,
}
"""The rows whose noise was searched for; the other two take a noise multiplier from an earlier study."""
HALVINGS = 30
ENDED_EARLY = {"MATH, coverage": 20}
"""The row whose digits are those of a search that ended sooner."""

pld = cache(epsilon_pld)


def check_mechanisms(published: Published) -> Iterator[Finding]:
    """Every check of a budget or of a mechanism's parameters. Takes the accountant half a minute."""
    for row, full in CONFIGURATIONS.items():
        yield from _configuration(published, row, full)
    for benchmark, row in OF_BENCHMARK.items():
        full = CONFIGURATIONS[row]
        for key, column in (("Training prompts n", "n"), ("Rounds T", "T"), ("Noise multiplier σ", "σ")):
            yield judge("Table VII", published["1", key, benchmark], published.span("7", full, column))
    expected = published.span("7", "MATH, reference", "m")
    yield judge("Table VII", published["1", "Expected prompts per round qn", "all"], expected)
    yield _decimals(published)
    for row, target in TARGETS.items():
        yield from _calibrated(published, row, target)
    yield from _reference(published)


def _parameters(published: Published, full: str) -> tuple[int, int, int, float, float]:
    """n, m, T, sigma and delta of a row of Table VII."""
    n, m, rounds = (int(published.span("7", full, column).low) for column in ("n", "m", "T"))
    return n, m, rounds, float(published["7", full, "σ"].text), 1 / (10 * n)


def _configuration(published: Published, row: str, full: str) -> Iterator[Finding]:
    for column in ("n", "m", "T"):
        yield judge("Table VII", published["6", row, column], published.span("7", full, column))
        yield judge("Table VI", published["7", full, column], published.span("6", row, column))
    yield judge("Table VII, rounded", published["6", row, "σ"], published.span("7", full, "σ"))
    yield judge("Table VI, in full", published["7", full, "σ"], published.span("6", row, "σ"))
    parameters = _parameters(published, full)
    epsilon, order = epsilon_rdp(*parameters)
    yield judge("our accountant at full precision", published["6", row, "PLD"], pld(*parameters))
    yield judge("Renyi accounting at full precision", published["6", row, "RDP"], epsilon)
    yield judge("Renyi accounting at full precision", published["6", row, "RDP order"], order)


def _decimals(published: Published) -> Finding:
    """To how many decimals the accountant returns every target of the paper, at least."""
    targets = {**TARGETS, "MATH, ε=4.23 arm": float(published["VII-B", "Budget sweep", "middle ε"].text)}
    away = max(abs(pld(*_parameters(published, CONFIGURATIONS[row])) - to) for row, to in targets.items())
    value = published["VI-C", "Every configuration", "decimals to which the target is returned"]
    return judge("the worst of our accountant's values", value, math.floor(-math.log10(2 * away)))


def _calibrated(published: Published, row: str, target: float) -> Iterator[Finding]:
    """Table VII's noise multiplier, by the search of `calibrate --method paper-bisection`.

    The accountant is monotone in the noise, so that it needn't be asked where its answer follows from an
    earlier one; asking first at the printed value, and one step of the search below, leaves little to ask.
    """
    full = CONFIGURATIONS[row]
    n, m, rounds, sigma, delta = _parameters(published, full)
    least_met, most_exceeding = math.inf, 0.0

    def spent(noise_multiplier: float, coarsening: float = 1) -> float:
        nonlocal least_met, most_exceeding
        if noise_multiplier >= least_met:
            return 0.0
        if noise_multiplier <= most_exceeding:
            return math.inf
        epsilon = pld(n, m, rounds, noise_multiplier, delta)
        if epsilon <= target:
            least_met = noise_multiplier
        else:
            most_exceeding = noise_multiplier
        return epsilon

    spent(sigma)
    for halvings in sorted({ENDED_EARLY.get(row, HALVINGS), HALVINGS}):
        spent(sigma - (1 if sigma > 1 else 0.95) / 2**halvings)
        found = paper_bisection(spent, target, halvings)
        yield judge(f"our bisection in {halvings} halvings", published["7", full, "σ"], found)


def _reference(published: Published) -> Iterator[Finding]:
    """Appendix B: the configuration that JAX-Privacy publishes a value for."""
    q, sigma, steps, delta = (
        middle(published.span("B", "External accountant", column))
        for column in ("q", "noise multiplier", "steps", "δ")
    )
    parameters = (q.denominator, q.numerator, int(steps), float(sigma), float(delta))
    epsilon = pld(*parameters)
    renyi, order = epsilon_rdp(*parameters)
    theirs = middle(published.span("B", "External accountant", "published ε"))
    for column, check, ours in (
        ("PLD ε", "our accountant", epsilon),
        ("published ε", "our accountant", epsilon),
        ("absolute difference", "our accountant", abs(epsilon - float(theirs))),
        ("RDP ε", "Renyi accounting", renyi),
        ("RDP order", "Renyi accounting", order),
    ):
        yield judge(check, published["B", "External accountant", column], ours)
