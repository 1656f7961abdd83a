"""The price of packed decoding in assumption (A2), as a number."""

import pytest

from promptdp.policy.decode import CompactModel
from promptdp.policy.lora import attach
from promptdp.policy.packed import packed_discrepancy
from tests.tiny import LORA, moved

PROMPTS = [[2, *range(start, start + 9), 3] for start in range(10, 60, 7)]


def discrepancy(base, prompts=PROMPTS, temperature=0.7):
    return packed_discrepancy(base, moved(attach(base, 1, **LORA)), prompts, 4, temperature, 8)


@pytest.mark.parametrize("family", ["qwen2", "llama", "gemma3"], indirect=True)
def test_company_changes_the_laws_of_tokens_by_rounding_alone(family):
    assert discrepancy(family) < 1e-4


@pytest.mark.parametrize("exact", ["qwen2", "llama", "gemma3"], indirect=True)
def test_in_binary64_the_rounding_is_of_binary64(exact):
    assert discrepancy(exact) < 1e-12


def test_prompts_that_share_no_batch_are_not_changed_at_all(tiny):
    assert discrepancy(tiny, [PROMPTS[0][:length] for length in range(3, 11)]) == 0.0


def test_a_coupling_of_records_is_seen(tiny, monkeypatch):
    """The double lets each row's logits lean on the mean of the batch."""
    forward = CompactModel.forward

    def coupled(self, ids, cache, rotation):
        logits = forward(self, ids, cache, rotation)
        return logits + 0.01 * logits.mean(0)

    monkeypatch.setattr(CompactModel, "forward", coupled)
    assert discrepancy(tiny) > 1e-2


def test_a_sharper_law_changes_more(tiny):
    assert discrepancy(tiny, temperature=0.07) > 5 * discrepancy(tiny, temperature=0.7) > 0
