"""The status of each assumption of Theorem 1 for one run, as in Appendix A-G.

A status is `enforced` (the code that ran admits nothing else), `assumed` (on the
curator's word, or as an idealisation) or `not met`; of several parts the weakest counts. All of it follows
from public settings and a verification record: nothing here depends on a private record.
"""

from collections.abc import Sequence
from typing import Any

from promptdp.privacy.mechanism import Mechanism

Row = dict[str, Any]
"""A row of a verification record, with id, source, verdict and measured."""


def assumptions(manifest: dict[str, Any], mechanism: Mechanism, rows: Sequence[Row]) -> dict[str, Any]:
    """A1 to A4 of Section VI-A, each with its status and why.

    Args:
        manifest: of the run.
        mechanism: of the run.
        rows: of a verification record of the same base; none without one.
    """
    randomness = manifest["randomness"]
    strict = manifest["isolation"] == "strict"
    return {
        "A1": _public_design(mechanism, _evidence(rows, "A1")),
        "A2": _strict(manifest, _evidence(rows, "A2")) if strict else _packed(rows),
        "A3": _fresh_randomness(randomness, _evidence(rows, "A3")),
        "A4": _exact_arithmetic(randomness["noise"], _evidence(rows, "A4", "Measured, not made exact, by")),
    }


def _public_design(mechanism: Mechanism, evidence: str) -> dict[str, str]:
    return _status(
        "assumed",
        f"Enforced: {mechanism.rounds} rounds, sampling rate {mechanism.expected}/{mechanism.slots}, noise, "
        f"clipping norm and the divisor {mechanism.divisor} come from one frozen set of public numbers, that "
        "the ledger holds before the first round; no statistic of a batch replaces one, and groups of equal "
        f"rewards are kept.{evidence} Assumed: the curator chose them, the number of slots and every other "
        "setting without the records; where pilot runs read these records, their budget is not charged here.",
    )


def _strict(manifest: dict[str, Any], evidence: str) -> dict[str, str]:
    shown = manifest["device"] == "cpu"
    doubt = "" if shown else " That its bits are the same in any company has been shown on a CPU alone."
    return _status(
        "enforced" if shown else "assumed",
        f"Each record is computed alone by the {manifest['engine']} engine on {manifest['device']}: "
        "completions, rewards, advantages and gradient, at shapes that depend on it and on public numbers, "
        "from randomness of its own. Rewards read no clock. Clipping takes the whole gradient after all its "
        "parts. A record that fails, or whose gradient is not finite, contributes zero by a rule that reads "
        f"it alone.{doubt}{evidence}",
    )


def _packed(rows: Sequence[Row]) -> dict[str, str]:
    found = [f"{row['measured']} ({row['id']})" for row in _about(rows, "A2") if row["verdict"] == "measured"]
    discrepancy = "; ".join(found) or "no verification record that measures it is cited"
    return _status(
        "not met",
        "Records share batches, and floating-point kernels may give a record other numbers in other company. "
        f"Discrepancy: {discrepancy}.",
    )


def _fresh_randomness(randomness: dict[str, Any], evidence: str) -> dict[str, str]:
    if randomness["source"] != "os":
        return _status("not met", "The randomness is seeded: whoever has the seed can draw it again.")
    dropout = f" Dropout takes a {randomness['dropout']}." if randomness["dropout"] else ""
    return _status(
        "enforced",
        f"Coins, rollouts and noise come from {randomness['backend']}, under a key of "
        f"{randomness['key_bits']} bits from the operating system that was never stored, with one stream for "
        "each round, attempt, use and slot. This holds up to the computational security of the cipher, not "
        f"against an unbounded adversary.{dropout}{evidence}",
    )


def _exact_arithmetic(noise: str, evidence: str) -> dict[str, str]:
    return _status(
        "assumed",
        f"Noise is {noise}, an idealisation of a draw over the reals, and sums, clipping and steps are "
        "rounded. The theorem is about the mechanism, not about its execution in finite precision."
        f"{evidence}",
    )


def _evidence(rows: Sequence[Row], assumption: str, how: str = "Verified by") -> str:
    """The rows that judged an assumption and passed, in words."""
    passed = [row["id"] for row in _about(rows, assumption) if row["verdict"] == "pass"]
    return f" {how} {', '.join(passed)}." if passed else " No verification record is cited."


def _about(rows: Sequence[Row], assumption: str) -> list[Row]:
    return [row for row in rows if f"({assumption})" in row["source"]]


def _status(status: str, why: str) -> dict[str, str]:
    return {"status": status, "why": why}
