"""Record objectives: lines 4-6 of Algorithm 1, the only part a training method may replace (Corollary 2).

An objective maps the current coordinates, one record and fresh randomness of that record to a gradient. It
never sees another record, the sum, the noise or the round's draw; that is what makes the privacy analysis
independent of the method.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import torch

from promptdp.policy.base import Base
from promptdp.policy.engine import Completions
from promptdp.policy.logprob import can_share_prefix, padded_logprobs, shared_prefix_logprobs
from promptdp.policy.lora import Adapter
from promptdp.privacy.randomness import Stream
from promptdp.records.record import Record
from promptdp.training.advantages import Advantage, advantages


class Reward(Protocol):
    """A verifier, called by keywords only: a response and its reference can't be swapped."""

    def __call__(self, *, response: str, reference: str, capped: bool) -> float | None:
        """The reward of a response, `capped` if it ended by its cap; None where the verifier gives up."""
        ...


@dataclass(frozen=True)
class Policy:
    """The model under training: pi_ref with the adapter's coordinates theta_t on top.

    Attributes:
        base: the public model and reference policy pi_ref.
        adapter: the trainable coordinates.
        template: the public frame of a prompt, containing `{question}`.
        logprob_temperature: divides the logits inside the loss (1.0: the trainer the paper reproduces).
        chunk: completions in one backward pass; memory only, None for the whole group.
    """

    base: Base
    adapter: Adapter
    template: str = "{question}"
    logprob_temperature: float = 1.0
    chunk: int | None = None

    def prompt(self, record: Record) -> list[int]:
        """The token ids that engine and loss both use; ValueError if the model can't read one."""
        return self._readable(self.base.prompt_ids(record.question, self.template))

    def target(self, solution: str) -> list[int]:
        """The token ids of a completion to imitate, its stop token too; ValueError as for `prompt`."""
        return self._readable(self.base.target_ids(solution))

    def _readable(self, ids: list[int]) -> list[int]:
        """Token ids the model has an embedding of; a tokenizer may know more, whatever a text spells out."""
        if max(ids, default=0) >= self.base.model.get_input_embeddings().num_embeddings:
            raise ValueError("the model has no embedding of a token")
        return ids

    def logprobs(self, prompt: Sequence[int], completions: Completions) -> list[torch.Tensor]:
        """log pi_theta of each completion's tokens, with a graph to the adapter."""
        return self._logprobs(self.adapter.model, prompt, completions)

    @torch.no_grad()
    def reference_logprobs(self, prompt: Sequence[int], completions: Completions) -> list[torch.Tensor]:
        """log pi_ref of each completion's tokens: the same weights without the adapter, no dropout."""
        return self._logprobs(self.base.model, prompt, completions)

    def _logprobs(self, model: Any, prompt: Sequence[int], completions: Completions) -> list[torch.Tensor]:
        shared = self.adapter.dropout == 0 and can_share_prefix(self.base.model)
        score = shared_prefix_logprobs if shared else padded_logprobs
        return score(model, prompt, completions, self.logprob_temperature)

    def chunks(self, size: int) -> Iterator[slice]:
        """Slices of a group of `size` completions, each small enough for one backward pass."""
        step = self.chunk or max(size, 1)
        return (slice(start, start + step) for start in range(0, size, step))

    @contextmanager
    def dropout_from(self, stream: Stream) -> Iterator[None]:
        """Run the adapter's dropout, if it has any, from this record's randomness.

        PyTorch takes a seed, of which its CPU generator uses 32 bits; the process's generator is put back.
        """
        if self.adapter.dropout == 0:
            yield
            return
        with torch.random.fork_rng():
            torch.manual_seed(stream.seed())
            self.adapter.drop_inputs(True)
            try:
                yield
            finally:
                self.adapter.drop_inputs(False)


class RecordObjective(Protocol):
    """A training method: what one drawn record contributes before clipping."""

    @property
    def rollouts_from(self) -> Literal["policy", "reference"] | None:
        """Which model line 4 samples completions from; None where it samples none."""
        ...

    def gradient(self, record: Record, rollouts: Completions, stream: Stream) -> torch.Tensor | None:
        """The gradient of the record's loss at theta_t, shape (p,), not clipped; None stands for zero.

        Args:
            record: the drawn record.
            rollouts: its completions of this round; empty where the objective samples none.
            stream: randomness of this record and round alone.
        """
        ...


