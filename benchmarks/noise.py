"""What the private mechanism costs a round at the paper's size, on one core.

Coins for 6,988 slots, noise over p = 4,616,192 coordinates, the clipping of one record's gradient, and the
AdamW step: median CPU seconds. Beside the noise stand the generators that a private run may not use.
"""

import numpy as np
import torch
from stopwatch import medians

from promptdp.privacy.clip import clip
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.noise import gaussian_noise
from promptdp.privacy.randomness import Randomness
from promptdp.privacy.sampler import poisson_draw
from promptdp.training.descent import Descent

P = 4_616_192
MATH = Mechanism(6988, 128, 50, 0.4842404738068581, 0.05536, 1 / 69880)


class Flat:
    """The coordinates of an adapter without its model."""

    def __init__(self) -> None:
        self.theta = torch.zeros(P)

    def assign(self, theta: torch.Tensor) -> None:
        """Set the coordinates."""
        self.theta.copy_(theta)


def main() -> None:
    """Print the medians and ratios."""
    torch.set_num_threads(1)
    randomness, rounds = Randomness.from_os(), iter(range(1, 10**6))
    descent = Descent(Flat(), 3e-4, 0.9, 0.999, 1e-8, 0.0)
    gradient, noisy_mean = torch.randn(P), torch.randn(P, dtype=torch.float64)
    generator = np.random.default_rng()
    seconds = medians(
        {
            "coins": lambda: poisson_draw(MATH, randomness.stream(next(rounds), "coins")),
            "noise": lambda: gaussian_noise(MATH, P, randomness.stream(next(rounds), "noise")),
            "clip": lambda: clip(gradient, MATH.clipping_norm),
            "step": lambda: descent.step(noisy_mean),
            "torch": lambda: torch.randn(P, dtype=torch.float64),
            "numpy": lambda: generator.standard_normal(P),
        }
    )
    ours = ("coins", "noise", "clip", "step")
    for name in ours:
        print(f"{name:6} {seconds[name]:.4f} s")
    print(f"a round of one record: {sum(seconds[name] for name in ours):.3f} s")
    print(f"noise : torch.randn float64      {seconds['noise'] / seconds['torch']:.2f}")
    print(f"noise : numpy standard_normal    {seconds['noise'] / seconds['numpy']:.2f}")


if __name__ == "__main__":
    main()
