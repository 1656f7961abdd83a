"""Line 9 of Algorithm 1: AdamW on the noisy mean gradient, all coordinates as one vector."""

import torch

from promptdp.policy.lora import Adapter


class Descent:
    """The adapter's coordinates theta under AdamW.

    AdamW acts on each coordinate alone, so one vector of p coordinates steps exactly as its tensors would.
    """

    def __init__(
        self,
        adapter: Adapter,
        learning_rate: float,
        beta1: float,
        beta2: float,
        eps: float,
        weight_decay: float,
    ):
        self._adapter = adapter
        self._theta = torch.nn.Parameter(adapter.theta)
        self._adamw = torch.optim.AdamW(
            [self._theta],
            lr=learning_rate,
            betas=(beta1, beta2),
            eps=eps,
            weight_decay=weight_decay,
        )

    @property
    def coordinates(self) -> int:
        """p, the number of trainable coordinates."""
        return self._theta.numel()

    @property
    def theta(self) -> torch.Tensor:
        """The coordinates, shape (p,)."""
        return self._theta.detach()

    def step(self, noisy_mean: torch.Tensor) -> None:
        """Move the coordinates and the adapter by one AdamW step on the gradient `noisy_mean`, shape (p,)."""
        self._theta.grad = noisy_mean.to(self._theta)
        self._adamw.step()
        self._adapter.assign(self.theta)

    def state(self) -> dict[str, torch.Tensor]:
        """Everything a later process needs to go on: theta, and the moments and step count of AdamW."""
        moments = self._adamw.state_dict()["state"].get(0, {})
        return {"theta": self.theta, **moments}

    def restore(self, state: dict[str, torch.Tensor]) -> None:
        """Take up what `state` gave."""
        moments = {name: value for name, value in state.items() if name != "theta"}
        with torch.no_grad():
            self._theta.copy_(state["theta"])
        groups = self._adamw.state_dict()["param_groups"]
        self._adamw.load_state_dict({"state": {0: moments} if moments else {}, "param_groups": groups})
        self._adapter.assign(self.theta)
