"""Random models of a few thousand weights in the Hugging Face layout: enough to test all but learning."""

import string
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    Gemma3TextConfig,
    GemmaConfig,
    GPTNeoXConfig,
    LlamaConfig,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen3Config,
)

from promptdp.policy.base import Base, load_base

STOP, SECOND_STOP, USER, ASSISTANT = "<stop>", "<halt>", "<user>", "<assistant>"
SPECIAL = [STOP, SECOND_STOP, USER, ASSISTANT]
TEMPLATE = f"{{% for m in messages %}}{USER}{{{{ m.content }}}}{{% endfor %}}{ASSISTANT}"
ALPHABET = (
    string.ascii_letters + string.digits + string.punctuation + "ĠĊ"
)  # byte-level names of blank and newline
TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
LORA = {"rank": 4, "alpha": 8.0, "dropout": 0.0, "targets": TARGETS}
COMMON = {
    "vocab_size": len(SPECIAL) + len(ALPHABET),
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 96,
    "initializer_range": 0.4,
    "bos_token_id": None,
    "eos_token_id": 0,
    "pad_token_id": 0,
}
LLAMA3_ROPE = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 24,
}
CONFIGS = {
    "qwen2": lambda: Qwen2Config(**COMMON, tie_word_embeddings=True),
    "llama": lambda: LlamaConfig(**COMMON, rope_parameters=LLAMA3_ROPE),
    "gemma": lambda: GemmaConfig(**COMMON, head_dim=4),
    "gemma3": lambda: Gemma3TextConfig(
        **COMMON,
        head_dim=4,
        layer_types=["sliding_attention", "full_attention"],
        sliding_window=6,
        query_pre_attn_scalar=4,
    ),
    "qwen3": lambda: Qwen3Config(**COMMON, head_dim=4),
    "gpt_neox": lambda: GPTNeoXConfig(**COMMON),
}


def write_tiny_base(folder: Path, family: str = "qwen2") -> Path:
    """A base folder of this architecture with random weights, one token per character and two stop tokens.

    As with published models, its tokenizer knows the model's context and warns of longer texts.
    """
    vocabulary = {token: index for index, token in enumerate([*SPECIAL, *ALPHABET])}
    raw = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token=STOP))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        eos_token=STOP,
        pad_token=STOP,
        additional_special_tokens=SPECIAL[1:],
        model_max_length=COMMON["max_position_embeddings"],
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(CONFIGS[family]())
    model.generation_config.eos_token_id = [0, 1]
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_folders(tmp_path_factory) -> Callable[[str], Path]:
    """The base folder of each architecture, made when first asked for."""
    return cache(lambda name: write_tiny_base(tmp_path_factory.mktemp(name) / "base", name))


@pytest.fixture(scope="session")
def tiny_folder(tiny_folders) -> Path:
    return tiny_folders("qwen2")


@pytest.fixture(scope="session")
def tiny(tiny_folder) -> Base:
    return load_base(tiny_folder)


@pytest.fixture(scope="session", params=list(CONFIGS))
def family(request, tiny_folders) -> Base:
    """One base of each architecture."""
    return load_base(tiny_folders(request.param))


@pytest.fixture
def exact(request, monkeypatch, tiny_folders) -> Base:
    """A base (Qwen2, or the architecture named as parameter) that computes in binary64 throughout: as they
    come, models turn to float32 for normalisation and rotation even when their weights are float64."""
    convert = torch.Tensor.to

    def to(self, *args, **kwargs):
        wide = [torch.float64 if argument is torch.float32 else argument for argument in args]
        if kwargs.get("dtype") is torch.float32:
            kwargs["dtype"] = torch.float64
        return convert(self, *wide, **kwargs)

    base = load_base(tiny_folders(getattr(request, "param", "qwen2")), "float64")
    monkeypatch.setattr(torch.Tensor, "to", to)
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    return base


def moved(adapter, scale: float = 0.3, seed: int = 0):
    """The adapter with all its coordinates moved away from their start, B included."""
    generator = torch.Generator().manual_seed(seed)
    theta = adapter.theta
    adapter.assign(theta + scale * torch.randn(len(theta), generator=generator, dtype=theta.dtype))
    return adapter


def tokens(*texts: str) -> list[list[int]]:
    """Completions of these texts, one token a character, each ended by the first stop token."""
    return [[len(SPECIAL) + ALPHABET.index(character) for character in text] + [0] for text in texts]
