"""Advantages of a group of completions, from that group's rewards alone (equation 2 and its variants)."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import numpy as np
import torch

REGULARISER = 1e-4
"""c of equation (2)."""


class Advantage(StrEnum):
    """Which advantages a GRPO arm uses; the variants take away one part of equation (2) at a time.

    Attributes:
        GROUP: equation (2).
        ZERO: none, the zero-advantage control (Section V).
        CENTRED: reward minus group mean, without the division by the standard deviation.
        POSITIVE: equation (2) where it is positive, else zero: nothing is pushed down.
        SHUFFLED: equation (2) under a uniform permutation within the group, from the record's own randomness.
    """

    GROUP = "group"
    ZERO = "zero"
    CENTRED = "centred"
    POSITIVE = "positive"
    SHUFFLED = "shuffled"


class Integers(Protocol):
    """A source of exactly uniform integers (`promptdp.privacy.randomness.Stream`)."""

    def integers_below(self, bound: int, count: int) -> np.ndarray:
        """`count` integers of [0, bound)."""
        ...


def advantages(kind: Advantage, rewards: Sequence[float], stream: Integers) -> torch.Tensor:
    """The advantage of each completion, float64 of shape (G,).

    Equal rewards give exactly zero, whatever the kind: rounding in the mean can't leave a residue that the
    division by c would blow up. `stream` is read by SHUFFLED alone.
    """
    values = torch.tensor(rewards, dtype=torch.float64)
    if kind is Advantage.ZERO or bool((values == values[0]).all()):
        return torch.zeros_like(values)
    centred = values - values.mean()
    if kind is Advantage.CENTRED:
        return centred
    normalised = centred / (values.std(correction=1) + REGULARISER)
    if kind is Advantage.POSITIVE:
        return normalised.clamp(min=0)
    if kind is Advantage.SHUFFLED:
        return normalised[_permutation(len(normalised), stream)]
    return normalised


def _permutation(size: int, stream: Integers) -> list[int]:
    """A uniform permutation, by Fisher and Yates's exchanges."""
    order = list(range(size))
    for last in range(size - 1, 0, -1):
        other = int(stream.integers_below(last + 1, 1)[0])
        order[last], order[other] = order[other], order[last]
    return order
