"""A compact key-value-cached forward pass for the Llama and Qwen2 family, on merged weights.

It computes what transformers' forward computes on `W + BA`; per token of a small model it costs half as much,
because decoding there is bound by the number of operations. Other architectures go through `generate`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

FAMILY = ("llama", "qwen2")


@dataclass(frozen=True)
class _Layer:
    attention_norm: torch.Tensor
    qkv: torch.Tensor
    qkv_bias: torch.Tensor
    out: torch.Tensor
    mlp_norm: torch.Tensor
    gate_up: torch.Tensor
    down: torch.Tensor


@dataclass
class Cache:
    """Each layer's keys and values, (rows, key-value heads, places, head size), and how many are filled."""

    layers: list[tuple[torch.Tensor, torch.Tensor]]
    filled: int = 0

    def rows(self, index: torch.Tensor) -> "Cache":
        """A cache of these rows alone (rows may repeat)."""
        return Cache([(keys[index], values[index]) for keys, values in self.layers], self.filled)


class CompactModel:
    """The forward pass of one merged model; rows of a call have one length, so nothing needs a mask."""

    @staticmethod
    def supports(model: Any) -> bool:
        """Whether a transformers model is of the family, with the plain form of each of its parts."""
        if model.config.model_type not in FAMILY or model.config.hidden_act != "silu":
            return False
        first = model.model.layers[0]
        unbiased = (first.self_attn.o_proj, first.mlp.gate_proj, first.mlp.up_proj, first.mlp.down_proj)
        sliding = "sliding_attention" in (getattr(model.config, "layer_types", None) or ())
        static_rope = model.model.rotary_emb.rope_type in ("default", "linear", "llama3", "yarn")
        return static_rope and not sliding and all(part.bias is None for part in unbiased)

    def __init__(self, model: Any, deltas: Mapping[str, torch.Tensor]):
        """Merge `deltas` (by module name, see `Adapter.deltas`) into a copy of the model's weights."""
        config = model.config
        self.heads, self.kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.head_size = model.model.layers[0].self_attn.head_dim
        self.eps, self.rotary = config.rms_norm_eps, model.model.rotary_emb
        self.embedding, self.final_norm = model.model.embed_tokens.weight, model.model.norm.weight
        self.head = model.lm_head.weight.t()

        def merged(*names: str) -> torch.Tensor:
            weights = []
            for name in names:
                weight = model.get_submodule(name).weight
                delta = deltas.get(name)
                weights.append(weight if delta is None else (weight + delta).to(weight.dtype))
            return torch.cat(weights).t().contiguous()

        self.layers = []
        for index, layer in enumerate(model.model.layers):
            attention, mlp = f"model.layers.{index}.self_attn", f"model.layers.{index}.mlp"
            projections = [f"{attention}.{part}_proj" for part in "qkv"]
            biases = [model.get_submodule(name).bias for name in projections]
            qkv = merged(*projections)
            self.layers.append(
                _Layer(
                    attention_norm=layer.input_layernorm.weight,
                    qkv=qkv,
                    qkv_bias=qkv.new_zeros(qkv.shape[1]) if biases[0] is None else torch.cat(biases),
                    out=merged(f"{attention}.o_proj"),
                    mlp_norm=layer.post_attention_layernorm.weight,
                    gate_up=merged(f"{mlp}.gate_proj", f"{mlp}.up_proj"),
                    down=merged(f"{mlp}.down_proj"),
                )
            )

    def cache(self, rows: int, places: int) -> Cache:
        """An empty cache."""
        shape = (rows, self.kv_heads, places, self.head_size)
        return Cache(
            [(self.embedding.new_empty(shape), self.embedding.new_empty(shape)) for _ in self.layers]
        )

    def rotation(self, places: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and signed sines of the rotary embedding, each (places, head size)."""
        positions = torch.arange(places, device=self.embedding.device)[None]
        cosine, sine = self.rotary(self.embedding, positions)
        half = self.head_size // 2
        return cosine[0], torch.cat([-sine[0, :, :half], sine[0, :, half:]], dim=-1)

    def forward(
        self, ids: torch.Tensor, cache: Cache, rotation: tuple[torch.Tensor, torch.Tensor]
    ) -> torch.Tensor:
        """The logits after the last token of each row, appending to the cache.

        Args:
            ids: (rows, tokens), a whole prompt into an empty cache or one token behind a filled one.
            cache: as many rows, with room for the tokens.
            rotation: of all places of the cache.

        Returns:
            (rows, vocabulary)
        """
        rows, tokens = ids.shape
        start, end = cache.filled, cache.filled + tokens
        cosine, sine = rotation[0][start:end], rotation[1][start:end]
        x = self.embedding[ids.reshape(-1)]
        for layer, (keys, values) in zip(self.layers, cache.layers, strict=True):
            qkv = torch.addmm(layer.qkv_bias, self._norm(x, layer.attention_norm), layer.qkv)
            qkv = qkv.view(rows, tokens, self.heads + 2 * self.kv_heads, self.head_size).transpose(1, 2)
            qk, value = qkv.split([self.heads + self.kv_heads, self.kv_heads], dim=1)
            qk = torch.addcmul(qk * cosine, qk.roll(self.head_size // 2, -1), sine)
            query, key = qk.split([self.heads, self.kv_heads], dim=1)
            keys[:, :, start:end] = key
            values[:, :, start:end] = value
            attended = self._attend(query, keys[:, :, :end], values[:, :, :end])
            x = torch.addmm(x, attended, layer.out)
            gate, up = (self._norm(x, layer.mlp_norm) @ layer.gate_up).chunk(2, dim=-1)
            x = torch.addmm(x, functional.silu(gate) * up, layer.down)
        cache.filled = end
        return self._norm(x.view(rows, tokens, -1)[:, -1], self.final_norm) @ self.head

    def _norm(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Root-mean-square normalisation, in float32 like the original (torch's `rms_norm` is slower)."""
        wide = x.float()
        scale = wide.square().mean(-1, keepdim=True).add_(self.eps).rsqrt_()
        return weight * (wide * scale).to(x.dtype)

    def _attend(self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Attention of a prompt to itself, or of one token a row to its past: (rows * tokens, width)."""
        rows, heads, tokens, size = query.shape
        if tokens > 1:
            attended = functional.scaled_dot_product_attention(
                query, keys, values, is_causal=True, enable_gqa=True
            )
            return attended.transpose(1, 2).reshape(rows * tokens, heads * size)
        groups, places = rows * self.kv_heads, keys.shape[2]
        grouped = query.reshape(groups, heads // self.kv_heads, size) * size**-0.5
        scores = torch.bmm(grouped, keys.reshape(groups, places, size).transpose(1, 2))
        return torch.bmm(scores.softmax(-1), values.reshape(groups, places, size)).view(rows, heads * size)
