"""The JSON beside a table, a figure or a list: what it shows, and by hash what it was made from."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from promptdp.files import canonical_json, sha256_bytes, sha256_file, with_ending, write_json
from promptdp.study import Study

SEAL = "sha256"


def write_twin(
    stem: str | Path, content: Mapping[str, Any], inputs: Mapping[str, str], endings: Iterable[str]
) -> None:
    """Write STEM.json with the hashes of the inputs and of the files that show the same, and its own seal.

    Args:
        stem: the path that the files share. content: what they show. inputs: {file: SHA-256} of what they
        were made from. endings: of the files beside it, which are written already.
    """
    files = [with_ending(stem, ending) for ending in endings]
    twin = {**content, "inputs": dict(inputs), "files": {file.name: sha256_file(file) for file in files}}
    write_json(with_ending(stem, "json"), twin | {SEAL: seal(twin)})


def seal(twin: Mapping[str, Any]) -> str:
    """The SHA-256 of all that a twin says besides its seal: whether it was edited since it was written."""
    return sha256_bytes(canonical_json({key: twin[key] for key in twin if key != SEAL}).encode())


def settings_sha256(study: Study) -> str:
    """The SHA-256 of the settings that captions, rows and notes are made from: all but the base's."""
    return sha256_bytes(canonical_json(study.model_dump(mode="json", exclude={"base"})).encode())
