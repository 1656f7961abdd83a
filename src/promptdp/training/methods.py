"""The training methods by name: an objective over a reward, as a study sets them."""

from promptdp.scoring import score
from promptdp.scoring.verdict import Reason
from promptdp.training.advantages import Advantage
from promptdp.training.objectives import GRPO, Filtered, Gold, Policy, RecordObjective, Reward


def training_method(
    objective: str, advantage: str, reward: str, kl_weight: float, policy: Policy
) -> RecordObjective:
    """The record objective of an arm.

    Args:
        objective: "grpo", "filtered" or "gold".
        advantage: how GRPO weighs a group's rewards.
        reward: the scorer that gives the reward.
        kl_weight: beta.
        policy: the model under training.
    """
    match objective:
        case "grpo":
            return GRPO(policy, verifier(reward), Advantage(advantage), kl_weight)
        case "filtered":
            return Filtered(policy, verifier(reward))
        case "gold":
            return Gold(policy)
    raise ValueError(f"no training method is named {objective!r}")


def verifier(rule: str) -> Reward:
    """The reward of a scorer: 1 for a correct response, 0 for another, None where the scorer gave up."""

    def reward(*, response: str, reference: str, capped: bool) -> float | None:
        verdict = score(rule, response, reference, capped)
        return None if verdict.reason == Reason.LIMIT else float(verdict.correct)

    return reward
