"""All checks on one study and its base, and the record of what they found."""

from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

import torch

from promptdp.assurance.verification import (
    accountant,
    coins,
    empty,
    equivalence,
    gradients,
    groups,
    isolation,
    noise,
    runs,
    seeds,
    sensitivity,
)
from promptdp.assurance.verification.binary64 import Binary64
from promptdp.assurance.verification.check import Check
from promptdp.assurance.verification.page import page
from promptdp.assurance.verification.row import Claim, Row
from promptdp.assurance.verification.subject import Subject
from promptdp.closure import code_digest
from promptdp.errors import InputError, PromptDPError
from promptdp.files import write_json, write_text
from promptdp.policy.base import load_base
from promptdp.study import Study
from promptdp.training import CODE

SCHEMA = "promptdp/verification/1"
VERSIONS = ("torch", "transformers", "peft", "numpy", "scipy", "cryptography", "dp-accounting", "opacus")
HALF_FORMATS = ("float16", "bfloat16")
PREFLIGHT = "Appendix B, separate fp16 preflight"


def verify(
    study: Study,
    base: str | Path,
    out: str | Path,
    out_page: str | Path,
    progress: Callable[[str], None] = lambda line: None,
) -> None:
    """Run every check, write the record and its page.

    Args:
        study: the experiment.
        base: its public base model's folder.
        out: the record, JSON.
        out_page: the same as a page, Markdown.
        progress: is given a line for every row.

    Raises:
        InputError: the study trains nothing, or the base is no model or has no room for public problems.
        PromptDPError: a row fails; record and page are written.
    """
    torch.set_num_threads(1)  # as training does
    rows = []
    for row in run_checks(study, base):
        rows.append(row)
        progress(f"{row.id}: {row.verdict}")
    failed = [
        f"{row.id} (measured {row.measured}, not {row.tolerance})" for row in rows if row.verdict == "fail"
    ]
    record = {
        "schema": SCHEMA,
        "study": study.name,
        "base_sha256": load_base(base, study.dtype).sha256,
        "code_sha256": code_digest(__name__),
        "training_code_sha256": code_digest(*CODE),
        "versions": {package: version(package) for package in VERSIONS},
        "passed": not failed,
        "rows": [row.as_json() for row in rows],
    }
    write_json(out, record)
    write_text(out_page, page(record))
    if failed:
        raise PromptDPError(f"{out}: failed: {', '.join(failed)}; {out_page} says what was claimed")


def run_checks(study: Study, folder: str | Path) -> Iterator[Row]:
    """The rows of every check, in the order of the page.

    Raises:
        InputError: as `verify`, before the first row.
    """
    if not study.runs():
        raise InputError(f"{study.name}: trains nothing, so there is nothing to verify; add a trained arm")
    own = Subject(study, load_base(folder, study.dtype))
    for benchmark in study.benchmarks:
        own.trial(benchmark)  # refuses a base without room for public problems
    for check in _checks(study, folder, own):
        yield from check.rows()