@dataclass(frozen=True)
class GRPO:
    """The per-record loss of equation (7): advantage-weighted likelihood with Schulman's k3 penalty.

    On the single update of a rollout the importance ratio exp(u - sg(u)) is 1 with gradient grad u, so the
    ratio clip kappa of equation (3) never acts. The penalty's gradient flows through k3 itself, as in the
    trainer the paper reproduces.
    """

    policy: Policy
    reward: Reward
    advantage: Advantage
    kl_weight: float
    rollouts_from: Literal["policy"] = "policy"

    def gradient(self, record: Record, rollouts: Completions, stream: Stream) -> torch.Tensor | None:
        """See `RecordObjective.gradient`; zero when there is no rollout or the verifier gave up on one."""
        rewards = _rewards(self.policy.base, self.reward, record, rollouts)
        if not rewards:
            return None
        weights = advantages(self.advantage, rewards, stream)
        prompt = self.policy.prompt(record)
        total = None
        with self.policy.dropout_from(stream):
            for chunk in self.policy.chunks(len(rollouts)):
                reference = self.policy.reference_logprobs(prompt, rollouts[chunk])
                current = self.policy.logprobs(prompt, rollouts[chunk])
                losses = [
                    completion_loss(u, v, weight, self.kl_weight)
                    for u, v, weight in zip(current, reference, weights[chunk], strict=True)
                ]
                loss = torch.stack(losses).sum() / len(rollouts)
                total = _add(total, self.policy.adapter.gradient(loss))
        return total


def completion_loss(
    logprobs: torch.Tensor, reference: torch.Tensor, advantage: torch.Tensor, kl_weight: float
) -> torch.Tensor:
    """One completion's share of equation (7): minus the mean over its own tokens.

    Args:
        logprobs: u, log pi_theta of its tokens, shape (L,), with a graph.
        reference: log pi_ref of the same tokens, shape (L,).
        advantage: A, a scalar.
        kl_weight: beta.
    """
    ratio = torch.exp(logprobs - logprobs.detach())
    d = reference - logprobs
    k3 = torch.exp(d) - d - 1
    return -(ratio * advantage.to(ratio) - kl_weight * k3).mean()


@dataclass(frozen=True)
class Filtered:
    """Verifier-filtered DP-SFT: imitate the accepted among G fresh completions of the public reference.

    The loss averages over the accepted completions of the mean over each one's own tokens; no penalty. A
    record without an accepted completion contributes zero (Corollary 2).
    """

    policy: Policy
    reward: Reward
    rollouts_from: Literal["reference"] = "reference"

    def gradient(self, record: Record, rollouts: Completions, stream: Stream) -> torch.Tensor | None:
        """See `RecordObjective.gradient`."""
        rewards = _rewards(self.policy.base, self.reward, record, rollouts)
        accepted = [ids for ids, reward in zip(rollouts, rewards, strict=bool(rewards)) if reward > 0]
        return _imitate(self.policy, record, accepted, stream)


@dataclass(frozen=True)
class Gold:
    """Gold DP-SFT: imitate the record's reference solution, the mean over its tokens, stop token included.

    The paper doesn't say mean or sum; the mean is ours, and the record then carries the whole solution.
    """

    policy: Policy
    rollouts_from: None = None

    def gradient(self, record: Record, rollouts: Completions, stream: Stream) -> torch.Tensor | None:
        """See `RecordObjective.gradient`; zero when there is no solution or it doesn't fit the context."""
        if record.solution is None:
            return None
        target = self.policy.target(record.solution)
        if not self.policy.base.fits(self.policy.prompt(record), len(target)):
            return None
        return _imitate(self.policy, record, [target], stream)


def _imitate(policy: Policy, record: Record, targets: Completions, stream: Stream) -> torch.Tensor | None:
    """The gradient of the mean, over targets, of the mean token cross-entropy; None without targets."""
    prompt = policy.prompt(record)
    total = None
    with policy.dropout_from(stream):
        for chunk in policy.chunks(len(targets)):
            losses = [-u.mean() for u in policy.logprobs(prompt, targets[chunk])]
            total = _add(total, policy.adapter.gradient(torch.stack(losses).sum() / len(targets)))
    return total


def _rewards(base: Base, reward: Reward, record: Record, rollouts: Completions) -> list[float]:
    """The reward of each completion; none at all when the verifier gives up on one of them."""
    rewards = [
        reward(response=base.text(ids), reference=record.answer, capped=base.capped(ids)) for ids in rollouts
    ]
    return [] if None in rewards else [value for value in rewards if value is not None]


def _add(total: torch.Tensor | None, gradient: torch.Tensor) -> torch.Tensor:
    return gradient if total is None else total + gradient
