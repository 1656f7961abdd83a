"""What is examined: a study's training methods on a copy of its public base, with public records.

The adapter is moved away from theta_1, where B = 0 makes the penalty's gradient and half of all others zero.
Rewards are those of the study's own verifier, flipped on responses of odd length: groups then hold both
rewards whatever the base can do, and the verifier still runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import torch

from promptdp.errors import InputError
from promptdp.policy.base import Base
from promptdp.policy.engine import Completions
from promptdp.policy.local import LocalEngine
from promptdp.policy.lora import attach
from promptdp.privacy.randomness import Randomness
from promptdp.records.record import Record
from promptdp.records.worlds import WORLDS, draw
from promptdp.study import Study
from promptdp.training.methods import training_method
from promptdp.training.objectives import Policy, RecordObjective, Reward
from promptdp.training.rollouts import Rollouts

PAPERS_PENALTY = 0.04
"""beta where the study has none: a group with equal rewards would have no gradient to examine."""
MOVED_BY = 0.02
"""The standard deviation by which each coordinate is moved from theta_1."""
DRAWN, LEAST = 200, 12
"""Public problems to choose from, and how many must fit the model's context."""


@dataclass
class MixedReward:
    """A verifier's verdict, flipped on responses of odd length, and once more while `inverted`."""

    verifier: Reward
    inverted: bool = False

    def __call__(self, *, response: str, reference: str, capped: bool) -> float | None:
        """See `Reward`."""
        verdict = self.verifier(response=response, reference=reference, capped=capped)
        return None if verdict is None else float((verdict > 0) ^ (len(response) % 2 > 0) ^ self.inverted)


@dataclass(frozen=True)
class Example:
    """A public record with its completions and its gradient, not clipped and not zero."""

    slot: int
    record: Record
    completions: Completions
    gradient: torch.Tensor


@dataclass(frozen=True)
class Trial:
    """A training method on one benchmark, ready to compute gradients.

    Attributes:
        benchmark: the benchmark whose settings are used.
        policy: the base with an adapter away from theta_1.
        rollouts: the study's sampling, in the local engine.
        objective: the method.
        reward: the mixed reward that it uses; None where it uses none.
        records: public problems that fit the model's context, the shortest prompt first.
    """

    benchmark: str
    policy: Policy
    rollouts: Rollouts
    objective: RecordObjective
    reward: MixedReward | None
    records: tuple[Record, ...]

    def completions(self, slot: int, record: Record) -> Completions:
        """The record's completions in round 1 of the fixed source."""
        source = Randomness.seeded(1)
        drawn = self.rollouts.draw(
            self.objective.rollouts_from, {slot: record}, lambda i: source.stream(1, "rollout", i)
        )
        return drawn[slot]

    def gradient(self, slot: int, record: Record, completions: Completions) -> torch.Tensor | None:
        """The record's gradient with randomness of round 1 of the fixed source, not clipped."""
        return self.objective.gradient(record, completions, Randomness.seeded(1).stream(1, "gradient", slot))

    def gradient_of(self, example: Example) -> torch.Tensor | None:
        """The gradient of an example, computed again."""
        return self.gradient(example.slot, example.record, example.completions)

    def examples(self, count: int) -> list[Example]:
        """The first `count` records whose gradient is not zero.

        Raises:
            InputError: there are fewer.
        """
        found: list[Example] = []
        for slot, record in enumerate(self.records):
            completions = self.completions(slot, record)
            gradient = self.gradient(slot, record, completions)
            if gradient is not None and gradient.any():
                found.append(Example(slot, record, completions, gradient))
            if len(found) == count:
                return found
        raise InputError(
            f"{self.benchmark}: fewer than {count} public records have a gradient to examine on this base; "
            "see that its responses are not all alike"
        )

    def with_chunk(self, chunk: int | None) -> "Trial":
        """The same with that many completions in a backward pass."""
        policy = replace(self.policy, chunk=chunk)
        method: Any = self.objective
        return replace(self, policy=policy, objective=replace(method, policy=policy))

    def with_samples(self, samples: int) -> "Trial":
        """The same with that many completions a record."""
        return replace(self, rollouts=replace(self.rollouts, samples=samples))


@dataclass(frozen=True)
class Subject:
    """A study on one copy of its base, in one number format."""

    study: Study
    base: Base

    @cached_property
    def _records(self) -> dict[str, tuple[Record, ...]]:
        return {name: self._fitting(name) for name in self.study.benchmarks}

    def methods(self) -> Iterator[tuple[str, str, list[str]]]:
        """Every (objective, advantage) of the study's arms, with the benchmarks it runs on."""
        found: dict[tuple[str, str], dict[str, None]] = {}
        for benchmark, arm, _ in self.study.runs():
            spec = self.study.arms[arm]
            advantage = spec.advantage if spec.objective == "grpo" else ""
            found.setdefault((spec.objective, advantage), {})[benchmark] = None
        return ((objective, advantage, list(names)) for (objective, advantage), names in found.items())

    def trial(
        self,
        benchmark: str,
        objective: str = "grpo",
        advantage: str = "group",
        isolation: Literal["strict", "packed"] = "strict",
        dropout: float | None = None,
    ) -> Trial:
        """A method on a benchmark, with an adapter of its own; `dropout` replaces the study's."""
        lora = self.study.lora.model_dump() | ({} if dropout is None else {"dropout": dropout})
        adapter = attach(self.base, 1, **lora)
        generator = torch.Generator().manual_seed(1)
        step = torch.randn(adapter.coordinates, generator=generator, dtype=torch.float64)
        adapter.assign(adapter.theta + MOVED_BY * step.to(adapter.theta))
        settings, bench = self.study.rollouts, self.study.benchmarks[benchmark]
        policy = Policy(self.base, adapter, bench.prompt, settings.logprob_temperature)
        kl_weight = settings.kl_weight or PAPERS_PENALTY
        method: Any = training_method(objective, advantage or "group", bench.reward, kl_weight, policy)
        reward = MixedReward(method.reward) if hasattr(method, "reward") else None
        return Trial(
            benchmark=benchmark,
            policy=policy,
            rollouts=Rollouts(
                policy,
                LocalEngine(self.base, isolation),
                settings.samples,
                settings.temperature,
                bench.cap,
                isolation,
            ),
            objective=method if reward is None else replace(method, reward=reward),
            reward=reward,
            records=self._records[benchmark],
        )

    def tensor_sizes(self) -> list[int]:
        """The number of coordinates of each tensor of the adapter, in their order."""
        trial = self.trial(next(iter(self.study.benchmarks)))
        return [parameter.numel() for parameter in trial.policy.adapter.parameters]

    def _fitting(self, benchmark: str) -> tuple[Record, ...]:
        bench = self.study.benchmarks[benchmark]
        world = bench.source if bench.source in WORLDS else "arithmetic"
        measured = [
            (len(prompt), record)
            for record in draw(world, "public", DRAWN, seed=0)
            if self.base.fits(
                prompt := self.base.prompt_ids(record.question, bench.prompt),
                max(bench.cap, len(self.base.target_ids(record.solution or ""))),
            )
        ]
        if len(measured) < LEAST:
            raise InputError(
                f"{benchmark}: the model's context has no room for public problems; lower its cap"
            )
        return tuple(record for _, record in sorted(measured, key=lambda pair: pair[0]))
