"""One line of the verification record: a claim, how it was measured, what came out."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Verdict = Literal["pass", "fail", "measured"]


@dataclass(frozen=True)
class Row:
    """A claim with its verdict.

    Attributes:
        id: the row's name, unique within a record.
        title: its heading on the page.
        source: where the claim stands in the paper, or "design" for a promise of this software alone.
        claim: what must hold.
        method: how it was measured.
        tolerance: the condition on the measured value, "<= 1e-10" say; "-" where nothing is judged.
        measured: the value, a number or a short text.
        verdict: "measured" for a row that reports and doesn't judge.
    """

    id: str
    title: str
    source: str
    claim: str
    method: str
    tolerance: str
    measured: float | int | str
    verdict: Verdict

    def as_json(self) -> dict[str, Any]:
        """The row as JSON values; a number that is not finite becomes its name."""
        odd = isinstance(self.measured, float) and not math.isfinite(self.measured)
        return asdict(self) | ({"measured": str(self.measured)} if odd else {})


@dataclass(frozen=True)
class Claim:
    """What a row says before anything is measured; its fields are those of `Row`."""

    id: str
    title: str
    source: str
    claim: str
    method: str

    def on(self, subject: str, source: str | None = None) -> "Claim":
        """The same claim measured on another subject, whose name goes into id and title."""
        name = subject.removeprefix("the study's ")
        return replace(
            self, id=f"{self.id}-{name}", title=f"{self.title}, {subject}", source=source or self.source
        )

    def at_most(self, measured: float | int, bound: float | int) -> Row:
        """A row that passes where the value is no greater than the bound (a NaN fails)."""
        return self._row(f"<= {bound:.3g}", measured, "pass" if measured <= bound else "fail")

    def at_least(self, measured: float | int, bound: float | int) -> Row:
        """A row that passes where the value is no less than the bound (a NaN fails)."""
        return self._row(f">= {bound:.3g}", measured, "pass" if measured >= bound else "fail")

    def failed(self, why: str) -> Row:
        """A row that fails because there is no value: nothing to measure, or the check itself failed."""
        return self._row("a value", why, "fail")

    def reported(self, measured: float | int | str) -> Row:
        """A row that reports a value and judges nothing."""
        return self._row("-", measured, "measured")

    def _row(self, tolerance: str, measured: float | int | str, verdict: Verdict) -> Row:
        return Row(**vars(self), tolerance=tolerance, measured=measured, verdict=verdict)
