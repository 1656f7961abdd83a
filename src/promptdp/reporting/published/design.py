"""Numbers of the design and of the runs that follow from others: rates, sizes, noise, replays, Appendix B."""

import math
from collections.abc import Iterator
from fractions import Fraction

from promptdp.reporting.published.counts import METHOD
from promptdp.reporting.published.finding import Derived, Finding, judge
from promptdp.reporting.published.printed import point
from promptdp.reporting.published.values import Published

LAYERS, HIDDEN, KEYS, INNER = 28, 1536, 256, 8960
"""Sizes of Qwen2.5-1.5B: layers, hidden state, keys and values, MLP."""
ADAPTED = {
    "q_proj": HIDDEN + HIDDEN,
    "k_proj": HIDDEN + KEYS,
    "v_proj": HIDDEN + KEYS,
    "o_proj": HIDDEN + HIDDEN,
    "gate_proj": HIDDEN + INNER,
    "up_proj": HIDDEN + INNER,
    "down_proj": INNER + HIDDEN,
}
"""Inputs and outputs together of each adapted matrix of a layer."""


def check_design(published: Published) -> Iterator[Finding]:
    """Every check of a number of the design."""
    for derive in (_settings, _sizes, _noise, _resumed, _appendix_b):
        for key, check, ours in derive(published):
            yield judge(check, published[key], ours)


def _settings(published: Published) -> Iterator[Derived]:
    """Section VII-A and Appendix C-B: rates, deltas, clipping norms."""
    p = published.span
    expected = p("1", "Expected prompts per round qn", "all")
    for benchmark in ("MATH", "GSM8K", "CSQA"):
        n, rounds = p("1", "Training prompts n", benchmark), p("1", "Rounds T", benchmark)
        yield ("1", "Expected passes qT", benchmark), "q T = m T over n", expected * rounds / n
        yield ("C-B", benchmark, "δ"), "one over 10 n", point(1) / (n * 10)
    yield ("1", "δ times n", "all"), "δ n", p("C-B", "MATH", "δ") * p("1", "Training prompts n", "MATH")
    norm = p("C-B", METHOD, "clipping norm C")
    yield ("1", "Clipping norm C", METHOD), "rounded in Table I", norm
    yield ("1", "Clipping norm C", "Zero-adv. control"), "rounded in Table I", norm
    yield ("C-B", "Clipping sweep", "half C"), "half of C", norm / 2
    yield ("C-B", "Clipping sweep", "double C"), "twice C", norm * 2
    sweep = p("VII-B", "Budget sweep", "largest ε") / p("VII-B", "Budget sweep", "smallest ε")
    yield ("Abstract", "Budget: ε=1", "times tighter"), "the ratio of the sweep's ends", sweep
    samples, few = (
        p("VII-B", "Allocation", f"rollouts of the {arms}") for arms in ("reference", "alternatives")
    )
    wide = p("VII-B", "Allocation", "prompts of the coverage arm")
    yield ("D-C", "Allocation", "expected rollouts"), "8 × 128", samples * expected
    yield ("D-C", "Allocation", "expected rollouts"), "2 × 512", few * wide
    yield ("VII-B", "Allocation", "prompts of the coverage arm"), "as many rollouts", samples * expected / few


def _sizes(published: Published) -> Iterator[Derived]:
    """Appendix C-A: LoRA on every projection of every layer."""
    rank = published.span("C-A", "LoRA", "rank")
    yield ("C-A", "LoRA", "projection matrices"), "q, k, v, o, gate, up, down", len(ADAPTED)
    yield ("C-A", "LoRA", "tensors"), "two for each matrix of each layer", 2 * len(ADAPTED) * LAYERS
    coordinates = rank * sum(ADAPTED.values()) * LAYERS
    yield ("C-A", "LoRA", "coordinates p"), "rank × (inputs + outputs)", coordinates


def _noise(published: Published) -> Iterator[Derived]:
    """Appendix C-A: the expected norm of the noise, and how often it holds the largest clipped signal."""
    p = published.span
    root = math.sqrt(p("C-A", "LoRA", "coordinates p").low)
    expected = p("1", "Expected prompts per round qn", "all")
    sigma = {"MATH": p("7", "MATH, reference", "σ"), "GSM8K": p("7", "GSM8K and CSQA, all arms", "σ")}
    multiples = {name: of * root / expected for name, of in sigma.items()}
    for name, multiple in multiples.items():
        norm = multiple * p("C-B", METHOD, "clipping norm C")
        yield ("C-A", name, "expected noise norm"), "σ C √p over qn", norm
    ends = [float(multiple.low) for multiple in multiples.values()]
    times = "Noise over the largest signal"
    yield ("C-A", times, "from"), "σ √p over qn, rounded down", math.floor(min(ends))
    yield ("C-A", times, "to"), "σ √p over qn, rounded up", math.ceil(max(ends))
    doubled = p("7", "MATH, ε=1 (bf16)", "σ") / sigma["MATH"]
    yield ("VIII-F", "Budget: ε=1", "noise multiplier over the reference"), "the ratio of both σ", doubled


def _resumed(published: Published) -> Iterator[Derived]:
    """Appendix C-E: replayed updates."""
    p = published.span
    for row, kept in (("High-C seed 2", "compositions"), ("100-update DP-SFT seed 1", "updates")):
        checkpoint, last = p("C-E", row, "checkpoint"), p("8", row, "last replayed update")
        updates, computed = p("C-E", row, kept), p("C-E", row, "optimizer computations")
        yield ("8", row, "first replayed update"), "after the checkpoint", checkpoint + point(1)
        yield ("8", row, "last replayed update"), "from the computations", checkpoint + computed - updates
        yield ("C-E", row, "optimizer computations"), "updates and replayed ones", updates + last - checkpoint
    resumed = p("C-E", "CSQA seeds 1–2", "paused runs") + point(2)
    yield ("C-E", "Resumed trajectories", "runs"), "those that paused, and two that replayed", resumed


def _appendix_b(published: Published) -> Iterator[Derived]:
    """Appendix B: machine precision, chunks, canaries."""
    p = published.span
    yield ("B", "Sensitivity", "excess over one"), "one unit of binary64 above one", Fraction(1, 2**52)
    yield ("B", "fp16 preflight", "excess over one"), "one unit of binary32 above one", Fraction(1, 2**23)
    trials = p("B", "Sensitivity", "random additions") + point(1)
    yield ("B", "Sensitivity", "trials"), "random ones and one adversarial", trials
    chunks = p("B", "Chunked backward", "chunks") * p("B", "Chunked backward", "chunk size")
    yield ("B", "Chunked backward", "rollouts"), "chunks × their size", chunks
    both = p("B", "Canary", "present") + p("B", "Canary", "null")
    yield ("B", "Canary", "canaries"), "present and null", both
    n, rounds = p("B", "Canary", "slots"), p("B", "Canary", "updates")
    q = p("1", "Expected prompts per round qn", "all") / n
    yield ("B", "Canary", "expected draws"), "q T", q * rounds
    yield ("B", "Canary", "probability of no draw"), "(1 − q)^T", float(1 - q.low) ** int(rounds.low)
