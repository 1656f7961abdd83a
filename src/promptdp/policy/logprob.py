"""Log-probabilities of completions under a model: what the losses are made of.

Both ways below know where a completion ends from its length, never from a token's value, and read one record
only. `padded_logprobs` is the plain one: every completion in its own row behind its own copy of the prompt.
`shared_prefix_logprobs` lays the prompt and all completions in one row, where a completion's tokens see the
prompt and their own past: the same numbers, with the prompt computed once and no padding.
"""

from collections.abc import Sequence
from typing import Any

import torch


def padded_logprobs(
    model: Any, prompt: Sequence[int], completions: Sequence[Sequence[int]], temperature: float = 1.0
) -> list[torch.Tensor]:
    """log pi(y_k | x, y_<k) of each completion's tokens, one row per completion, padded on the right.

    Returns:
        for each completion a tensor of shape (its tokens,), float32 or wider, attached to the graph.
    """
    lengths = [len(completion) for completion in completions]
    rows = torch.zeros(len(completions), len(prompt) + max(lengths), dtype=torch.long, device=model.device)
    for row, completion in zip(rows, completions, strict=True):
        row[: len(prompt) + len(completion)] = torch.tensor([*prompt, *completion])
    logits = model(input_ids=rows, use_cache=False, logits_to_keep=max(lengths) + 1).logits[:, :-1]
    chosen = _chosen(logits, rows[:, len(prompt) :], temperature)
    return [row[:length] for row, length in zip(chosen, lengths, strict=True)]


def shared_prefix_logprobs(
    model: Any, prompt: Sequence[int], completions: Sequence[Sequence[int]], temperature: float = 1.0
) -> list[torch.Tensor]:
    """As `padded_logprobs`, in one row; for models whose layers all attend to the whole past.

    With dropout, completions would share one mask on the prompt, which is another law of the gradient.
    """
    start, lengths = len(prompt), [len(completion) for completion in completions]
    owner = torch.zeros(start + sum(lengths), dtype=torch.long)
    position = torch.arange(len(owner))
    before = torch.arange(-1, len(owner) - 1)
    offset = start
    for group, length in enumerate(lengths, start=1):
        owner[offset : offset + length] = group
        position[offset : offset + length] -= offset - start
        before[offset] = start - 1
        offset += length
    visible = ((owner[:, None] == owner) | (owner == 0)).tril()
    mask = torch.zeros(visible.shape, dtype=model.dtype).masked_fill(~visible, -torch.inf)
    ids = torch.tensor([[*prompt, *(token for completion in completions for token in completion)]])
    logits = model(
        input_ids=ids.to(model.device),
        position_ids=position[None].to(model.device),
        attention_mask=mask[None, None].to(model.device),
        use_cache=False,
        logits_to_keep=before[start:].to(model.device),
    ).logits[0]
    return list(_chosen(logits, ids[0, start:].to(model.device), temperature).split(lengths))


SHARED_PREFIX_FAMILIES = ("gemma", "gpt_neox", "llama", "qwen2", "qwen3")
"""The architectures on which `shared_prefix_logprobs` is tested to equal `padded_logprobs`."""


def can_share_prefix(model: Any) -> bool:
    """Whether the model is of a tested architecture, every layer attending to the whole past."""
    layers = set(getattr(model.config, "layer_types", None) or ["full_attention"])
    return model.config.model_type in SHARED_PREFIX_FAMILIES and layers == {"full_attention"}


def _chosen(logits: torch.Tensor, tokens: torch.Tensor, temperature: float) -> torch.Tensor:
    """The log-probability of each token under the logits beside it, in at least float32."""
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if temperature != 1.0:
        wide = wide / temperature
    return wide.log_softmax(-1).gather(-1, tokens[..., None])[..., 0]
