"""What makes two runs the same run: their public settings, their code and, under a key, their records."""

import hashlib
import hmac
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptdp.closure import code_digest
from promptdp.errors import InputError
from promptdp.files import atomic, canonical_json, clear_unfinished, read_bytes, sha256_bytes, sync
from promptdp.policy.base import Base
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.zone import run_lock
from promptdp.scoring.freeze import digest
from promptdp.training import CODE

if TYPE_CHECKING:
    from promptdp.study import Study

KEY_BYTES = 32
"""The size of a private zone's key."""


def public_settings(
    study: "Study", benchmark: str, arm: str, seed: int, execution: int, mechanism: Mechanism, base: Base
) -> dict[str, Any]:
    """Everything public that decides what a run computes, as JSON."""
    settings = study.run_settings(benchmark, arm)
    return {
        "study": study.name,
        "settings": settings.model_dump(mode="json"),
        "seed": seed,
        "execution": execution,
        "mechanism": mechanism.as_json(),
        "rollouts": study.rollouts.model_dump(mode="json") | {"samples": settings.samples},
        "lora": study.lora.model_dump(mode="json"),
        "optimizer": study.optimizer.model_dump(mode="json") | {"name": "AdamW"},
        "engine": study.engine,
        "isolation": study.isolation,
        "dtype": study.dtype,
        "randomness": study.randomness,
        "base_sha256": base.sha256,
        "scorer": {"name": settings.reward, "sha256": digest(settings.reward)},
        "code_sha256": code_digest(*CODE),
    }


def settings_sha256(settings: dict[str, Any]) -> str:
    """The digest of public settings; it names a run in public files."""
    return sha256_bytes(canonical_json(settings).encode())


def private_fingerprint(settings: dict[str, Any], records: bytes, key: bytes) -> str:
    """The name of a run's recovery folder; it binds the records, so it stays in the private zone.

    It is keyed because a plain hash of the records would let anyone who knows all but one of them test for
    that one.
    """
    message = settings_sha256(settings).encode() + hashlib.sha256(records).digest()
    return hmac.new(key, message, hashlib.sha256).hexdigest()[:16]


def zone_key(folder: Path) -> bytes:
    """The private zone's random key, 256 bits, made at first use and never leaving the zone.

    Raises:
        InputError: the file is not a key; an empty one would make the fingerprint a hash without a key.
    """
    path = folder / "zone.key"
    with run_lock(folder / "zone.lock"):
        if not path.exists():
            clear_unfinished(path)
            with atomic(path, private=True) as temporary:
                temporary.write_bytes(secrets.token_bytes(KEY_BYTES))
                sync(temporary)
            sync(folder)
    key = read_bytes(path)
    if len(key) != KEY_BYTES:
        raise InputError(
            f"{path}: is not a key of {KEY_BYTES} bytes; put back the zone's key, or remove the file for a "
            "new key, with which every run is a new look at its records"
        )
    return key