def _checks(study: Study, folder: str | Path, own: Subject) -> Iterator[Check]:
    """Every check. What may fail in production code, calibration for one, fails inside of them."""
    mechanisms = cache(lambda: accountant.study_mechanisms(study))
    single = gradients.SINGLE_TOLERANCE if study.dtype == "float32" else None
    yield from _in_binary64(study, folder)
    yield _one(
        sensitivity.CLAIM.on("the study's own"), lambda claim: sensitivity.check_sensitivity(own, claim)
    )
    yield Check((coins.FREQUENCY, coins.CORRELATION), coins.check_six_slots)
    yield _one(coins.OWN, lambda _: coins.check_own_coins([noise.PAPERS, *mechanisms().values()]))
    yield _one(isolation.PERTURBED, lambda claim: isolation.check_rewards(own, claim))
    yield _one(isolation.COMPANIES, lambda claim: isolation.check_companies(own, claim))
    yield _one(isolation.STRICT, lambda claim: isolation.check_strict(own, claim))
    yield _one(runs.SUM, lambda _: runs.check_sum(own, folder))
    yield _one(isolation.PACKED, lambda claim: isolation.report_packed(own, claim))
    yield _one(groups.ADVANTAGES, lambda _: groups.check_advantages())
    yield Check((groups.GRADIENTS, groups.RETAINED), lambda: groups.check_constant_groups(own))
    yield Check(
        (gradients.CHUNKED_OWN, gradients.FLIPS),
        lambda: gradients.check_chunks_by_norm(own, gradients.CHUNKED_OWN, gradients.FLIPS, single),
    )
    yield _one(gradients.FAST, lambda claim: gradients.check_fast(own, claim, single))
    yield Check(
        (accountant.EXTERNAL, accountant.BUDGETS, accountant.SECOND, accountant.RENYI),
        lambda: accountant.check_accountant(study, mechanisms()),
    )
    yield Check(
        (noise.FULL, noise.SCALE, noise.LAW, noise.POWER, noise.INDEPENDENCE, noise.REPEATS),
        lambda: noise.check_noise(list(mechanisms().values()), own.tensor_sizes()),
    )
    yield Check((seeds.REPEATED, seeds.MOVED), seeds.check_seeds)
    yield _one(noise.ENGINE, lambda _: noise.check_engine())
    yield Check((runs.NOISE, runs.SCALE, runs.LEDGER), lambda: runs.check_runs(own, folder))
    yield _one(empty.EMPTY, lambda _: empty.check_empty_round(own, mechanisms().values()))
    yield _one(empty.DIVISOR, lambda _: empty.check_divisor())
    for dtype in HALF_FORMATS:
        yield from _preflight(study, folder, dtype)


def _in_binary64(study: Study, folder: str | Path) -> Iterator[Check]:
    """What is claimed to a precision that float32 hides."""
    double = cache(lambda: Subject(study, load_base(folder, "float64")))

    def wide(claim: Claim, check: Callable[[], Row]) -> Check:
        def measure() -> list[Row]:
            with Binary64():
                return [check()]

        return Check((claim,), measure)

    fast = gradients.FAST.on("binary64")
    norm, tolerance = sensitivity.PAPERS_NORM, gradients.DOUBLE_TOLERANCE
    yield wide(sensitivity.CLAIM, lambda: sensitivity.check_sensitivity(double(), sensitivity.CLAIM, norm))
    yield wide(equivalence.CLAIM, lambda: equivalence.check_equivalence(double()))
    yield wide(gradients.CHUNKED, lambda: gradients.check_chunks(double()))
    yield wide(fast, lambda: gradients.check_fast(double(), fast, tolerance))


def _preflight(study: Study, folder: str | Path, dtype: str) -> Iterator[Check]:
    """What holds in half precision too, and how large the rest is."""
    half = cache(lambda: Subject(study, load_base(folder, dtype)))

    def on(claim: Claim) -> Claim:
        return claim.on(dtype, PREFLIGHT)

    yield _one(on(sensitivity.CLAIM), lambda claim: sensitivity.check_sensitivity(half(), claim))
    yield _one(on(isolation.PERTURBED), lambda claim: isolation.check_rewards(half(), claim))
    yield _one(on(isolation.COMPANIES), lambda claim: isolation.check_companies(half(), claim))
    yield _one(on(isolation.PACKED), lambda claim: isolation.report_packed(half(), claim))
    pair = on(groups.GRADIENTS), on(groups.RETAINED)
    yield Check(pair, lambda: groups.check_constant_groups(half(), *pair))
    chunks = on(gradients.CHUNKED_OWN), on(gradients.FLIPS)
    yield Check(chunks, lambda: gradients.check_chunks_by_norm(half(), *chunks, None))
    yield _one(on(gradients.FAST), lambda claim: gradients.check_fast(half(), claim, None))


def _one(claim: Claim, measure: Callable[[Claim], Row]) -> Check:
    return Check((claim,), lambda: [measure(claim)])
