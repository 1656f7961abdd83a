"""Line 2 of Algorithm 1: which slots a round draws."""

import numpy as np

from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Stream


def poisson_draw(mechanism: Mechanism, stream: Stream) -> list[int]:
    """The slots i in [0, n) whose coin c[t,i] ~ Bernoulli(m/n) came up 1, in increasing order.

    Every slot gets a coin, whether or not it holds a record. A coin is a uniform integer below n
    compared with m, so its probability is the rational m/n itself, not a float near it.
    """
    coins = stream.integers_below(mechanism.slots, mechanism.slots) < mechanism.expected
    return np.flatnonzero(coins).tolist()
