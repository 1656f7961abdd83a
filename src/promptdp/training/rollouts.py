"""Line 4 of Algorithm 1: the completions of the drawn records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from promptdp.policy.engine import Completions, Engine
from promptdp.privacy.randomness import Stream
from promptdp.records.record import Record
from promptdp.training.failures import of_record
from promptdp.training.objectives import Policy


@dataclass(frozen=True)
class Rollouts:
    """Samples G completions a record from the policy under training or from the public reference.

    Attributes:
        policy: the model, and the prompts it gives to records.
        engine: what decodes.
        samples: G.
        temperature: tau.
        cap: the most tokens of a completion.
        isolation: whether each record is a request of its own, or all of a round are one.
    """

    policy: Policy
    engine: Engine
    samples: int
    temperature: float
    cap: int
    isolation: Literal["strict", "packed"]

    def draw(
        self,
        source: Literal["policy", "reference"] | None,
        batch: Mapping[int, Record],
        stream_of: Callable[[int], Stream],
    ) -> dict[int, Completions]:
        """The completions of each record of `batch` (by slot), each from that record's own stream.

        They are empty where the source is None, where there is no prompt or it leaves no room for a
        completion, where the model's output is not a number, and, in strict isolation, where decoding fails
        by the record's fault: rules that read that record alone.
        """
        rollouts: dict[int, Completions] = {slot: [] for slot in batch}
        if source is None:
            return rollouts
        prompts = {slot: of_record(self.policy.prompt, record) for slot, record in batch.items()}
        fitting = {i: ids for i, ids in prompts.items() if ids and self.policy.base.fits(ids, self.cap)}
        self.serve(source)
        if self.isolation == "packed":
            streams = [stream_of(slot) for slot in fitting]
            return rollouts | dict(zip(fitting, self.sample(list(fitting.values()), streams), strict=True))
        for slot, ids in fitting.items():
            (rollouts[slot],) = of_record(self.sample, [ids], [stream_of(slot)]) or [[]]
        return rollouts

    def serve(self, source: Literal["policy", "reference"]) -> None:
        """Sample from the policy's present coordinates from now on, or from the reference."""
        self.engine.serve(self.policy.adapter if source == "policy" else None)

    def sample(self, prompts: Sequence[Sequence[int]], streams: Sequence[Stream]) -> list[Completions]:
        """G completions of each prompt, from a stream each; what fails is raised."""
        return self.engine.generate(prompts, self.samples, self.temperature, self.cap, streams)
