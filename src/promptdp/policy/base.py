"""The public base model: weights, tokenizer, stop tokens, and the one place that turns prompts into ids."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from promptdp.errors import InputError
from promptdp.files import canonical_json, sha256_bytes, sha256_file

NO_LIMIT = 2**62
"""The tokenizer's own limit: none, because over-long prompts are found by `Base.fits` and never warned of."""


@dataclass(frozen=True)
class Base:
    """The public model pi_ref, frozen, in evaluation mode.

    Attributes:
        model: a transformers causal language model.
        tokenizer: its tokenizer, with a chat template.
        stop_ids: every token id that ends a completion.
        sha256: the hash of the folder it was read from (see `folder_sha256`).
    """

    model: Any
    tokenizer: Any
    stop_ids: frozenset[int]
    sha256: str

    @cached_property
    def context(self) -> int:
        """The most tokens, prompt and completion together, that the model can read."""
        return int(self.model.config.max_position_embeddings)

    def fits(self, prompt: Sequence[int], completion_tokens: int) -> bool:
        """Whether a prompt leaves room for a completion of that many tokens."""
        return len(prompt) + completion_tokens <= self.context

    def prompt_ids(self, question: str, template: str = "{question}") -> list[int]:
        """The token ids of a question inside its public frame, as one user message.

        This is the single chat-template call: engine, loss and evaluation all take their ids from here.
        """
        chat = [{"role": "user", "content": template.replace("{question}", question)}]
        encoded = self.tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=True)
        return list(encoded["input_ids"])

    def target_ids(self, text: str) -> list[int]:
        """The token ids of a written completion, ended by the tokenizer's stop token."""
        return [*self.tokenizer(text, add_special_tokens=False)["input_ids"], self.tokenizer.eos_token_id]

    def text(self, completion: Sequence[int]) -> str:
        """What a completion says, without its stop token or other special tokens."""
        return self.tokenizer.decode(completion, skip_special_tokens=True)

    def capped(self, completion: Sequence[int]) -> bool:
        """Whether a completion ended by its cap, not by a stop token."""
        return not completion or completion[-1] not in self.stop_ids

    def shell(self) -> Any:
        """A second model object over the same weight tensors, free to be wrapped (no weight is copied)."""
        shared: dict[int, Any] = {id(parameter): parameter for parameter in self.model.parameters()}
        return copy.deepcopy(self.model, shared)


def load_base(folder: str | Path, dtype: str = "float32", device: str = "cpu") -> Base:
    """Read a base model folder (config, safetensors, tokenizer), never the network.

    The generation settings that come with the model (penalties, top-p) are dropped: only its stop ids stay.

    Raises:
        InputError: the folder is not a model, or its tokenizer lacks a chat template or a stop token.
    """
    if not (Path(folder) / "config.json").is_file():
        raise InputError(f"{folder}: is not a model folder (no config.json); make it with `promptdp base`")
    disable_progress_bar()
    set_verbosity_error()  # warnings of transformers quote numbers, such as a private prompt's length
    try:
        model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=getattr(torch, dtype), local_files_only=True, use_safetensors=True
        )
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{folder}: cannot be loaded ({reason}); make the folder again") from None
    if tokenizer.chat_template is None:
        raise InputError(f"{folder}: the tokenizer has no chat template; use an instruction-tuned model")
    stop_ids = _ids(model.generation_config.eos_token_id) | _ids(tokenizer.eos_token_id)
    if tokenizer.eos_token_id is None:
        raise InputError(f"{folder}: the tokenizer has no stop token (eos_token); name one in its config")
    model.generation_config = GenerationConfig()
    tokenizer.model_max_length = NO_LIMIT
    model.requires_grad_(False).eval().to(device)
    return Base(model, tokenizer, frozenset(stop_ids), folder_sha256(folder))


def folder_sha256(folder: str | Path) -> str:
    """One hash for a model folder: of its file names and their SHA-256, hidden files left out."""
    root = Path(folder)
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.name.startswith("."))
    hashes = {str(path.relative_to(root)): sha256_file(path) for path in files}
    return sha256_bytes(canonical_json(hashes).encode())


def _ids(value: int | list[int] | None) -> set[int]:
    if value is None:
        return set()
    return {value} if isinstance(value, int) else set(value)
