"""The recovery state of a run: one safetensors file, so that its weights and its place in the ledger are one.

It lives in the private zone. It holds no state of any random generator: a resumed run draws afresh.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from promptdp.errors import InputError
from promptdp.files import atomic, canonical_json, sha256_bytes, sync, writing


@dataclass(frozen=True)
class Place:
    """Where in its ledger a run stood when its state was saved.

    Attributes:
        round: the last round whose step the state contains.
        attempt: the attempt at that round.
        ledger_length: the ledger's lines at that moment, the last of them the attempt's beginning.
        ledger_head: the hash of that last line.
    """

    round: int
    attempt: int
    ledger_length: int
    ledger_head: str


def save_checkpoint(path: Path, state: dict[str, torch.Tensor], place: Place) -> None:
    """Replace the checkpoint; on return the disk has it, and a kill leaves the old one or the new one.

    Errors are those of `files.writing`.
    """
    metadata = {key: str(value) for key, value in asdict(place).items()} | {"state_sha256": _digest(state)}
    content = save({key: tensor.contiguous() for key, tensor in state.items()}, metadata)
    with writing(path):
        with atomic(path) as temporary:
            temporary.write_bytes(content)
            sync(temporary)
        sync(path.parent)


def load_checkpoint(path: Path) -> tuple[dict[str, torch.Tensor], Place] | None:
    """The state and its place, or None where nothing was saved.

    The digest finds damage to any tensor, the moments included. It is no seal: who can write to the zone can
    write a digest too, and could as well edit the records.

    Raises:
        InputError: the file is not a checkpoint, or is damaged.
    """
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as stream:
            state = {key: stream.get_tensor(key) for key in stream.keys()}  # noqa: SIM118
            fields = stream.metadata()
        if fields["state_sha256"] != _digest(state):
            raise ValueError("another state was saved")
        return state, Place(
            round=int(fields["round"]),
            attempt=int(fields["attempt"]),
            ledger_length=int(fields["ledger_length"]),
            ledger_head=fields["ledger_head"],
        )
    except (SafetensorError, KeyError, ValueError, TypeError):
        raise InputError(
            f"{path}: is damaged; remove this file alone, never the ledger beside it, and start again: "
            "training starts over, and the rounds already drawn stay charged"
        ) from None


def _digest(state: dict[str, torch.Tensor]) -> str:
    """The SHA-256 of tensors, their names, types and shapes."""
    described = {
        name: [str(tensor.dtype), list(tensor.shape), sha256_bytes(_bytes(tensor))]
        for name, tensor in state.items()
    }
    return sha256_bytes(canonical_json(described).encode())


def _bytes(tensor: torch.Tensor) -> bytes:
    return tensor.detach().cpu().contiguous().numpy().tobytes()
