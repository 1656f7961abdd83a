"""How far packed decoding is from strict isolation: what assumption (A2) lacks there, as a number."""

from collections.abc import Sequence

import torch

from promptdp.policy.base import Base
from promptdp.policy.local import Choice, LocalEngine
from promptdp.policy.lora import Adapter


def packed_discrepancy(
    base: Base,
    adapter: Adapter | None,
    prompts: Sequence[Sequence[int]],
    samples: int,
    temperature: float,
    cap: int,
    rows: int = 256,
) -> float:
    """The largest change of a next token's log-probability when its record shares a batch, in nats.

    Every prompt is decoded alone, along its most likely tokens, and then along the same tokens beside the
    prompts of its length. Where the result is d, company changes the probability of a token by a factor of
    at most exp(d) on these prompts, and that of a group of completions by at most exp(d * samples * cap).

    Args:
        base: the public model.
        adapter: what is trained, or None for the base alone.
        prompts: token ids of PUBLIC prompts; those of equal length share a batch.
        samples: completions per prompt.
        temperature: tau > 0, of the laws that are compared.
        cap: the most tokens of a completion.
        rows: the most sequences of a packed batch.
    """
    alone: dict[tuple[int, int], torch.Tensor] = {}
    largest = 0.0

    def choice(places: Sequence[int]) -> Choice:
        def choose(logits: torch.Tensor, step: int, rows: torch.Tensor) -> torch.Tensor:
            nonlocal largest
            tokens = []
            for row, law in zip(rows.tolist(), (logits.double() / temperature).log_softmax(-1), strict=True):
                first = alone.setdefault((places[row // samples], step), law)
                largest = max(largest, float((law - first).abs().max()))
                tokens.append(first.argmax())
            return torch.stack(tokens)

        return choose

    for isolation in ("strict", "packed"):
        engine = LocalEngine(base, isolation, rows)
        engine.serve(adapter)
        engine.decode(prompts, samples, cap, choice)
    return largest
