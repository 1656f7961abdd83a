"""One public record goes all the way before round 1, so that a fault of ours is not taken for a record's.

In a round, a failure that belongs to a record leaves it the zero vector. Were the fault ours, every record
would fail, and training would be pure noise without a word. Here the same failure stops the run and is told
in full, before a private record is read.
"""

import traceback
from dataclasses import replace
from functools import partial
from itertools import cycle
from pathlib import Path

from promptdp.errors import InputError, PromptDPError
from promptdp.policy.engine import Completions
from promptdp.privacy.randomness import Randomness
from promptdp.records.record import Record
from promptdp.training.objectives import GRPO, Filtered, RecordObjective, Reward
from promptdp.training.rollouts import Rollouts

PUBLIC = Record(id="public", question="1+1=", answer="2", solution="2")
"""What stands in for a record; its randomness is that of round 0, used for nothing else."""


def preflight(objective: RecordObjective, rollouts: Rollouts, randomness: Randomness) -> None:
    """Compute the contribution of the public record by the code that computes a private one's.

    Rewards alternate, whatever the verifier says, so that every method has something to learn.

    Raises:
        InputError: the model has no room for a completion, or what it computes is not a number.
        PromptDPError: an exception, named with its place: the program or its environment is at fault.
    """
    try:
        _compute(_rewarded(objective), rollouts, randomness)
    except PromptDPError:
        raise
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise PromptDPError(
            f"a public record fails before any private one is read ({type(error).__name__} at "
            f"{Path(place.filename).name}:{place.lineno}: {error}); see to the base model and the environment"
        ) from error


def _compute(objective: RecordObjective, rollouts: Rollouts, randomness: Randomness) -> None:
    base, fresh = rollouts.policy.base, partial(randomness.stream, 0)
    prompt = rollouts.policy.prompt(PUBLIC)
    if objective.rollouts_from and not base.fits(prompt, rollouts.cap):
        raise InputError(
            f"cap: {rollouts.cap} tokens leave no room for a prompt in the model's context of "
            f"{base.context}; lower the benchmark's cap"
        )
    drawn: Completions = []
    if objective.rollouts_from:
        rollouts.serve(objective.rollouts_from)
        (drawn,) = rollouts.sample([prompt], [fresh("preflight rollouts")])
    gradient = objective.gradient(PUBLIC, drawn, fresh("preflight gradient"))
    if gradient is None or not gradient.isfinite().all():
        raise InputError(
            "dtype: the gradient of a public record is not a number; use a wider dtype, or check the base"
        )


def _rewarded(objective: RecordObjective) -> RecordObjective:
    if isinstance(objective, GRPO | Filtered):
        return replace(objective, reward=_alternating(objective.reward))
    return objective


def _alternating(reward: Reward) -> Reward:
    turns = cycle((1.0, 0.0))

    def judged(*, response: str, reference: str, capped: bool) -> float:
        reward(response=response, reference=reference, capped=capped)
        return next(turns)

    return judged
