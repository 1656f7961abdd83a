"""A small study with fabricated files, as the workflow would hand them to a table or a figure."""

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from promptdp.files import write_json
from promptdp.reporting.evidence import write_study_contrast
from promptdp.statistics.scores import METADATA_KEY
from promptdp.study import Study, load_study

BENCHMARK = {"slots": 874, "expected": 16, "rounds": 50, "epsilon": 8}
TRAINED = {"learning_rate": 1e-3, "clipping_norm": 0.06}
SETTINGS = {
    "name": "tiny",
    "title": "A fabricated study",
    "records": "public",
    "base": {"checkpoint": "somewhere"},
    "benchmarks": {
        "arithmetic": {"source": "arithmetic", "reward": "math_strict", "cap": 48, **BENCHMARK},
        "stories": {"source": "stories", "reward": "gsm8k", "cap": 32, **BENCHMARK},
    },
    "evaluation_sets": {
        "arithmetic": {
            "benchmark": "arithmetic",
            "problems": 400,
            "cap": 48,
            "scorers": {"strict": "math_strict", "robust": "math_robust"},
        },
        "stories": {"benchmark": "stories", "problems": 400, "cap": 32, "scorers": {"strict": "gsm8k"}},
    },
    "arms": {
        "base": {"label": "Public base", "objective": "none", "seeds": [0]},
        "control": {
            "label": "Zero-adv. control",
            "objective": "grpo",
            "advantage": "zero",
            "seeds": [1, 2, 3],
            **TRAINED,
        },
        "gold": {"label": "Gold DP-SFT", "objective": "gold", "seeds": [1, 2], **TRAINED},
        "dp_grpo": {"label": "DP-GRPO", "objective": "grpo", "seeds": [1, 2, 3], **TRAINED},
        "nonprivate": {
            "label": "Non-private GRPO",
            "objective": "grpo",
            "seeds": [1],
            "learning_rate": 1e-3,
            "noise_multiplier": 0,
            "benchmarks": ["arithmetic"],
        },
    },
    "contrasts": [
        {"arm": "dp_grpo", "versus": "control", "family": "reward"},
        {"arm": "dp_grpo", "versus": "gold", "family": "imitation"},
        {"arm": "dp_grpo", "versus": "base", "family": "base"},
        {"arm": "control", "versus": "base", "family": "base"},
        {"arm": "gold", "versus": "base", "family": "base"},
        {"arm": "nonprivate", "versus": "base", "family": "base"},
    ],
}
ABILITY = {"base": 0.5, "control": 0.5, "gold": 0.49, "dp_grpo": 0.58, "nonprivate": 0.66}
ABILITY |= {"eps4": 0.57, "eps1": 0.55, "wide": 0.56, "noiseless": 0.6}
MANIFEST = {
    "engine": "local",
    "versions": {},
    "dtype": "float32",
    "device": "cpu",
    "prompt_sha256": "aa",
    "cap": 48,
}


def study(folder: Path, **changes) -> Study:
    """The study, with some of its settings changed."""
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump(SETTINGS | changes, sort_keys=False))
    return load_study(path)


def write_scores(study: Study, folder: Path) -> list[Path]:
    """Scores of every evaluation; a problem's difficulty is common to all arms, as in life."""
    paths = []
    for evaluation_set, spec in study.evaluation_sets.items():
        for rule in filter(None, (spec.scorers.strict, spec.scorers.robust)):
            for arm, seed in study.evaluations(evaluation_set):
                bonus = 0.04 if rule == "math_robust" and arm != "dp_grpo" else 0
                path = folder / "scores" / evaluation_set / rule / arm / f"seed{seed}.parquet"
                shared, own = random.Random(evaluation_set), random.Random(f"{evaluation_set} {arm} {seed}")
                correct = [
                    0.8 * shared.random() + 0.2 * own.random() < ABILITY[arm] + bonus
                    for _ in range(spec.problems)
                ]
                metadata = {
                    "schema": "promptdp/scores/1",
                    "study": study.name,
                    "evaluation_set": evaluation_set,
                    "scorer": rule,
                    "scorer_digest": f"digest of {rule}",
                    "arm": arm,
                    "seed": seed,
                    "manifest": MANIFEST,
                }
                write_score_file(path, correct, metadata)
                paths.append(path)
    return paths


def write_score_file(path: Path, correct: list[bool], metadata: dict, **columns: list) -> None:
    """Scores of problems p0000, p0001, ...; other columns are as given, else alike for all problems."""
    table = pa.table(
        {
            "problem_id": [f"p{i:04d}" for i in range(len(correct))],
            "seed": [metadata["seed"]] * len(correct),
            "correct": correct,
            "extracted": ["1"] * len(correct),
            "capped": [False] * len(correct),
            "tokens": [10] * len(correct),
        }
        | columns
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.replace_schema_metadata({METADATA_KEY: json.dumps(metadata).encode()}), path)


def write_contrasts(study: Study, folder: Path, scores: list[Path]) -> list[Path]:
    """Every contrast of the study, made from the scores of its family."""
    paths = []
    for evaluation_set, spec in study.evaluation_sets.items():
        for rule in filter(None, (spec.scorers.strict, spec.scorers.robust)):
            contrasts = study.evaluated_contrasts(evaluation_set)
            for contrast in contrasts:
                family = {end for c in contrasts if c.family == contrast.family for end in (c.arm, c.versus)}
                chosen = [
                    path
                    for path in scores
                    if path.parts[-4:-2] == (evaluation_set, rule) and path.parts[-2] in family
                ]
                out = folder / "contrasts" / evaluation_set / rule / f"{contrast.name}.json"
                write_study_contrast(study, evaluation_set, rule, contrast.name, chosen, out)
                paths.append(out)
    return paths


def write_budgets(study: Study, folder: Path) -> list[Path]:
    """The calibration of the one mechanism, and what each benchmark's runs compose to."""
    calibration = folder / "calibration" / "n874-m16-T50-eps8.json"
    write_json(
        calibration,
        {
            "schema": "promptdp/calibration/1",
            "slots": 874,
            "expected": 16,
            "rounds": 50,
            "sigma": 0.48765,
            "delta": 1 / 8740,
            "epsilon_target": 8.0,
            "epsilon_pld": 7.99999999,
            "epsilon_rdp": 9.4321,
            "rdp_order": 2.4,
        },
    )
    paths = [calibration]
    for benchmark in study.benchmarks:
        paths.append(folder / "calibration" / f"composed-{benchmark}.json")
        write_json(
            paths[-1],
            {
                "schema": "promptdp/composition/1",
                "study": study.name,
                "benchmark": benchmark,
                "runs": {
                    f"{arm}/seed{s}": 50
                    for b, arm, s in study.runs()
                    if b == benchmark and arm != "nonprivate"
                },
                "delta": 1 / 8740,
                "epsilon": 17.25,
            },
        )
    return paths
