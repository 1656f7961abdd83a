"""The local engine: decoding in this process, over the very weights that are trained."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, Literal

import numpy as np
import torch
from transformers import GenerationConfig, LogitsProcessor

from promptdp.policy.base import Base
from promptdp.policy.decode import CompactModel
from promptdp.policy.engine import Completions, Uniforms
from promptdp.policy.lora import Adapter


class LocalEngine:
    """Decodes prompts of equal length together, or, in strict isolation, each prompt on its own.

    In strict isolation the shapes of all computations depend on one record and public numbers alone, so a
    record's completions are bit for bit the same in any company.
    """

    def __init__(self, base: Base, isolation: Literal["strict", "packed"], rows: int = 256):
        self._base, self._isolation, self._rows = base, isolation, rows
        self._decode = _compact if CompactModel.supports(base.model) else _general
        self._model: Any = None

    def serve(self, adapter: Adapter | None) -> None:
        """Answer with the adapter's present coordinates from now on, or with the base alone."""
        with torch.inference_mode():
            if self._decode is _compact:
                self._model = CompactModel(self._base.model, {} if adapter is None else adapter.deltas())
            else:
                self._model = self._base.model if adapter is None else adapter.model

    def generate(
        self,
        prompts: Sequence[Sequence[int]],
        samples: int,
        temperature: float,
        cap: int,
        streams: Sequence[Uniforms] | None = None,
    ) -> list[Completions]:
        """See `Engine.generate`."""

        def choice(places: Sequence[int]) -> Choice:
            if temperature == 0:
                return _most_likely
            if streams is None:
                raise ValueError("sampling needs the stream of each prompt")
            drawn = [streams[place].uniforms(cap * samples).reshape(cap, samples) for place in places]
            return _inverse_cdf(np.concatenate(drawn, axis=1), temperature)

        return self.decode(prompts, samples, cap, choice)

    def decode(
        self,
        prompts: Sequence[Sequence[int]],
        samples: int,
        cap: int,
        choice: "Callable[[Sequence[int]], Choice]",
    ) -> list[Completions]:
        """Completions of each prompt, whose tokens `choice` picks.

        Args:
            prompts: token ids of each prompt.
            samples: completions per prompt.
            cap: the most tokens of a completion.
            choice: what picks the tokens of the prompts at these places, which are decoded together; the rows
                it is given hold `samples` completions of the first of them, then of the next.
        """
        completions: list[Completions] = [[] for _ in prompts]
        for places in self._batches(prompts, samples):
            rows = torch.tensor([list(prompts[place]) for place in places], device=self._base.model.device)
            choose = choice(places)
            with torch.inference_mode():
                tokens = self._decode(self._model, rows, samples, cap, self._base.stop_ids, choose)
            for index, place in enumerate(places):
                group = tokens[index * samples : (index + 1) * samples]
                completions[place] = [] if any(NOT_A_NUMBER in row for row in group) else group
        return completions

    def _batches(self, prompts: Sequence[Sequence[int]], samples: int) -> Iterator[list[int]]:
        """Which prompts are decoded together, as their places in the list."""
        if self._isolation == "strict":
            yield from ([place] for place in range(len(prompts)))
            return
        by_length = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))
        size = max(1, self._rows // samples)
        for _, group in groupby(by_length, key=lambda place: len(prompts[place])):
            places = list(group)
            yield from (places[start : start + size] for start in range(0, len(places), size))


NOT_A_NUMBER = -1
"""Stands for the token of a row whose probabilities were not numbers."""

Choice = Callable[[torch.Tensor, int, torch.Tensor], torch.Tensor]
"""Maps logits (rows, vocabulary), the step and the rows' places in the whole batch to tokens (rows,)."""


def _most_likely(logits: torch.Tensor, step: int, rows: torch.Tensor) -> torch.Tensor:
    return torch.where(logits.isnan().any(-1), NOT_A_NUMBER, logits.argmax(-1))


def _inverse_cdf(uniforms: np.ndarray, temperature: float) -> Choice:
    """Sampling from softmax(logits / temperature) with the uniforms (cap, rows), in float64."""
    drawn = torch.from_numpy(uniforms)

    def choose(logits: torch.Tensor, step: int, rows: torch.Tensor) -> torch.Tensor:
        mass = (logits.double() / temperature).softmax(-1).cumsum(-1)
        total = mass[:, -1:]
        target = drawn[step].to(logits.device)[rows, None] * total
        tokens = torch.searchsorted(mass, target, right=True)
        return torch.where(total.isnan(), NOT_A_NUMBER, tokens)[:, 0]

    return choose


def _compact(
    model: CompactModel, prompts: torch.Tensor, samples: int, cap: int, stops: frozenset[int], choose: Choice
) -> list[list[int]]:
    """Decode with the compact model; rows that have ended leave the batch once they are half of it."""
    count, length = prompts.shape
    rotation = model.rotation(length + cap)
    cache = model.cache(count, length + cap)
    logits = model.forward(prompts, cache, rotation)
    rows = torch.arange(count * samples, device=prompts.device)
    logits, cache = logits[rows // samples], cache.rows(rows // samples)
    completions: list[list[int]] = [[] for _ in rows]
    ended = [False] * len(completions)
    for step in range(cap):
        tokens = choose(logits, step, rows)
        for row, token in zip(rows.tolist(), tokens.tolist(), strict=True):
            if not ended[row]:
                completions[row].append(token)
                ended[row] = token in stops or token == NOT_A_NUMBER
        living = [place for place, row in enumerate(rows.tolist()) if not ended[row]]
        if not living or step == cap - 1:
            break
        if 2 * len(living) <= len(rows):
            index = torch.tensor(living, device=rows.device)
            rows, tokens, cache = rows[index], tokens[index], cache.rows(index)
        logits = model.forward(tokens.clamp(min=0)[:, None], cache, rotation)
    return completions


class _Chooser(LogitsProcessor):
    """Leaves `generate` no choice but the token that was chosen."""

    def __init__(self, choose: Choice, prompt_tokens: int):
        self._choose, self._prompt_tokens = choose, prompt_tokens
        self.bad: set[int] = set()

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        rows = torch.arange(len(scores), device=scores.device)
        tokens = self._choose(scores, input_ids.shape[1] - self._prompt_tokens, rows)
        self.bad.update(rows[tokens == NOT_A_NUMBER].tolist())
        forced = torch.full_like(scores, -torch.inf)
        return forced.scatter_(-1, tokens.clamp(min=0)[:, None], 0.0)


def _general(
    model: Any, prompts: torch.Tensor, samples: int, cap: int, stops: frozenset[int], choose: Choice
) -> list[list[int]]:
    """Decode any causal language model through transformers' `generate`, every sampling field explicit."""
    length = prompts.shape[1]
    chooser = _Chooser(choose, length)
    settings = GenerationConfig(
        max_new_tokens=cap,
        do_sample=False,
        num_beams=1,
        repetition_penalty=1.0,
        eos_token_id=sorted(stops),
        pad_token_id=min(stops),
    )
    inputs = prompts.repeat_interleave(samples, dim=0)
    output = model.generate(
        input_ids=inputs,
        attention_mask=torch.ones_like(inputs),
        generation_config=settings,
        logits_processor=[chooser],
    )
    completions = [_until_stop(row, stops) for row in output[:, length:].tolist()]
    return [[NOT_A_NUMBER] if row in chooser.bad else ids for row, ids in enumerate(completions)]


def _until_stop(ids: list[int], stops: frozenset[int]) -> list[int]:
    end = next((place + 1 for place, token in enumerate(ids) if token in stops), len(ids))
    return ids[:end]
