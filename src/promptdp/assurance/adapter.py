"""The two files of an adapter, held to what training writes: PEFT would read much else in them."""

import json
import re
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from peft import LoraConfig
from safetensors import SafetensorError
from safetensors.numpy import load, save

from promptdp.errors import InputError

Tensors = dict[str, np.ndarray]


def written_config(lora: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """The one configuration that training writes for an adapter, in the words of the PEFT installed here.

    Args:
        lora: the settings in the run's manifest.
        found: the configuration to be held to it; a whole alpha may stand in it as an integer.
    """
    alpha = lora["alpha"]
    if type(found.get("lora_alpha")) is int and alpha == int(alpha):
        alpha = int(alpha)
    config = LoraConfig(
        task_type="CAUSAL_LM",
        r=lora["rank"],
        lora_alpha=alpha,
        lora_dropout=lora["dropout"],
        target_modules=lora["targets"],
        bias="none",
    )
    return json.loads(json.dumps(config.to_dict(), default=sorted))


def check_peft(trained_with: str, path: Path) -> None:
    """Refuse to judge a configuration in the words of another PEFT.

    Raises:
        InputError: the PEFT installed here is of another version than the one that wrote the file.
    """
    if (here := version("peft")) != trained_with:
        raise InputError(f"{path}: was written by peft {trained_with}; check with it (this is {here})")


def read_tensors(content: bytes, lora: dict[str, Any], path: Path) -> Tensors:
    """The tensors of a saved adapter by name.

    Raises:
        InputError: the file is not the one that training writes for them, or they are not what an adapter of
            these settings has: for each module that is a target, A of `rank` rows and B of `rank` columns.
    """
    try:
        tensors = load(content)
    except (SafetensorError, KeyError, TypeError, ValueError):
        raise InputError(f"{path}: is not an adapter; give the file as train wrote it") from None
    if any(tensor.dtype != "float32" for tensor in tensors.values()):
        raise InputError(f"{path}: holds numbers that are not float32; give the file as train wrote it")
    if save(tensors, metadata={"format": "pt"}) != content:
        raise InputError(f"{path}: holds more than its tensors; give the file as train wrote it")
    if not _is_adapter(tensors, lora["rank"], lora["targets"]):
        raise InputError(
            f"{path}: its tensors are not those of an adapter of rank {lora['rank']} on its targets; "
            "give the file as train wrote it"
        )
    return tensors


def _is_adapter(tensors: Tensors, rank: int, targets: Sequence[str]) -> bool:
    if any(tensor.ndim != 2 for tensor in tensors.values()):
        return False
    a = {name.removesuffix(".lora_A.weight") for name in tensors if name.endswith(".lora_A.weight")}
    pairs = {f"{module}.lora_{matrix}.weight" for module in a for matrix in "AB"}
    met = {target for target in targets for module in a if _is_module(module, target)}
    return (
        set(tensors) == pairs
        and met == set(targets)
        and all(any(_is_module(module, target) for target in targets) for module in a)
        and all(tensors[f"{module}.lora_A.weight"].shape[0] == rank for module in a)
        and all(tensors[f"{module}.lora_B.weight"].shape[1] == rank for module in a)
    )


def _is_module(name: str, target: str) -> bool:
    """Whether this is the name of a module that PEFT adapts for a target."""
    place = r"base_model\.model(\.[A-Za-z_][A-Za-z0-9_]*|\.(0|[1-9][0-9]{0,3}))*\."
    return re.fullmatch(place + re.escape(target), name) is not None
