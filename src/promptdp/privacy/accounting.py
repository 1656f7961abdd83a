"""The mechanism's privacy budget, and the noise multiplier a budget needs (Section VI-C, Appendix A-F).

The budget that counts is the privacy-loss-distribution (PLD) value, never below that of the ideal mechanism;
the Renyi value beside it is looser. Nothing here depends on C, G, the loss or the verifier (Theorem 1).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from promptdp.errors import InputError
from promptdp.privacy.events import LEAST_NOISE, MOST_NOISE, Event, check_events
from promptdp.privacy.mechanism import (
    Mechanism,
    check_count,
    check_delta,
    check_positive,
    check_rounds,
    check_sampling,
)
from promptdp.privacy.neighbours import ONE_PROMPT, Conversion, Neighbours
from promptdp.privacy.pld import pld_epsilon
from promptdp.privacy.rdp import rdp_epsilon
from promptdp.privacy.search import SEARCHES

SCHEMA = "promptdp/calibration/1"


@dataclass(frozen=True)
class Calibration:
    """A mechanism's parameters with the budget they certify.

    Attributes:
        slots, expected, rounds, noise_multiplier, delta: n, m, T, sigma, delta.
        epsilon_target: the budget sigma was searched for, or None if sigma was given.
        epsilon_pld: the certified epsilon at delta, at most the target, for these neighbours and runs.
        epsilon_rdp: the looser Renyi value, reached at order `rdp_order`; None where the Renyi analysis
            doesn't cover the neighbours.
        method: how sigma was found: "fast", "paper-bisection" or "given".
        neighbours: whose presence or content is protected.
        runs: R, how many such runs on the same slots are released.
        converted: what Proposition 1 or Corollary 1 makes of the one-prompt budget; None if it is asked for.
    """

    slots: int
    expected: int
    rounds: int
    noise_multiplier: float
    delta: float
    epsilon_target: float | None
    epsilon_pld: float
    epsilon_rdp: float | None
    rdp_order: float | None
    method: str
    neighbours: Neighbours = ONE_PROMPT
    runs: int = 1
    converted: Conversion | None = None

    def as_json(self) -> dict[str, Any]:
        """The content of a calibration file; q both as a float and as the exact fraction m/n."""
        return {
            "schema": SCHEMA,
            "slots": self.slots,
            "expected": self.expected,
            "rounds": self.rounds,
            "sigma": self.noise_multiplier,
            "delta": self.delta,
            "epsilon_target": self.epsilon_target,
            "epsilon_pld": self.epsilon_pld,
            "epsilon_rdp": self.epsilon_rdp,
            "rdp_order": self.rdp_order,
            "q": self.expected / self.slots,
            "q_fraction": f"{self.expected}/{self.slots}",
            "relation": self.neighbours.relation,
            "group": self.neighbours.group,
            "runs": self.runs,
            "method": self.method,
            "versions": {package: version(package) for package in ("dp-accounting", "opacus")},
            **self.neighbours.stated(self.converted),
        }


def calibrate(
    slots: int,
    expected: int,
    rounds: int,
    epsilon: float,
    delta: float | None = None,
    method: str = "fast",
) -> Calibration:
    """The smallest noise multiplier whose certified budget is at most epsilon.

    Args:
        slots: n.
        expected: m.
        rounds: T.
        epsilon: the target, never exceeded.
        delta: 1/(10 n) if not given, as in the paper.
        method: "fast" ends within 1e-8 of the target from below, or as near as the accountant's rounding at
            a very small delta allows; "paper-bisection" reproduces the digits of Table VII.

    Raises:
        InputError: a value is out of its range, or no noise multiplier meets the target.
    """
    delta = _delta(delta, slots, expected)
    check_rounds(rounds)
    check_positive("epsilon", epsilon)
    if method not in SEARCHES:
        raise InputError(f"method: must be one of {', '.join(SEARCHES)}, not {method!r}")

    def spent(noise_multiplier: float, coarsening: float = 1) -> float:
        event = (slots, expected, rounds, noise_multiplier)
        return pld_epsilon([event], delta, coarsening=coarsening)

    noise_multiplier = SEARCHES[method](spent, float(epsilon))
    return _certify((slots, expected, rounds, noise_multiplier), delta, float(epsilon), method)


def account(
    slots: int,
    expected: int,
    rounds: int,
    noise_multiplier: float,
    delta: float | None = None,
    *,
    group: int = 1,
    replace_one: bool = False,
    runs: int = 1,
) -> Calibration:
    """The certified budget of a given noise multiplier.

    Args:
        slots: n.
        expected: m.
        rounds: T.
        noise_multiplier: sigma.
        delta: 1/(10 n) if not given.
        group: K, for the presence of K prompts at once; beside it, what Proposition 1 implies.
        replace_one: for the content of one prompt; beside it, what Corollary 1 implies.
        runs: R, for the release of so many runs on the same slots, composed (Appendix A-E).

    Raises:
        InputError: a value is out of its range, or no finite budget can be certified.
    """
    delta = _delta(delta, slots, expected)
    check_count("runs", runs)
    neighbours = Neighbours(group, replace_one)
    if group > slots:
        raise InputError(f"group: {group} prompts don't fit in {slots} slots; lower it")
    event = (slots, expected, rounds, noise_multiplier)
    return _certify(event, delta, None, "given", neighbours, runs)


def epsilon_pld(slots: int, expected: int, rounds: int, noise_multiplier: float, delta: float) -> float:
    """The epsilon at delta by privacy-loss distributions: what is reported (Definition 2, equation (6)).

    Infinite if the accountant certifies no finite value.

    Raises:
        InputError: a value is out of its range.
    """
    return composed_epsilon([(slots, expected, rounds, noise_multiplier)], delta)


def epsilon_rdp(
    slots: int, expected: int, rounds: int, noise_multiplier: float, delta: float
) -> tuple[float, float]:
    """The epsilon at delta by Renyi differential privacy, with its order (the RDP column of Table VI).

    The conversion is that of Balle et al. [54], the orders those of dp_accounting's default grid.

    Raises:
        InputError: a value is out of its range.
    """
    return composed_rdp([(slots, expected, rounds, noise_multiplier)], delta)


def composed_epsilon(events: Sequence[Event], delta: float) -> float:
    """The epsilon at delta of several runs on the same slots, by composing their privacy-loss distributions.

    Args:
        events: (slots, expected, rounds, noise multiplier) of each run.
        delta: for all of them together.

    Raises:
        InputError: there is no run, the runs have different slots, or a value is out of its range.
    """
    check_events(events, delta)
    return pld_epsilon(events, delta)


def composed_rdp(events: Sequence[Event], delta: float) -> tuple[float, float]:
    """The same by adding their Renyi divergences: (epsilon, order).

    Raises:
        InputError: as `composed_epsilon`.
    """
    check_events(events, delta)
    return rdp_epsilon(events, delta)


def epsilon_retained(mechanism: Mechanism) -> float:
    """The epsilon of the T rounds the released weights retain; infinite for a non-private arm.

    Right if what interrupted a run did not depend on its data or its private draws.
    """
    return epsilon_all(mechanism, mechanism.rounds)


def epsilon_all(mechanism: Mechanism, begun_attempts: int) -> float:
    """The epsilon with every begun attempt charged as a round, abandoned ones too; infinite if non-private.

    Raises:
        InputError: `begun_attempts` is not an integer of at least 1.
    """
    check_rounds(begun_attempts)
    if not mechanism.private:
        return math.inf
    return epsilon_pld(
        mechanism.slots,
        mechanism.expected,
        begun_attempts,
        mechanism.noise_multiplier,
        mechanism.delta,
    )


def epsilon_bound(mechanism: Mechanism) -> float:
    """An upper bound on `epsilon_retained`, at most 1e-4 above it relatively, in a fraction of its time.

    The discretisation rounds the privacy loss up, so that a coarser grid states more, never less.
    """
    if mechanism.noise_multiplier < LEAST_NOISE:
        return math.inf
    noise_multiplier = min(mechanism.noise_multiplier, MOST_NOISE)
    event = (mechanism.slots, mechanism.expected, mechanism.rounds, noise_multiplier)
    return pld_epsilon([event], mechanism.delta, coarsening=10)


def _certify(
    event: Event,
    delta: float,
    target: float | None,
    method: str,
    neighbours: Neighbours = ONE_PROMPT,
    runs: int = 1,
) -> Calibration:
    check_events([event], delta)
    slots, expected, rounds, noise_multiplier = event
    events = [(slots, expected, rounds * runs, noise_multiplier)]
    certified = pld_epsilon(events, delta, neighbours)
    if not math.isfinite(certified):
        raise InputError(
            f"sigma: {noise_multiplier!r} certifies no finite epsilon at delta {delta!r}; raise either"
        )
    renyi = order = converted = None
    if neighbours == ONE_PROMPT:
        renyi, order = rdp_epsilon(events, delta)
    else:
        converted = neighbours.converted(pld_epsilon(events, delta), delta)
    return Calibration(
        int(slots),
        int(expected),
        int(rounds),
        float(noise_multiplier),
        float(delta),
        target,
        certified,
        renyi,
        order,
        method,
        neighbours,
        int(runs),
        converted,
    )


def _delta(delta: float | None, slots: int, expected: int) -> float:
    check_sampling(slots, expected)
    delta = 1 / (10 * slots) if delta is None else delta
    check_delta(delta, slots)
    return delta
