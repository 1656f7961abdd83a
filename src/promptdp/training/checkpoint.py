"""The recovery state of a run: one safetensors file, so that its weights and its place in the ledger are one.

It lives in the private zone. It holds no state of any random generator: a resumed run draws afresh.
"""

import os
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from promptdp.errors import InputError
from promptdp.files import atomic


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
    """Replace the checkpoint; on return the disk has it, and a kill leaves the old one or the new one."""
    metadata = {key: str(value) for key, value in asdict(place).items()}
    with atomic(path) as temporary:
        save_file({key: tensor.contiguous() for key, tensor in state.items()}, temporary, metadata)
        _sync(temporary)
    _sync(path.parent)


def load_checkpoint(path: Path) -> tuple[dict[str, torch.Tensor], Place] | None:
    """The state and its place, or None where nothing was saved.

    Raises:
        InputError: the file is not a checkpoint.
    """
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as stream:
            state = {key: stream.get_tensor(key) for key in stream.keys()}  # noqa: SIM118
            fields = stream.metadata()
        return state, Place(
            round=int(fields["round"]),
            attempt=int(fields["attempt"]),
            ledger_length=int(fields["ledger_length"]),
            ledger_head=fields["ledger_head"],
        )
    except (SafetensorError, KeyError, ValueError, TypeError):
        raise InputError(f"{path}: is not a checkpoint; remove the folder to train the run again") from None


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
