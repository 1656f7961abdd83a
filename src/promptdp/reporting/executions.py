"""Every complete execution of a study with its contrasts: the first is the reported one, none is dropped."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas

from promptdp.errors import InputError
from promptdp.files import (
    canonical_json,
    read_object,
    sha256_bytes,
    sha256_file,
    with_ending,
    write_json,
    write_text,
)
from promptdp.forms import Form, of_study, validated
from promptdp.reporting.forms import ContrastSummary, ExecutionFile, RunFile
from promptdp.reporting.twin import write_twin
from promptdp.study import Study

SCHEMA, LIST = "promptdp/execution/1", "promptdp/executions/1"
ENDINGS = ("csv", "md")
COLUMNS = (
    "execution",
    "id",
    "evaluation set",
    "scorer",
    "contrast",
    "difference (pp)",
    "95% interval",
    "seeds",
)
FORMS: dict[str, type[Form]] = {"promptdp/run/1": RunFile, "promptdp/contrast/1": ContrastSummary}


def list_executions(study: Study, inputs: Sequence[Path], stores: Sequence[Path], stem: Path) -> None:
    """Keep this execution's contrasts in the last store if they are new, and list what all stores hold.

    An execution is told from another by the hashes of its adapters, which are fresh whenever it is trained.

    Args:
        study: the study.
        inputs: the run manifests and contrasts of this execution.
        stores: folders of kept executions, the recorded one first; a folder may not exist yet.
        stem: output path without its ending; .csv, .md and .json, which names its inputs, are written.

    Raises:
        InputError: an input is neither run manifest nor contrast, or is of another study; no input is a run
        manifest; a store holds something else than executions of this study.
    """
    files = [_input(study, path) for path in inputs]
    adapters = sorted(file["adapter_sha256"] for file in files if file["schema"] == "promptdp/run/1")
    if not adapters:
        raise InputError("--inputs: no input is the manifest of a run; give every run.json of the execution")
    identity = sha256_bytes(canonical_json([study.name, adapters]).encode())[:12]
    kept = _entries(study, stores)
    if identity not in kept:
        contrasts = [_summary(file) for file in files if file["schema"] == "promptdp/contrast/1"]
        entry = {
            "schema": SCHEMA,
            "number": len(kept) + 1,
            "id": identity,
            "study": study.name,
            "contrasts": contrasts,
        }
        write_json(stores[-1] / f"{entry['number']:03d}-{identity}.json", entry)
        kept[identity] = entry
    rows = [_row(entry, contrast) for entry in kept.values() for contrast in entry["contrasts"]]
    _write(rows, stem)
    content = {"schema": LIST, "study": study.name, "executions": sorted(kept)}
    sources = [*inputs, *(path for store in stores for path in sorted(store.glob("*.json")))]
    write_twin(stem, content, {str(path): sha256_file(path) for path in sources}, ENDINGS)


def _input(study: Study, path: Path) -> dict[str, Any]:
    content = read_object(path)
    form = FORMS.get(str(content.get("schema")))
    if form is None:
        raise InputError(f"{path}: is neither a run's manifest nor a contrast; give run.json and contrasts")
    return validated(form, of_study(study.name, content, path), path)


def _entries(study: Study, stores: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """The kept executions by id; one that stands in two stores is taken from the first."""
    found: dict[str, dict[str, Any]] = {}
    for store in stores:
        for path in sorted(store.glob("*.json")):
            entry = validated(ExecutionFile, of_study(study.name, read_object(path, SCHEMA), path), path)
            found.setdefault(entry["id"], entry)
    return found


def _summary(contrast: dict[str, Any]) -> dict[str, Any]:
    keys = ("evaluation_set", "scorer", "name", "difference_pp", "ci95_pp", "per_seed_pp")
    return {key: contrast[key] for key in keys}


def _row(entry: dict[str, Any], contrast: dict[str, Any]) -> list[str]:
    low, high = contrast["ci95_pp"]
    return [
        f"{entry['number']}{' (reported)' if entry['number'] == 1 else ''}",
        entry["id"],
        contrast["evaluation_set"],
        contrast["scorer"],
        contrast["name"],
        f"{contrast['difference_pp']:+.2f}",
        f"[{low:.2f}, {high:.2f}]",
        " / ".join(f"{value:+.2f}" for value in contrast["per_seed_pp"]),
    ]


def _write(rows: list[list[str]], stem: Path) -> None:
    frame = pandas.DataFrame(rows, columns=COLUMNS)
    write_text(with_ending(stem, "csv"), frame.to_csv(index=False, lineterminator="\n"))
    write_text(with_ending(stem, "md"), frame.to_markdown(index=False, disable_numparse=True) + "\n")
