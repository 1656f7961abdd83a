"""Predictions: one greedy completion per evaluation problem, saved once; scorers only read them (VII-D).

Evaluation problems are public, and so is all that is written here.
"""

import gzip
import json
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from promptdp.errors import InputError
from promptdp.files import atomic, canonical_json, sha256_bytes, sha256_file, write_json
from promptdp.policy.base import Base, load_base
from promptdp.policy.local import LocalEngine
from promptdp.policy.lora import WEIGHTS, load_adapter
from promptdp.policy.performance import ANY_MACHINE, Performance
from promptdp.records.record import Record, read_records

if TYPE_CHECKING:
    from promptdp.study import Study

SCHEMA = "promptdp/predictions/1"
VERSIONS = ("torch", "transformers", "peft")


def predict(
    study: "Study",
    evaluation_set: str,
    arm: str,
    seed: int,
    records: str | Path,
    base: str | Path,
    adapter: str | Path | None,
    out: str | Path,
    out_manifest: str | Path,
    performance: Performance = ANY_MACHINE,
) -> None:
    """Answer every problem of an evaluation set greedily with one arm's adapter, or with the base alone.

    Args:
        study: the experiment; prompt, cap and dtype come from it.
        evaluation_set: which of its evaluation sets.
        arm: the arm, named in the manifest.
        seed: the arm's seed, named in the manifest.
        records: the evaluation problems, JSON lines.
        base: the public base model's folder.
        adapter: the adapter's folder; None for the base.
        out: predictions, gzipped JSON lines {problem_id, response, tokens, capped} in the problems' order;
            equal predictions give equal bytes.
        out_manifest: what they were made with.
        performance: how to use the machine.

    Raises:
        InputError: an input is missing or malformed, or a problem doesn't fit the model's context.
    """
    torch.set_num_threads(1)
    spec = study.evaluation_sets[evaluation_set]
    model = load_base(base, study.dtype, performance.device)
    problems = read_records(records)
    prompts = _prompts(model, problems, study.benchmarks[spec.benchmark].prompt, spec.cap, records)
    engine = LocalEngine(model, "packed", performance.rows)
    engine.serve(None if adapter is None else load_adapter(model, adapter))
    completions = [group[0] for group in engine.generate(prompts, samples=1, temperature=0, cap=spec.cap)]
    _write_gzip(
        Path(out),
        (
            {
                "problem_id": problem.id,
                "response": model.text(ids),
                "tokens": len(ids),
                "capped": model.capped(ids),
            }
            for problem, ids in zip(problems, completions, strict=True)
        ),
    )
    write_json(
        out_manifest,
        {
            "schema": SCHEMA,
            "study": study.name,
            "evaluation_set": evaluation_set,
            "arm": arm,
            "seed": seed,
            "problems": len(problems),
            "engine": study.engine,
            "versions": {package: version(package) for package in VERSIONS},
            "dtype": study.dtype,
            "device": _device_name(model.model.device),
            "decoding": "greedy",
            "cap": spec.cap,
            "prompt_sha256": sha256_bytes(canonical_json(prompts).encode()),
            "base_sha256": model.sha256,
            "adapter_sha256": None if adapter is None else sha256_file(Path(adapter) / WEIGHTS),
            "predictions_sha256": sha256_file(out),
        },
    )


def _prompts(
    base: Base, problems: list[Record], template: str, cap: int, path: str | Path
) -> list[list[int]]:
    prompts = [base.prompt_ids(problem.question, template) for problem in problems]
    for number, prompt in enumerate(prompts, start=1):
        if not base.fits(prompt, cap):
            raise InputError(
                f"{path}:{number}: the problem takes {len(prompt)} tokens and the cap {cap}, more than the "
                f"model's {base.context}; lower the cap or leave the problem out"
            )
    return prompts


def _write_gzip(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    """JSON lines, compressed without a clock or a file name inside."""
    text = "".join(json.dumps(line, sort_keys=True, ensure_ascii=False) + "\n" for line in lines)
    with atomic(path) as temporary:
        temporary.write_bytes(gzip.compress(text.encode(), mtime=0))


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
