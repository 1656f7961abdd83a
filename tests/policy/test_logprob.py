"""Log-probabilities of completions: two layouts, one result."""

import pytest
import torch

from promptdp.policy.logprob import can_share_prefix, padded_logprobs, shared_prefix_logprobs
from promptdp.policy.lora import attach
from tests.tiny import LORA, moved, tokens

WAYS = [padded_logprobs, shared_prefix_logprobs]
PROMPT = [2, 40, 41, 42, 43, 3]
COMPLETIONS = [*tokens("ab", "the+long=one"), [9] * 7, [0]]


def one_by_one(model, prompt, completions, temperature=1.0):
    """The definition: each completion alone, no padding, one token's logits at a time."""
    result = []
    for completion in completions:
        logits = model(torch.tensor([[*prompt, *completion]])).logits[0] / temperature
        rows = logits[len(prompt) - 1 : -1].log_softmax(-1)
        result.append(torch.stack([row[token] for row, token in zip(rows, completion, strict=True)]))
    return result


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_each_way_gives_the_definition_on_every_architecture(family, way, temperature):
    got = torch.cat(way(family.model, PROMPT, COMPLETIONS, temperature))
    want = torch.cat(one_by_one(family.model, PROMPT, COMPLETIONS, temperature))
    if way is padded_logprobs or can_share_prefix(family.model):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
    else:
        assert family.model.config.model_type == "gemma3_text"
        assert (got - want).abs().max() > 1e-3, "its window could be shared after all"


@pytest.mark.parametrize(
    ("exact", "way"),
    [(name, padded_logprobs) for name in ("qwen2", "llama", "gemma3")]
    + [(name, shared_prefix_logprobs) for name in ("qwen2", "llama")],
    indirect=["exact"],
)
def test_a_completion_scores_the_same_alone_and_in_a_ragged_chunk_of_eight(exact, way):
    chunk = [*COMPLETIONS, *tokens("x"), [9] * 20, *tokens("yes,+it+is", "no")]
    together = way(exact.model, PROMPT, chunk)
    for completion, got in zip(chunk, together, strict=True):
        alone = way(exact.model, PROMPT, [completion])[0]
        torch.testing.assert_close(got, alone, rtol=1e-10, atol=1e-10)


def test_both_ways_give_the_same_gradient(exact):
    adapter = moved(attach(exact, 1, **LORA))
    first, second = (
        adapter.gradient(sum(u.mean() for u in way(adapter.model, PROMPT, COMPLETIONS))) for way in WAYS
    )
    assert first.dtype == torch.float64 and first.norm() > 0
    torch.testing.assert_close(first, second, rtol=1e-10, atol=1e-12)


def test_both_ways_give_the_same_gradient_in_float32(tiny):
    adapter = moved(attach(tiny, 1, **LORA))
    first, second = (
        adapter.gradient(sum(u.mean() for u in way(adapter.model, PROMPT, COMPLETIONS))) for way in WAYS
    )
    assert (first - second).norm() <= 1e-5 * first.norm()


@pytest.mark.parametrize("way", WAYS)
def test_the_stop_token_counts_even_where_it_is_the_padding_token_too(tiny, way):
    assert tiny.tokenizer.pad_token_id == tiny.tokenizer.eos_token_id == 0
    assert [len(u) for u in way(tiny.model, PROMPT, COMPLETIONS)] == [3, 13, 7, 1]


def test_half_precision_is_scored_in_float32(tiny_folder):
    from promptdp.policy.base import load_base

    half = load_base(tiny_folder, "bfloat16")
    for way in WAYS:
        assert {u.dtype for u in way(half.model, PROMPT, COMPLETIONS)} == {torch.float32}


def test_every_tested_architecture_shares_prefixes_unless_a_window_slides(family):
    config = family.model.config
    slides = config.model_type == "gemma3_text"
    assert can_share_prefix(family.model) == (not slides)
    kinds = getattr(config, "layer_types", None)
    config.layer_types = ["sliding_attention", "full_attention"]
    try:
        assert not can_share_prefix(family.model)
    finally:
        config.layer_types = kinds
