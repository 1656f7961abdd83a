"""The local engine: the right law, the right tokens, and each record on its own."""

import json

import numpy as np
import pytest
import torch
from transformers import GenerationConfig, GenerationMixin

from promptdp.policy import local
from promptdp.policy.base import load_base
from promptdp.policy.decode import CompactModel
from promptdp.policy.local import LocalEngine
from promptdp.policy.lora import attach
from promptdp.privacy.randomness import Randomness
from tests.tiny import LORA, moved, write_tiny_base

PROMPTS = [[2, 40, 41, 42, 3], [2, 50, 3], [2, 60, 61, 62, 3], [2, *range(10, 30), 3]]
CAP = 12


def engine_of(base, adapter=None, isolation="strict"):
    engine = LocalEngine(base, isolation)
    engine.serve(adapter)
    return engine


def streams(count, seed=3):
    randomness = Randomness.seeded(seed)
    return [randomness.stream(1, "rollout", slot) for slot in range(count)]


def original_greedy(model, stops, prompt):
    settings = GenerationConfig(
        max_new_tokens=CAP, do_sample=False, eos_token_id=sorted(stops), pad_token_id=0
    )
    ids = torch.tensor([prompt])
    return model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=settings)[
        0, len(prompt) :
    ].tolist()


@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("isolation", ["strict", "packed"])
def test_greedy_decoding_gives_the_tokens_of_transformers(family, trained, isolation):
    targets = ("query_key_value",) if family.model.config.model_type == "gpt_neox" else LORA["targets"]
    adapter = moved(attach(family, 1, **LORA | {"targets": targets})) if trained else None
    model = adapter.model if trained else family.model
    answers = engine_of(family, adapter, isolation).generate(PROMPTS, 1, 0, CAP)
    assert answers == [[original_greedy(model, family.stop_ids, prompt)] for prompt in PROMPTS]


def test_the_compact_pass_serves_its_family_and_no_other(family):
    assert CompactModel.supports(family.model) == (family.model.config.model_type in ("qwen2", "llama"))


def test_greedy_decoding_takes_the_most_likely_token_of_the_whole_text_so_far(family):
    """Without a cache: a rotated or a sliding cache must not move a token."""
    ((ids,),) = engine_of(family).generate(PROMPTS[3:], 1, 0, CAP)
    text = [*PROMPTS[3], *ids]
    with torch.no_grad():
        best = family.model(torch.tensor([text])).logits[0].argmax(-1)
    assert ids == best[len(PROMPTS[3]) - 1 : -1].tolist()


@pytest.mark.parametrize("family", ["qwen2", "llama"], indirect=True)
def test_compact_logits_equal_those_of_transformers(family):
    adapter = moved(attach(family, 1, **LORA))
    compact = CompactModel(family.model, adapter.deltas())
    ids = torch.tensor([PROMPTS[3], PROMPTS[3][::-1]])
    cache, rotation = compact.cache(2, ids.shape[1]), compact.rotation(ids.shape[1])
    with torch.no_grad():
        steps = [compact.forward(ids[:, :10], cache, rotation)]
        steps += [compact.forward(ids[:, [place]], cache, rotation) for place in range(10, ids.shape[1])]
        expected = adapter.model(ids).logits[:, 9:]
    torch.testing.assert_close(torch.stack(steps, 1), expected, rtol=1e-4, atol=1e-4)


def test_both_decoders_sample_the_same_tokens_from_the_same_stream(tiny, monkeypatch):
    compact = engine_of(tiny).generate(PROMPTS, 5, 0.7, CAP, streams(4))
    monkeypatch.setattr(CompactModel, "supports", staticmethod(lambda model: False))
    assert engine_of(tiny).generate(PROMPTS, 5, 0.7, CAP, streams(4)) == compact


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_sampling_follows_the_softmax_at_the_temperature(temperature):
    logits = torch.tensor([[1.0, -2.0, 0.5, 3.0, -torch.inf]])
    grid = (np.arange(20_000) + 0.5)[:, None] / 20_000
    choose = local._inverse_cdf(grid, temperature)
    chosen = torch.cat([choose(logits, step, torch.tensor([0])) for step in range(len(grid))])
    share = torch.bincount(chosen, minlength=5) / len(grid)
    torch.testing.assert_close(share, (logits[0] / temperature).softmax(-1), rtol=0, atol=1e-4)


