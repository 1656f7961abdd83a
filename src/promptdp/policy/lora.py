"""The adapter: the trainable coordinates theta of a policy, in one fixed order (Section III-C, C-A)."""

import json
import math
import os
import re
import shutil
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import save
from torch.utils.checkpoint import checkpoint
from transformers.modeling_layers import GradientCheckpointingLayer

from promptdp.errors import InputError
from promptdp.files import sha256_bytes, write_json, writing
from promptdp.policy.base import Base
from promptdp.policy.folders import check_replaceable, replace_folder

WEIGHTS = "adapter_model.safetensors"
CONFIG = "adapter_config.json"
FILES = (WEIGHTS, CONFIG, "README.md")
"""What an adapter's folder holds; PEFT adds the README."""
LOSS_SCALE = 1024.0
"""Keeps float16 activations' gradients from vanishing; a public constant, so no record can move it."""
ROUTING = re.compile("Router|Experts", re.IGNORECASE)
"""What transformers calls the modules of a mixture of experts."""


class Adapter:
    """LoRA over a base: a model to differentiate, and theta as one vector of p coordinates.

    Coordinates are ordered by the name of their tensor, as it stands in the saved adapter, and row by row
    within a tensor; so anyone can recompute `sha256` from the released file.
    """

    def __init__(self, model: PeftModel):
        self.model = model
        named = {_saved_name(name): p for name, p in model.named_parameters() if p.requires_grad}
        self.names = tuple(sorted(named))
        self.parameters = [named[name] for name in self.names]
        self.coordinates = sum(parameter.numel() for parameter in self.parameters)
        _check(model, self.names)

    @property
    def dropout(self) -> float:
        """The dropout probability inside the adapter."""
        config: Any = self.model.peft_config["default"]
        return config.lora_dropout

    def drop_inputs(self, on: bool) -> None:
        """Switch the adapter's dropout; the base has none of its own, since it stays in evaluation mode."""
        for name, module in self.model.named_modules():
            if name.endswith(".lora_dropout"):
                module.train(on)

    def checkpoint_layers(self) -> None:
        """From now on recompute each layer's activations in the backward pass: less memory, more time.

        A layer is recomputed with the dropout masks of its first pass, so that gradients stay the same.
        A pass that will be differentiated must fill no key-value cache, or it would be filled twice. The
        switch of transformers acts in training mode alone, which would bring the base's dropout.

        Raises:
            InputError: the model has no layers that transformers can recompute.
        """
        layers = [m for m in self.model.modules() if isinstance(m, GradientCheckpointingLayer)]
        if not layers:
            raise InputError(
                "performance.gradient_checkpointing: the model has no layers to recompute; switch it off"
            )
        for layer in layers:
            layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)

    @property
    def theta(self) -> torch.Tensor:
        """A copy of the coordinates, shape (p,)."""
        return flatten(parameter.detach() for parameter in self.parameters)

    @torch.no_grad()
    def assign(self, theta: torch.Tensor) -> None:
        """Set the coordinates from a vector of shape (p,)."""
        pieces = theta.split([parameter.numel() for parameter in self.parameters])
        for parameter, piece in zip(self.parameters, pieces, strict=True):
            parameter.copy_(piece.view_as(parameter))

    def gradient(self, loss: torch.Tensor) -> torch.Tensor:
        """The gradient of a scalar loss, shape (p,); a coordinate that the loss doesn't touch gets zero."""
        scale = LOSS_SCALE if self.model.dtype == torch.float16 else 1.0
        gradients = torch.autograd.grad(
            loss * scale, self.parameters, allow_unused=True, materialize_grads=True
        )
        return flatten(gradients) / scale

    def deltas(self) -> dict[str, torch.Tensor]:
        """What the adapter adds to each weight matrix, by the name of its module in the base model."""
        wrapped: Any = self.model.base_model.model
        return {
            name: module.get_delta_weight("default").detach()
            for name, module in wrapped.named_modules()
            if hasattr(module, "get_delta_weight")
        }

    def sha256(self) -> str:
        """The SHA-256 of the coordinates as little-endian numbers, in their order."""
        return theta_sha256(self.theta)

    def save(self, folder: Path) -> None:
        """Write the adapter in PEFT's layout, the whole folder or nothing.

        Raises:
            InputError: the folder holds something else than an adapter.
            PromptDPError: as `files.writing`.
        """
        check_replaceable(folder, FILES)
        temporary = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
        tensors = {
            name: parameter.detach().cpu().contiguous()
            for name, parameter in zip(self.names, self.parameters, strict=True)
        }
        try:
            with writing(folder):
                temporary.mkdir(parents=True)
                (temporary / WEIGHTS).write_bytes(save(tensors, metadata={"format": "pt"}))
                write_json(temporary / CONFIG, _settings(self.model.peft_config["default"]))
                replace_folder(folder, temporary, FILES)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def attach(base: Base, seed: int, rank: int, alpha: float, dropout: float, targets: Sequence[str]) -> Adapter:
    """Put a fresh adapter on a base: B is zero, A is drawn from the public initialisation seed alone.

    The adapter's numbers are float32 also over half-precision weights.

    Args:
        base: the public model.
        seed: the public initialisation seed.
        rank: the rank of the update BA.
        alpha: the update is scaled by alpha / rank.
        dropout: the probability of dropping an input of A while differentiating.
        targets: the names of the modules whose weight is updated.

    Raises:
        InputError: a target names no module, or the model can't keep records apart.
    """
    config = LoraConfig(
        task_type="CAUSAL_LM",
        r=rank,
        lora_alpha=alpha,  # type: ignore[arg-type]
        lora_dropout=dropout,
        target_modules=list(targets),
        bias="none",
    )
    try:
        with _quiet():
            adapter = Adapter(get_peft_model(base.shell(), config).eval())
    except ValueError:
        raise InputError(f"lora.targets: none of {', '.join(targets)} is in the model") from None
    for target in targets:
        if not any(f".{target}." in name for name in adapter.names):
            raise InputError(f"lora.targets: the model has no module '{target}'; remove or correct it")
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in zip(adapter.names, adapter.parameters, strict=True):
        if ".lora_A." in name:
            drawn = torch.empty(parameter.shape, dtype=parameter.dtype)
            torch.nn.init.kaiming_uniform_(drawn, a=math.sqrt(5), generator=generator)
            parameter.data.copy_(drawn)
    return adapter


