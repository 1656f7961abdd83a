"""What is composed: rounds of the Poisson-subsampled Gaussian mechanism on the same slots."""

from collections import Counter
from collections.abc import Sequence

from promptdp.errors import InputError
from promptdp.privacy.mechanism import check_delta, check_positive, check_rounds, check_sampling

Event = tuple[int, int, int, float]
"""Rounds of one run: (slots n, expected m, rounds T, noise multiplier sigma)."""

LEAST_NOISE, MOST_NOISE = 1e-2, 1e7
"""The noise multipliers that are accounted for: below, epsilon is in the thousands; above, it is rounding."""


def check_events(events: Sequence[Event], delta: float) -> None:
    """Refuse what no accountant could state.

    Raises:
        InputError: there is no run, the runs have different slots, or a value is out of its range.
    """
    if len({slots for slots, *_ in events}) != 1:
        raise InputError(
            "events: budgets compose over runs on the same slots; give at least one, all with one n"
        )
    for slots, expected, rounds, noise_multiplier in events:
        check_sampling(slots, expected)
        check_rounds(rounds)
        check_positive("sigma", noise_multiplier)
        if not LEAST_NOISE <= noise_multiplier <= MOST_NOISE:
            raise InputError(
                f"sigma: {noise_multiplier!r} is outside what accountants can tell, from {LEAST_NOISE} to "
                f"{MOST_NOISE:g}"
            )
        check_delta(delta, slots)


def by_round(events: Sequence[Event]) -> Counter[tuple[int, int, float]]:
    """The number of rounds of each (slots, expected, noise multiplier); equal rounds compose at once."""
    rounds_of: Counter[tuple[int, int, float]] = Counter()
    for slots, expected, rounds, noise_multiplier in events:
        rounds_of[int(slots), int(expected), float(noise_multiplier)] += int(rounds)
    return rounds_of
