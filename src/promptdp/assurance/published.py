"""A finished run as its public files state it, read only if the files agree with one another.

Manifest, ledger and weights each say something of the others: which mechanism, how many attempts, which
coordinates. Nothing is believed that a second file contradicts, so that one file can't be exchanged alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptdp.assurance.adapter import Tensors, check_peft, read_tensors, written_config
from promptdp.assurance.forms import RunManifest, mechanism_of
from promptdp.errors import InputError
from promptdp.files import canonical_json, parse_json, read_bytes, sha256_bytes, shown
from promptdp.forms import validated
from promptdp.privacy.ledger import LedgerSummary, verify_ledger
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Randomness

WEIGHTS = "adapter_model.safetensors"
CONFIG = "adapter_config.json"
LEDGER = "ledger.jsonl"
MANIFEST = "manifest.json"
IN_RUN = {
    WEIGHTS: f"adapter/{WEIGHTS}",
    CONFIG: f"adapter/{CONFIG}",
    LEDGER: LEDGER,
    MANIFEST: "run.json",
}
"""The files of a run that a release holds too: their names there, and their places in the run's folder."""

OUTCOMES = {
    "accounting",
    "adapter_sha256",
    "attempts",
    "device",
    "ledger_head",
    "not_releasable",
    "records",
    "schema",
    "settings_sha256",
    "theta_sha256",
    "versions",
}
"""The keys of a manifest that say how the run ended; the others are its public settings."""


@dataclass(frozen=True)
class PublishedRun:
    """The public facts of a complete run.

    Attributes:
        manifest: its manifest.
        mechanism: the mechanism of its ledger, equal to the manifest's.
        ledger: what its closed ledger says.
        files: the content of each of its files, by the name it has in a release.
    """

    manifest: dict[str, Any]
    mechanism: Mechanism
    ledger: LedgerSummary
    files: dict[str, bytes]

    @property
    def obstacles(self) -> list[str]:
        """Why the run can't be released; an empty list if nothing stands against it."""
        found = {
            "no noise is added": not self.mechanism.private,
            "the randomness is seeded": self.manifest["randomness"]["source"] != "os",
            "records share batches": self.manifest["isolation"] != "strict",
            "a round failed inside the mechanism": self.ledger.failed_attempts > 0,
        }
        stated = self.manifest["not_releasable"]
        return [*stated, *(reason for reason, holds in found.items() if holds and reason not in stated)]


def run_paths(folder: Path) -> dict[str, Path]:
    """Where the files of a run lie in its folder, by the name they have in a release."""
    return {name: folder / place for name, place in IN_RUN.items()}


def read_published(paths: Mapping[str, Path]) -> PublishedRun:
    """Read a run's manifest, ledger and adapter, and hold each to what the others say.

    Args:
        paths: the four files by their name in a release.

    Raises:
        InputError: a file is missing, malformed, or not of the run that the others are of.
        PrivacyRefusal: the ledger is not closed.
    """
    files = {name: read_bytes(path) for name, path in paths.items()}
    path = paths[MANIFEST]
    manifest = _object(files[MANIFEST], path)
    if manifest.get("schema") != "promptdp/run/1":
        raise InputError(f"{path}: is no manifest of a run; give the run.json that train wrote")
    validated(RunManifest, manifest, path)
    config = _object(files[CONFIG], paths[CONFIG])
    ledger = verify_ledger(paths[LEDGER])
    tensors = read_tensors(files[WEIGHTS], manifest["lora"], paths[WEIGHTS])
    coordinates, theta = _coordinates(tensors)
    header = {key: manifest[key] for key in ("study", "seed", "mechanism")} | {
        "arm": manifest["settings"]["arm"],
        "benchmark": manifest["settings"]["benchmark"],
        "settings_sha256": manifest.get("settings_sha256"),
    }
    mechanism = mechanism_of(ledger.header, paths[LEDGER])
    for key in ("slots", "expected", "rounds", "delta", "clipping_norm"):
        _same(path, f"settings.{key}", manifest["settings"][key], manifest["mechanism"][key], path)
    for key, value in header.items():
        _same(paths[LEDGER], f"its first line's {key}", ledger.header.get(key), value, path)
    _same(paths[LEDGER], "its first line", ledger.header, header, path)
    _same(paths[LEDGER], "its number of rounds", ledger.rounds, mechanism.rounds, path)
    _same(paths[LEDGER], "its number of begun attempts", ledger.begun_attempts, manifest["attempts"], path)
    _same(paths[LEDGER], "its last hash", ledger.head, manifest.get("ledger_head"), path)
    _same(path, "settings_sha256", manifest["settings_sha256"], _settings_sha256(manifest), path)
    _check_randomness(manifest, path)
    check_peft(manifest["versions"]["peft"], paths[CONFIG])
    written = written_config(manifest["lora"], config)
    for key, value in written.items():
        _same(paths[CONFIG], key, config.get(key), value, path)
    _same(paths[CONFIG], "its keys", sorted(config), sorted(written), path)
    _same(paths[WEIGHTS], "its hash", sha256_bytes(files[WEIGHTS]), manifest.get("adapter_sha256"), path)
    _same(paths[WEIGHTS], "its number of tensors", len(tensors), manifest["lora"]["tensors"], path)
    _same(paths[WEIGHTS], "its number of coordinates", coordinates, manifest["lora"]["coordinates"], path)
    _same(paths[WEIGHTS], "the hash of its coordinates", theta, manifest.get("theta_sha256"), path)
    _same(paths[WEIGHTS], "the hash of its coordinates", theta, ledger.theta_sha256, paths[LEDGER])
    return PublishedRun(manifest, mechanism, ledger, files)


def _same(path: Path, what: str, found: Any, expected: Any, other: Path) -> None:
    if canonical_json(found) != canonical_json(expected):
        raise InputError(
            f"{path}: {what} is {shown(found)}, but {shown(expected)} by {other}; give the files of one run, "
            "as they were written"
        )


def _settings_sha256(manifest: dict[str, Any]) -> str:
    """The digest of the public settings in a manifest, as the run's ledger was opened with."""
    settings = {key: value for key, value in manifest.items() if key not in OUTCOMES}
    lora = settings["lora"]
    settings["lora"] = {key: lora[key] for key in lora if key not in ("coordinates", "tensors")}
    settings["randomness"] = settings["randomness"]["source"]
    return sha256_bytes(canonical_json(settings).encode())


def _check_randomness(manifest: dict[str, Any], path: Path) -> None:
    """Hold what a manifest says of its randomness, which a statement repeats, to this software's words."""
    stated = manifest["randomness"]
    for key in ("key_bits", "backend", "coins", "noise"):
        _same(path, f"randomness.{key}", stated[key], Randomness.seeded(0).description[key], path)
    _same(
        path,
        "whether dropout has a seed",
        stated["dropout"] is not None,
        manifest["lora"]["dropout"] > 0,
        path,
    )


def _coordinates(tensors: Tensors) -> tuple[int, str]:
    """How many numbers an adapter holds, and their hash in their fixed order."""
    raw = b"".join(tensors[name].astype("<f4").tobytes() for name in sorted(tensors))
    return sum(tensor.size for tensor in tensors.values()), sha256_bytes(raw)


def _object(content: bytes, path: Path) -> dict[str, Any]:
    value = parse_json(content, path)
    if not isinstance(value, dict):
        raise InputError(f"{path}: is no JSON object; give the file as it was written")
    return value
