"""One round of Algorithm 1, DP-GRPO, and of every method that replaces its lines 4-6 alone (Corollary 2)."""

from functools import partial

import torch

from promptdp.privacy.clip import clip
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.noise import gaussian_noise
from promptdp.privacy.randomness import Randomness
from promptdp.privacy.sampler import poisson_draw
from promptdp.records.slots import Slots
from promptdp.training.descent import Descent
from promptdp.training.failures import of_record
from promptdp.training.objectives import RecordObjective
from promptdp.training.rollouts import Rollouts


def private_round(
    t: int,
    attempt: int,
    mechanism: Mechanism,
    slots: Slots,
    randomness: Randomness,
    rollouts: Rollouts,
    objective: RecordObjective,
    descent: Descent,
) -> None:
    """From theta_t to theta_{t+1}: draw, differentiate, clip, add noise, step.

    Formal guarantee: given theta_t, the noisy mean is the Poisson-subsampled Gaussian mechanism that
    `mechanism` states, under assumptions (A1) to (A4). A present record adds one vector of norm at most C,
    which depends on that record, theta_t and its own randomness alone; the rest is post-processing.
    """
    fresh = partial(randomness.stream, t, attempt=attempt)

    # Line 2: an independent hidden coin for every slot, present or not.
    drawn = poisson_draw(mechanism, fresh("coins"))

    # Line 3: an absent slot contributes the zero vector.
    batch = {i: record for i in drawn if (record := slots[i]) is not None}

    # Line 4: G completions of each record, from randomness of its own.
    completions = rollouts.draw(objective.rollouts_from, batch, lambda i: fresh("rollout", slot=i))

    total = torch.zeros(descent.coordinates, dtype=torch.float64)
    for i, record in batch.items():
        # Lines 5 and 6: rewards, advantages and the whole gradient of this record, over all its chunks.
        gradient = of_record(objective.gradient, record, completions[i], fresh("gradient", slot=i))
        # Line 7: one norm over all p coordinates; a gradient that failed or is not finite becomes zero.
        if gradient is not None:
            total += clip(gradient.cpu(), mechanism.clipping_norm).view_as(total)

    # Line 8: noise once over all p coordinates, in an empty round too; the public divisor qn.
    noise = gaussian_noise(mechanism, descent.coordinates, fresh("noise"))
    noisy_mean = (total + noise) / mechanism.divisor

    # Line 9: AdamW on the noisy mean; skipping a step that is not finite is post-processing.
    if noisy_mean.isfinite().all():
        descent.step(noisy_mean)
