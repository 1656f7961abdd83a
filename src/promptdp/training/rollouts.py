"""Line 4 of Algorithm 1: the completions of the drawn records."""

from collections.abc import Callable, Mapping
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
    """

    policy: Policy
    engine: Engine
    samples: int
    temperature: float
    cap: int

    def draw(
        self,
        source: Literal["policy", "reference"] | None,
        batch: Mapping[int, Record],
        stream_of: Callable[[int], Stream],
    ) -> dict[int, Completions]:
        """The completions of each record of `batch` (by slot), each from that record's own stream.

        They are empty where the source is None, where there is no prompt or it leaves no room for a
        completion, and where the model's output is not a number: rules that read that record alone.
        """
        rollouts: dict[int, Completions] = {slot: [] for slot in batch}
        if source is None:
            return rollouts
        prompts = {slot: of_record(self.policy.prompt, record) for slot, record in batch.items()}
        fitting = {i: ids for i, ids in prompts.items() if ids and self.policy.base.fits(ids, self.cap)}
        self.engine.serve(self.policy.adapter if source == "policy" else None)
        completions = self.engine.generate(
            list(fitting.values()),
            self.samples,
            self.temperature,
            self.cap,
            [stream_of(slot) for slot in fitting],
        )
        return rollouts | dict(zip(fitting, completions, strict=True))