def load_adapter(base: Base, folder: str | Path) -> Adapter:
    """Read a saved adapter onto a base, its numbers still trainable and float32.

    Raises:
        InputError: the folder is not an adapter of this base.
    """
    if not (Path(folder) / WEIGHTS).is_file():
        raise InputError(f"{folder}: is not an adapter folder (no {WEIGHTS}); make it with `promptdp train`")
    try:
        with _quiet():
            model = PeftModel.from_pretrained(base.shell(), str(folder), is_trainable=True)
    except (RuntimeError, ValueError, KeyError, TypeError):
        raise InputError(f"{folder}: does not fit the base model; give the base it was trained on") from None
    return Adapter(model.eval())


def flatten(tensors: Iterable[torch.Tensor]) -> torch.Tensor:
    """Tensors joined into one vector, row by row, in their order."""
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


def theta_sha256(theta: torch.Tensor) -> str:
    """The SHA-256 of a vector's numbers, little-endian."""
    return sha256_bytes(theta.detach().cpu().contiguous().numpy().tobytes())


@contextmanager
def _quiet() -> Iterator[None]:
    """Without PEFT's use of names that transformers is about to rename."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def _saved_name(name: str) -> str:
    return name.replace(".default.weight", ".weight")


def _check(model: PeftModel, names: tuple[str, ...]) -> None:
    """Refuse trainable tensors that aren't exactly the adapter's, and modules that mix records."""
    expected = {
        f"{module_name}.{matrix}.weight"
        for module_name, module in model.named_modules()
        if hasattr(module, "get_delta_weight")
        for matrix in ("lora_A", "lora_B")
    }
    if not names or set(names) != expected:
        odd = sorted(set(names) ^ expected)
        raise InputError(
            f"adapter: {len(names)} tensors are trainable where the adapter has {len(expected)}"
            f"{f' (first: {odd[0]})' if odd else ''}; freeze all but lora_A and lora_B"
        )
    for name, module in model.named_modules():
        if (fault := _mixing(module)) is not None:
            raise InputError(f"base: module {name} {fault}; use a model without it")


def _mixing(module: torch.nn.Module) -> str | None:
    """How a module lets one record's numbers depend on another's, if it does."""
    if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
        return "mixes the records of a batch"
    if getattr(module, "running_mean", None) is not None:
        return "keeps statistics of earlier records"
    if ROUTING.search(type(module).__name__):
        return "routes the tokens of a batch to experts, whose load it balances over the batch"
    return None


def _settings(config: Any) -> dict[str, Any]:
    """PEFT's settings as JSON that depends neither on the process (sets are sorted) nor on its paths."""
    return json.loads(json.dumps(config.to_dict() | {"base_model_name_or_path": None}, default=sorted))
