"""Non-private equivalence: with everything drawn, no noise and no clipping, a round is a plain step."""

import math
from typing import Any

import torch

from promptdp.assurance.verification.rounds import Witness, everyone
from promptdp.assurance.verification.row import Claim, Row
from promptdp.assurance.verification.subject import Subject, Trial
from promptdp.policy.engine import Completions
from promptdp.privacy.randomness import Randomness
from promptdp.records.slots import Slots
from promptdp.training.descent import Descent
from promptdp.training.round import private_round

RECORDS, SAMPLES, ROUNDS = 5, 4, 3
LEARNING_RATE = 1e-3
TOLERANCE = 1e-12
CLAIM = Claim(
    id="equivalence",
    title="Non-private equivalence",
    source="Appendix B; equations (2), (3) and (7)",
    claim="At q = 1, sigma = 0 and C = infinity the trainer takes the step of the flat mean over all "
    "n G sequences.",
    method="Three rounds of the production round and descent (the study's AdamW, learning rate 1e-3) "
    "on five public records with four completions each, in binary64 throughout (also normalisation "
    "and rotation, which transformers computes in float32), beside a flat baseline: its own rewards "
    "and advantages, one unpadded sequence at a time, one backward pass, torch's AdamW on the "
    "adapter's tensors; no dropout. Value: the largest absolute difference of a parameter.",
)


def check_equivalence(subject: Subject) -> Row:
    """Compare the two on a binary64 subject (see `Binary64`)."""
    benchmark = next(iter(subject.study.benchmarks))
    trial, flat = (subject.trial(benchmark, dropout=0.0).with_samples(SAMPLES) for _ in range(2))
    settings = subject.study.optimizer
    descent = Descent(trial.policy.adapter, LEARNING_RATE, **settings.model_dump())
    adamw = torch.optim.AdamW(
        flat.policy.adapter.parameters,
        lr=LEARNING_RATE,
        betas=(settings.beta1, settings.beta2),
        eps=settings.eps,
        weight_decay=settings.weight_decay,
    )
    randomness = Randomness.seeded(1)
    slots, mechanism = Slots(trial.records[:RECORDS]), everyone(RECORDS, math.inf)
    worst = 0.0
    for t in range(1, ROUNDS + 1):
        witness = Witness(trial.objective)
        private_round(t, 1, mechanism, slots, randomness, trial.rollouts, witness, descent)
        adamw.zero_grad()
        _flat_loss(flat, {name: seen[0] for name, seen in witness.seen.items()}).backward()
        adamw.step()
        theirs = flat.policy.adapter.theta
        worst = max(worst, float((trial.policy.adapter.theta - theirs).abs().max()))
    return CLAIM.at_most(worst, TOLERANCE)


def _flat_loss(trial: Trial, completions: dict[str, Completions]) -> torch.Tensor:
    """The mean over all sequences of each one's share of equation (7), written out a second time."""
    method: Any = trial.objective
    policy, base = trial.policy, trial.policy.base
    losses = []
    for record in trial.records[:RECORDS]:
        group = completions[record.id]
        rewards = [
            method.reward(response=base.text(y), reference=record.answer, capped=base.capped(y))
            for y in group
        ]
        mean = sum(rewards) / len(group)
        deviation = math.sqrt(sum((reward - mean) ** 2 for reward in rewards) / (len(group) - 1))
        prompt = base.prompt_ids(record.question, policy.template)
        for reward, y in zip(rewards, group, strict=True):
            u = _logprobs(policy.adapter.model, prompt, y, policy.logprob_temperature)
            with torch.no_grad():
                v = _logprobs(base.model, prompt, y, policy.logprob_temperature)
            weighted = torch.exp(u - u.detach()) * (reward - mean) / (deviation + 1e-4)
            penalty = torch.exp(v - u) - (v - u) - 1
            losses.append(-(weighted - method.kl_weight * penalty).mean())
    return torch.stack(losses).mean()


def _logprobs(model: Any, prompt: list[int], y: list[int], temperature: float) -> torch.Tensor:
    logits = model(torch.tensor([[*prompt, *y]])).logits[0, len(prompt) - 1 : -1]
    return (logits / temperature).log_softmax(-1)[range(len(y)), y]
