"""The noise of a round: its scale, its law, and that no two draws have anything in common."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal

import numpy as np
import torch

from promptdp.assurance.verification.chance import LEVEL, adjusted, correlation_p, normal_p, scale_p
from promptdp.assurance.verification.rounds import Known, NoRollouts, mean_of_round
from promptdp.assurance.verification.row import Claim, Row
from promptdp.policy.engine import Completions
from promptdp.privacy.mechanism import Mechanism
from promptdp.privacy.randomness import Randomness, Stream
from promptdp.records.record import Record

PAPERS = Mechanism(6988, 128, 50, 0.484, 0.05536, 1 / 69880)
PAPERS_COORDINATES = 4_616_192
SCALE_TOLERANCE = 0.005
WRONG_SCALES = (2 / 3, 3 / 2)
COMPARED, REPEATABLE = 100_000, 10_000
METHOD = "Empty production rounds from the operating system's randomness, over sigma C / m: standard normals."
FULL = Claim(
    id="noise-full-size",
    title="Noise scale at the paper's size",
    source="Algorithm 1, line 8; Section III-C",
    claim="The noise of 4,616,192 coordinates has standard deviation sigma C / m to 0.5%.",
    method=f"{METHOD} One draw of the paper's size (a deviation of 0.5% would be 15 standard errors). "
    "Value: the distance of the root mean square from 1.",
)
SCALE = Claim(
    id="noise-scale",
    title="Noise scale, tensor by tensor",
    source="Algorithm 1, line 8; assumption (A3)",
    claim="Every tensor's noise has standard deviation sigma C / m.",
    method=f"{METHOD} Exact chi-square tests of every tensor of the study's adapter and of the whole, "
    "for each mechanism of the study. Value: the smallest p-value, adjusted for their number.",
)
LAW = Claim(
    id="noise-law",
    title="Noise law",
    source="Algorithm 1, line 8; assumption (A4)",
    claim="The noise is normal.",
    method=f"{METHOD} Kolmogorov and Smirnov's test of one draw of the paper's size and of one for "
    "each mechanism of the study. Value: the smallest p-value, adjusted for their number.",
)
POWER = Claim(
    id="noise-power",
    title="The noise tests' power",
    source="Design",
    claim="Both tests reject noise whose scale is 2/3 or 3/2 of what it should be.",
    method="The same draws, scaled. Value: the largest p-value.",
)
INDEPENDENCE = Claim(
    id="noise-independence",
    title="Noise across rounds, attempts and runs",
    source="Assumption (A3)",
    claim="Draws of two rounds, attempts or runs, and successive and distant coordinates of one draw, "
    "are uncorrelated.",
    method=f"{METHOD} Rounds 1 and 2, two attempts at round 1, and two runs, at the study's size (at "
    "most 100,000 coordinates). Value: the smallest p-value of a correlation, adjusted for their "
    "number.",
)
REPEATS = Claim(
    id="noise-repeats",
    title="Noise values never repeat",
    source="Assumption (A3)",
    claim="No value occurs twice in these draws (by chance with probability below 1e-6).",
    method="The first 10,000 coordinates of each draw. Value: how many repeat.",
)

ENGINE = Claim(
    id="noise-engine",
    title="An engine that seeds the process's generators",
    source="Assumption (A3); design",
    claim="Neither coins nor noise move when the rollout engine seeds random, numpy and torch.",
    method="Two production rounds from a fixed source, beside the same with rollouts that seed all three. "
    "Value: how many of the means differ.",
)


def standard_noise(
    mechanism: Mechanism, coordinates: int, randomness: Randomness, t: int = 1, attempt: int = 1
) -> np.ndarray:
    """The noise of an empty production round in units of what its standard deviation should be."""
    mean = mean_of_round(mechanism, [], Known({}), coordinates, randomness=randomness, t=t, attempt=attempt)
    # From the mechanism's own fields: `noise_std` and `divisor` are among what is examined.
    std = mechanism.noise_multiplier * mechanism.clipping_norm / mechanism.expected
    return mean.numpy() / std


def check_noise(mechanisms: Iterable[Mechanism], tensors: Sequence[int]) -> list[Row]:
    """Scale, law, independence and the tests' power.

    Args:
        mechanisms: those of the study.
        tensors: the number of coordinates of each tensor of the adapter, in order.
    """
    coordinates, edges = sum(tensors), np.cumsum(tensors)[:-1]
    full = standard_noise(PAPERS, PAPERS_COORDINATES, Randomness.from_os())
    own = [standard_noise(m, coordinates, Randomness.from_os()) for m in mechanisms or [PAPERS]]
    scales = [scale_p(part) for z in own for part in (z, *np.split(z, edges))]
    laws = [normal_p(full), *(normal_p(z) for z in own)]
    powers = [
        test(wrong * z) for wrong in WRONG_SCALES for z in (full, own[0]) for test in (scale_p, normal_p)
    ]
    return [
        FULL.at_most(abs(float(np.sqrt(np.mean(np.square(full)))) - 1), SCALE_TOLERANCE),
        SCALE.at_least(adjusted(scales), LEVEL),
        LAW.at_least(adjusted(laws), LEVEL),
        POWER.at_most(max(powers), LEVEL),
        *_independence(next(iter(mechanisms), PAPERS), min(coordinates, COMPARED)),
    ]


def _independence(mechanism: Mechanism, coordinates: int) -> list[Row]:
    one, other = Randomness.from_os(), Randomness.from_os()
    draws = [
        standard_noise(mechanism, coordinates, source, t, attempt)
        for source, t, attempt in [(one, 1, 1), (one, 1, 2), (one, 2, 1), (other, 1, 1), (other, 2, 1)]
    ]
    half = coordinates // 2
    p_values = [correlation_p(first, second) for first, second in combinations(draws, 2)]
    p_values += [correlation_p(z[:-1], z[1:]) for z in draws]
    p_values += [correlation_p(z[:half], z[-half:]) for z in draws]
    values = np.concatenate([z[:REPEATABLE] for z in draws])
    return [
        INDEPENDENCE.at_least(adjusted(p_values), LEVEL),
        REPEATS.at_most(len(values) - len(np.unique(values)), 0),
    ]


class _Seeding(NoRollouts):
    """Rollouts of an engine that seeds every generator of the process, as some do at their start."""

    def draw(
        self,
        source: Literal["policy", "reference"] | None,
        batch: Mapping[int, Record],
        stream_of: Callable[[int], Stream],
    ) -> dict[int, Completions]:
        random.seed(0)
        np.random.seed(0)
        torch.manual_seed(0)
        return super().draw(source, batch, stream_of)


def check_engine() -> Row:
    """Whether the coins, which the means show, and the noise move."""
    mechanism = Mechanism(20, 10, 2, 1.0, 1.0, 1e-6)
    records = [Record(str(place), "-", "-") for place in range(mechanism.slots)]
    known = Known({r.id: row for r, row in zip(records, torch.eye(mechanism.slots), strict=True)})
    means = [
        [
            mean_of_round(mechanism, records, known, mechanism.slots, rollouts, Randomness.seeded(1), t=t)
            for t in (1, 2)
        ]
        for rollouts in (NoRollouts(), _Seeding())
    ]
    return ENGINE.at_most(sum(not torch.equal(a, b) for a, b in zip(*means, strict=True)), 0)
