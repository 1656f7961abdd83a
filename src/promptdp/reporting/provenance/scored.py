"""From a file of scores down: its scorer, its problems, and the predictions that were scored."""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from promptdp.errors import InputError
from promptdp.evaluation.rescore import manifest_path, read_scores
from promptdp.files import sha256_bytes
from promptdp.reporting.provenance.forms import ScoresForm
from promptdp.reporting.provenance.frozen import scorer
from promptdp.reporting.provenance.links import Book, Link, above
from promptdp.reporting.provenance.trained import adapter, base
from promptdp.timeline import Job


def scores(book: Book, file: Path, sha256: str | None) -> Link:
    """A file of scores, followed by what its metadata say; predictions and problems lie in its study."""
    link, fresh = book.link("scores", file.stem, file, sha256)
    if not (fresh and link.readable):
        return link
    try:
        content, _ = read_scores(file)
        form = ScoresForm.model_validate(content)
    except (InputError, ValidationError):
        return link
    root, evaluation_set = above(file, 4), form.evaluation_set
    link.facts = form.model_dump(include={"evaluation_set", "scorer", "arm", "seed"})
    book.jobs[Job("score", evaluation_set, form.scorer, form.arm, form.seed)] = root
    book.jobs[Job("records_eval", evaluation_set)] = root
    problems = root / "records" / evaluation_set / "eval.jsonl"
    records, _ = book.link("records", evaluation_set, problems, form.records_sha256)
    records.facts = {"evaluation_set": evaluation_set}
    predictions = _predictions(book, form, content["manifest"], root)
    predictions.need(records)
    link.need(scorer(book, form.scorer, form.scorer_digest), records, predictions)
    return link


def _predictions(book: Book, form: ScoresForm, stated: dict[str, Any], root: Path) -> Link:
    manifest, seed = form.manifest, f"seed{form.seed}"
    file = root / "predictions" / form.evaluation_set / form.arm / f"{seed}.jsonl.gz"
    book.jobs[Job("predict", form.evaluation_set, None, form.arm, form.seed)] = root
    link, fresh = book.link("predictions", seed, file, manifest.predictions_sha256)
    if fresh:
        made_with = {"engine", "device", "dtype", "decoding", "cap", "versions"}
        link.facts = form.model_dump(include={"evaluation_set", "arm", "seed"})
        link.facts |= manifest.model_dump(include=made_with)
        link.need(
            book.link("manifest", seed, manifest_path(file), _written_sha256(stated))[0],
            adapter(book, sha, form.arm, form.seed, root) if (sha := manifest.adapter_sha256) else None,
            base(book, manifest.base_sha256, root),
        )
    return link


def _written_sha256(content: dict[str, Any]) -> str:
    """The hash of the file that `write_json` makes of some content."""
    return sha256_bytes((json.dumps(content, indent=1, sort_keys=True) + "\n").encode())
