"""A study in its folders as the workflow leaves them, small enough to be made in a moment."""

import gzip
import json
import shutil
from pathlib import Path

from promptdp.evaluation.rescore import manifest_path, rescore
from promptdp.files import canonical_json, sha256_bytes, sha256_file, write_json, write_text
from promptdp.privacy.ledger import Ledger
from promptdp.records.record import Record, write_records
from promptdp.reporting.evidence import write_study_contrast
from promptdp.reporting.tables import make_table, write_table
from promptdp.scoring.freeze import digest, write_lock
from promptdp.study import Study
from tests.conftest import ROOT
from tests.reporting import fabricated

RULE, PROBLEMS = "math_strict", 8
RESULTS = Path("results/tiny")
STUDY_FILE = Path("config/studies/tiny.yaml")
MECHANISM = {
    "slots": 874,
    "expected": 16,
    "rounds": 2,
    "noise_multiplier": 0.5,
    "clipping_norm": 0.06,
    "delta": 1 / 8740,
    "relation": "add-or-remove-one",
}
VERSIONS = {"torch": "1.0"}


def store(folder: Path) -> Path:
    """Make the study under a folder, the working folder of the caller; returns the stem of its Table 2."""
    study = _study()
    for name in ("src/promptdp/scoring", "src/promptdp/errors.py"):
        kind = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        kind(ROOT / name, folder / name)
    write_lock(RULE, f"config/frozen/{RULE}.sha256")
    records = RESULTS / "records/arithmetic/eval.jsonl"
    write_records(records, [Record(f"sum-{n}", f"{n} + 1?", str(n + 1)) for n in range(PROBLEMS)])
    base = _base()
    calibration = _calibration()
    scores = []
    for arm, seed in study.evaluations("arithmetic"):
        adapter = _run(study, arm, seed, base) if arm != "base" else None
        predictions = _predictions(study, arm, seed, base, adapter)
        scores.append(RESULTS / f"scores/arithmetic/{RULE}/{arm}/seed{seed}.parquet")
        rescore(predictions, records, RULE, scores[-1])
    contrast = RESULTS / f"contrasts/arithmetic/{RULE}/dp_grpo-base.json"
    write_study_contrast(study, "arithmetic", RULE, "dp_grpo-base", scores, contrast)
    composed = RESULTS / "calibration/composed-arithmetic.json"
    runs = {f"dp_grpo/seed{seed}": 2 for seed in (1, 2)}
    content = {"study": "tiny", "benchmark": "arithmetic", "runs": runs, "delta": 1 / 8740, "epsilon": 17.25}
    write_json(composed, {"schema": "promptdp/composition/1", **content})
    _stamps()
    stem = RESULTS / "tables/table2"
    write_table(make_table(2, study, [contrast, calibration, composed]), stem)
    return stem


def _study() -> Study:
    keep = {"source": "arithmetic", "reward": RULE, "cap": 48, **fabricated.BENCHMARK, "rounds": 2}
    evaluation_set = {"benchmark": "arithmetic", "problems": PROBLEMS, "cap": 48, "scorers": {"strict": RULE}}
    arms = fabricated.SETTINGS["arms"]
    STUDY_FILE.parent.mkdir(parents=True)
    return fabricated.study(
        STUDY_FILE.parent,
        benchmarks={"arithmetic": keep},
        evaluation_sets={"arithmetic": evaluation_set},
        arms={"base": arms["base"], "dp_grpo": arms["dp_grpo"] | {"seeds": [1, 2]}},
        contrasts=[{"arm": "dp_grpo", "versus": "base", "family": "base"}],
    )


def _base() -> str:
    write_text(RESULTS / "base/model.safetensors", "weights")
    files = {"model.safetensors": sha256_file(RESULTS / "base/model.safetensors")}
    content = {"base": {"checkpoint": "somewhere"}, "dtype": "float32", "files": files, "versions": VERSIONS}
    write_json(RESULTS / "base.json", {"schema": "promptdp/base/1", **content})
    return sha256_bytes(canonical_json(files).encode())


def _calibration() -> Path:
    path = RESULTS / "calibration/n874-m16-T2-eps8.json"
    numbers = {key: MECHANISM[key] for key in ("slots", "expected", "rounds", "delta")}
    budget = {"epsilon_target": 8.0, "epsilon_pld": 7.99, "epsilon_rdp": 9.4, "rdp_order": 2.4}
    content = {"sigma": 0.5, "q_fraction": "16/874", **numbers, **budget}
    write_json(path, {"schema": "promptdp/calibration/1", **content})
    return path


def _run(study: Study, arm: str, seed: int, base: str) -> str:
    """The files of a run; returns the hash of its adapter."""
    folder = RESULTS / f"runs/arithmetic/{arm}/seed{seed}"
    write_text(folder / "adapter/adapter_model.safetensors", f"adapter {seed}")
    adapter, settings_sha256 = sha256_file(folder / "adapter/adapter_model.safetensors"), "ab" * 32
    header = {"study": study.name, "mechanism": MECHANISM, "settings_sha256": settings_sha256}
    ledger = Ledger.open(folder / "ledger.jsonl", header)
    for number in (1, 2):
        ledger.commit(number, ledger.begin(number), "cd" * 32)
    ledger.close()
    manifest = {
        "schema": "promptdp/run/1",
        "study": study.name,
        "settings": study.run_settings("arithmetic", arm).model_dump(mode="json"),
        "seed": seed,
        "execution": 1,
        "mechanism": MECHANISM,
        "accounting": {"epsilon_all": 7.99},
        "scorer": {"name": RULE, "sha256": digest(RULE)},
        "isolation": "strict",
        "settings_sha256": settings_sha256,
        "code_sha256": "ef" * 32,
        "base_sha256": base,
        "adapter_sha256": adapter,
        "ledger_head": ledger.head,
        "versions": VERSIONS,
        "not_releasable": [],
        "records": "withheld",
    }
    write_json(folder / "run.json", manifest)
    return adapter


def _predictions(study: Study, arm: str, seed: int, base: str, adapter: str | None) -> Path:
    path = RESULTS / f"predictions/arithmetic/{arm}/seed{seed}.jsonl.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as stream:
        for n in range(PROBLEMS):
            response = f"\\boxed{{{n + (n % (2 + seed) > 0)}}}"
            line = {"problem_id": f"sum-{n}", "response": response, "tokens": 5, "capped": False}
            stream.write(json.dumps(line) + "\n")
    write_json(
        manifest_path(path),
        {
            "study": study.name,
            "evaluation_set": "arithmetic",
            "arm": arm,
            "seed": seed,
            **fabricated.MANIFEST,
            "decoding": "greedy",
            "base_sha256": base,
            "adapter_sha256": adapter,
            "predictions_sha256": sha256_file(path),
        },
    )
    return path


def _stamps() -> None:
    """A decision that scores of the study waited for, and one that no job of it waits for."""
    for name, scorer in (("rule", RULE), ("other", "gsm8k")):
        lock = f"config/frozen/{scorer}.sha256"
        write_lock(scorer, lock)
        write_json(
            RESULTS / f"protocol/{name}.json",
            {
                "schema": "promptdp/decision/1",
                "decision": name,
                "statement": f"{scorer} scores.",
                "scorer": scorer,
                "before": ["score"],
                "frozen": {lock: sha256_file(lock)},
                "evidence": {},
                "amendments": [],
            },
        )
