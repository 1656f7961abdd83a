"""Line 8 of Algorithm 1: the Gaussian noise of one round."""

import torch

from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Stream


def gaussian_noise(mechanism: Mechanism, coordinates: int, stream: Stream) -> torch.Tensor:
    """z_t ~ N(0, sigma^2 C^2 I_p), float64 (p,) on the CPU; zeros for a non-private arm.

    Drawn once per round over all p trainable coordinates, also when no slot was drawn. The draw is
    float64 arithmetic: assumption (A4), exact reals, stays an assumption.
    """
    if not mechanism.private:
        return torch.zeros(coordinates, dtype=torch.float64)
    return torch.from_numpy(stream.normals(coordinates)).mul_(mechanism.noise_std)
