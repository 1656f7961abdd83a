"""What every rollout engine does: token ids in, token ids out."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from promptdp.policy.lora import Adapter

Completions = list[list[int]]
"""The completions of one prompt: token ids up to and including the first stop id, at most `cap` of them."""


class Uniforms(Protocol):
    """A source of fresh random numbers that belongs to one record (`promptdp.privacy.randomness.Stream`)."""

    def uniforms(self, count: int) -> np.ndarray:
        """The next `count` numbers of [0, 1), float64."""
        ...


class Engine(Protocol):
    """Generates completions; the weights it serves are always stated, never remembered from a file name."""

    def serve(self, adapter: Adapter | None) -> None:
        """Answer with these weights from now on: the adapter's present coordinates, or the base alone."""
        ...

    def generate(
        self,
        prompts: Sequence[Sequence[int]],
        samples: int,
        temperature: float,
        cap: int,
        streams: Sequence[Uniforms] | None = None,
    ) -> list[Completions]:
        """Sample completions of each prompt from softmax(logits / temperature), nothing else applied.

        Args:
            prompts: token ids of each prompt.
            samples: completions per prompt, G.
            temperature: tau; 0 takes the most likely token (then `streams` is not read).
            cap: the most tokens of a completion, its stop token included.
            streams: the randomness of each prompt, one uniform per token.

        Returns:
            for each prompt its completions, or an empty list where the model's output was not a number.
        """
        ...