class Alike:
    """The fault of workers with one seed: every number comes several times."""

    def __init__(self, stream, times):
        self._stream, self._times = stream, times

    def uniforms(self, count):
        return self._stream.uniforms(count // self._times).repeat(self._times)


def test_completions_of_one_prompt_are_independent_draws(tiny):
    with torch.no_grad():
        law = tiny.model(torch.tensor(PROMPTS[:1])).logits[0, -1].softmax(-1)
    # The share of equal pairs has mean sum p^2; pairs share rows, so the bound is a wide one.
    expected = float((law**2).sum())

    def surplus(stream):
        (group,) = engine_of(tiny).generate(PROMPTS[:1], 64, 1.0, 1, [stream])
        equal = np.mean([a == b for i, a in enumerate(group) for b in group[:i]])
        return abs(equal - expected) / (expected / 2016) ** 0.5

    assert surplus(streams(1)[0]) < 12
    assert surplus(Alike(streams(1)[0], 64)) > 12
    (group,) = engine_of(tiny).generate(PROMPTS[:1], 64, 1.5, CAP, streams(1))
    (twins,) = engine_of(tiny).generate(PROMPTS[:1], 64, 1.5, CAP, [Alike(streams(1)[0], 2)])
    assert len(set(map(tuple, twins))) <= 32 < 60 < len(set(map(tuple, group)))


def test_completions_end_with_their_first_stop_token_or_at_the_cap(tiny):
    groups = engine_of(tiny).generate(PROMPTS, 40, 3.0, CAP, streams(4))
    rows = [row for group in groups for row in group]
    ended = [row for row in rows if len(row) < CAP]
    assert {row[-1] for row in ended} == {0, 1}
    assert all(token > 1 for row in rows for token in row[:-1])
    assert max(map(len, rows)) == CAP


def test_in_strict_isolation_a_record_gets_the_same_tokens_in_any_company(tiny):
    adapter = moved(attach(tiny, 1, **LORA))
    alone = [
        engine_of(tiny, adapter).generate([prompt], 8, 0.7, CAP, [stream])[0]
        for prompt, stream in zip(PROMPTS, streams(4), strict=True)
    ]
    engine = engine_of(tiny, adapter)
    assert engine.generate(PROMPTS, 8, 0.7, CAP, streams(4)) == alone
    assert engine.generate(PROMPTS[::-1], 8, 0.7, CAP, streams(4)[::-1]) == alone[::-1]


def test_in_strict_isolation_every_computation_has_one_record(tiny, monkeypatch):
    seen = []
    forward = CompactModel.forward

    def spy(self, ids, cache, rotation):
        seen.append(tuple(ids.shape))
        return forward(self, ids, cache, rotation)

    monkeypatch.setattr(CompactModel, "forward", spy)
    engine_of(tiny).generate(PROMPTS, 4, 0.7, CAP, streams(4))
    prefills = [shape for shape in seen if shape[1] > 1]
    assert prefills == [(1, len(prompt)) for prompt in PROMPTS]
    assert max(rows for rows, _ in seen) == 4


def test_packed_records_share_batches(tiny, monkeypatch):
    rows = []
    forward = CompactModel.forward
    monkeypatch.setattr(
        CompactModel, "forward", lambda self, ids, *rest: rows.append(len(ids)) or forward(self, ids, *rest)
    )
    engine_of(tiny, isolation="packed").generate(PROMPTS, 4, 0.7, CAP, streams(4))
    assert max(rows) == 8


def test_the_engine_answers_with_the_coordinates_it_was_last_given(tiny):
    adapter = attach(tiny, 1, **LORA)
    engine = engine_of(tiny, adapter)
    before = engine.generate(PROMPTS, 1, 0, CAP)
    moved(adapter, scale=1.0)
    assert engine.generate(PROMPTS, 1, 0, CAP) == before
    engine.serve(adapter)
    assert engine.generate(PROMPTS, 1, 0, CAP) != before
    engine.serve(None)
    assert engine.generate(PROMPTS, 1, 0, CAP) == before


@pytest.mark.parametrize("compact", [True, False])
def test_logits_that_are_not_numbers_cost_that_record_its_completions_and_no_other(
    tmp_path, monkeypatch, compact
):
    base = load_base(write_tiny_base(tmp_path / "base"))
    if not compact:
        monkeypatch.setattr(CompactModel, "supports", staticmethod(lambda model: False))
    with torch.no_grad():
        base.model.model.embed_tokens.weight[50] = torch.nan
        base.model.lm_head.weight = torch.nn.Parameter(base.model.lm_head.weight.nan_to_num())
    groups = engine_of(base).generate(PROMPTS, 3, 0.7, CAP, streams(4))
    assert [len(group) for group in groups] == [3, 0, 3, 3]


SHIPPED = {
    "do_sample": True,
    "temperature": 0.1,
    "top_k": 2,
    "top_p": 0.5,
    "min_p": 0.2,
    "repetition_penalty": 1.9,
    "no_repeat_ngram_size": 1,
}


@pytest.fixture
def penalised(tmp_path):
    """A base that ships sampling settings of its own, as instruction-tuned models do."""
    folder = write_tiny_base(tmp_path / "base")
    path = folder / "generation_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | SHIPPED))
    return load_base(folder)


@pytest.mark.parametrize("temperature", [1.5, 0.0])
@pytest.mark.parametrize("compact", [True, False])
def test_the_models_own_sampling_settings_do_not_leak_into_rollouts_nor_evaluation(
    tiny, penalised, monkeypatch, temperature, compact
):
    if not compact:
        monkeypatch.setattr(CompactModel, "supports", staticmethod(lambda model: False))
    answers = [
        engine_of(base).generate(PROMPTS, 4, temperature, CAP, streams(4)) for base in (tiny, penalised)
    ]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("temperature", [0.7, 0.0])
def test_nothing_but_our_choice_acts_on_the_logits_inside_transformers(penalised, monkeypatch, temperature):
    monkeypatch.setattr(CompactModel, "supports", staticmethod(lambda model: False))
    seen = []
    sample = GenerationMixin._sample

    def spy(self, input_ids, logits_processor, stopping_criteria, generation_config, **rest):
        seen.append(([type(processor) for processor in logits_processor], generation_config))
        return sample(self, input_ids, logits_processor, stopping_criteria, generation_config, **rest)

    monkeypatch.setattr(GenerationMixin, "_sample", spy)
    engine_of(penalised).generate(PROMPTS[:1], 4, temperature, CAP, streams(1))
    ((processors, effective),) = seen
    assert processors == [local._Chooser]
    assert not effective.do_sample, "transformers would draw from the process's generator"
    assert (effective.num_beams, effective.repetition_penalty) == (1, 1.0)


def test_sampling_without_streams_is_refused(tiny):
    with pytest.raises(ValueError, match="stream"):
        engine_of(tiny).generate(PROMPTS, 1, 0.7, CAP)
