"""All checks on one study and its base, and the record of what they found."""

from collections.abc import Callable, Iterator
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
    seeds,
    sensitivity,
)
from promptdp.assurance.verification.binary64 import Binary64
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
    """The rows of every check, in the order of the page."""
    if not study.runs():
        raise InputError(f"{study.name}: trains nothing, so there is nothing to verify; add a trained arm")
    own = Subject(study, load_base(folder, study.dtype))
    mechanisms = accountant.study_mechanisms(study)
    yield from _in_binary64(study, folder)
    yield sensitivity.check_sensitivity(own, sensitivity.CLAIM.on("the study's own"))
    yield from coins.check_six_slots()
    yield coins.check_own_coins([noise.PAPERS, *mechanisms.values()])
    yield isolation.check_rewards(own)
    yield isolation.check_companies(own)
    yield isolation.check_strict(own)
    yield isolation.report_packed(own)
    yield groups.check_advantages()
    yield from groups.check_constant_groups(own)
    single = gradients.SINGLE_TOLERANCE if study.dtype == "float32" else None
    yield from gradients.check_chunks_by_norm(own, gradients.CHUNKED_OWN, gradients.FLIPS, single)
    yield gradients.check_fast(own, gradients.FAST, single)
    yield from accountant.check_accountant(study, mechanisms)
    yield from noise.check_noise(list(mechanisms.values()), own.tensor_sizes())
    yield from seeds.check_seeds()
    yield noise.check_engine()
    yield empty.check_empty_round(own, mechanisms.values())
    yield empty.check_divisor()
    for dtype in HALF_FORMATS:
        yield from _preflight(Subject(study, load_base(folder, dtype)), dtype)


def _in_binary64(study: Study, folder: str | Path) -> list[Row]:
    """What is claimed to a precision that float32 hides."""
    with Binary64():
        double = Subject(study, load_base(folder, "float64"))
        return [
            sensitivity.check_sensitivity(double, sensitivity.CLAIM, sensitivity.PAPERS_NORM),
            equivalence.check_equivalence(double),
            gradients.check_chunks(double),
            gradients.check_fast(double, gradients.FAST.on("binary64"), gradients.DOUBLE_TOLERANCE),
        ]


def _preflight(half: Subject, dtype: str) -> Iterator[Row]:
    """What holds in half precision too, and how large the rest is."""

    def on(claim: Claim) -> Claim:
        return claim.on(dtype, PREFLIGHT)

    yield sensitivity.check_sensitivity(half, on(sensitivity.CLAIM))
    yield isolation.check_rewards(half, on(isolation.PERTURBED))
    yield isolation.check_companies(half, on(isolation.COMPANIES))
    yield isolation.report_packed(half, on(isolation.PACKED))
    yield from groups.check_constant_groups(half, on(groups.GRADIENTS), on(groups.RETAINED))
    yield from gradients.check_chunks_by_norm(half, on(gradients.CHUNKED_OWN), on(gradients.FLIPS), None)
    yield gradients.check_fast(half, on(gradients.FAST), None)
