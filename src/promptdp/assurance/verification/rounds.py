"""The production round with known parts around it: given gradients, or eyes on what a record contributed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch

from promptdp.policy.engine import Completions
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Randomness, Stream
from promptdp.records.record import Record
from promptdp.records.slots import Slots
from promptdp.training.descent import Descent
from promptdp.training.objectives import RecordObjective
from promptdp.training.rollouts import Rollouts
from promptdp.training.round import private_round

DELTA = 1e-6
"""Of mechanisms that are run and not accounted."""


class _Kept(Descent):
    """A descent that stays where it is and keeps the mean it was given."""

    def __init__(self, coordinates: int):
        self._coordinates = coordinates
        self.mean: torch.Tensor | None = None

    @property
    def coordinates(self) -> int:
        return self._coordinates

    def step(self, noisy_mean: torch.Tensor) -> None:
        self.mean = noisy_mean


class NoRollouts(Rollouts):
    """For objectives that sample nothing: such a draw needs neither policy nor engine."""

    def __init__(self) -> None:
        pass


@dataclass
class Known:
    """An objective whose gradients are given, by the id of the record."""

    gradients: Mapping[str, torch.Tensor]
    rollouts_from: None = None

    def gradient(self, record: Record, rollouts: Completions, stream: Stream) -> torch.Tensor | None:
        """See `RecordObjective.gradient`."""
        return self.gradients[record.id]


@dataclass
class Witness:
    """An objective that keeps the completions and the gradient of each record, by its id."""

    inner: RecordObjective
    seen: dict[str, tuple[Completions, torch.Tensor | None]] = field(default_factory=dict)

    @property
    def rollouts_from(self) -> Literal["policy", "reference"] | None:
        """As the objective inside."""
        return self.inner.rollouts_from

    def gradient(self, record: Record, rollouts: Completions, stream: Stream) -> torch.Tensor | None:
        """See `RecordObjective.gradient`."""
        gradient = self.inner.gradient(record, rollouts, stream)
        self.seen[record.id] = (rollouts, gradient)
        return gradient


def everyone(slots: int, clipping_norm: float) -> Mechanism:
    """A mechanism that draws every slot and adds no noise."""
    return Mechanism(slots, slots, 1, 0.0, clipping_norm, DELTA)


def mean_of_round(
    mechanism: Mechanism,
    contents: Sequence[Record | None],
    objective: RecordObjective,
    coordinates: int,
    rollouts: Rollouts | None = None,
    randomness: Randomness | None = None,
    t: int = 1,
    attempt: int = 1,
) -> torch.Tensor:
    """What one production round hands to the optimizer, shape (coordinates,).

    Args:
        mechanism: the mechanism.
        contents: what the slots hold, the first ones at least; the others are absent.
        objective: lines 5 and 6.
        coordinates: p.
        rollouts: line 4; None for an objective that samples nothing.
        randomness: None for the fixed source.
        t: the round.
        attempt: the attempt.
    """
    slots = Slots([*contents, *[None] * (mechanism.slots - len(contents))])
    randomness = randomness or Randomness.seeded(1)
    kept = _Kept(coordinates)
    private_round(t, attempt, mechanism, slots, randomness, rollouts or NoRollouts(), objective, kept)
    assert kept.mean is not None, "the mean was not finite"
    return kept.mean


def clipped_sum(gradients: Sequence[torch.Tensor], slots: int, clipping_norm: float) -> torch.Tensor:
    """The sum that the production round makes of these gradients, one record each, without noise."""
    records = [Record(id=str(place), question="-", answer="-") for place in range(len(gradients))]
    known = Known({record.id: gradient for record, gradient in zip(records, gradients, strict=True)})
    return mean_of_round(everyone(slots, clipping_norm), records, known, len(gradients[0])) * slots
