"""What a check found of one published value."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from promptdp.reporting.published.printed import Span, point
from promptdp.reporting.published.values import Key, Value

Number = int | float | Fraction | Span
Derived = tuple[Key, str, Number]
"""The place of a value, how it follows from others, and what it is by that."""


@dataclass(frozen=True)
class Finding:
    """One value, judged once.

    Attributes:
        check: how it was judged, in words; one value may be judged by several checks.
        value: the published value.
        ours: what it should be by this check, in text.
        verdict: "agrees", "differs" or "exception".
        reason: why an exception is one.
    """

    check: str
    value: Value
    ours: str
    verdict: str
    reason: str = ""

    @property
    def line(self) -> str:
        """The finding in one line."""
        return f"{self.value.name}: printed {self.value.text}, ours {self.ours} ({self.check})"

    def excepted(self, reason: str) -> "Finding":
        """The same as a known exception."""
        return replace(self, verdict="exception", reason=reason)

    def as_json(self) -> dict[str, Any]:
        """Its entry in the record."""
        table, row, column = self.value.key
        found = {
            "table": table,
            "row": row,
            "column": column,
            "source": self.value.source,
            "kind": self.value.kind,
            "check": self.check,
            "published": self.value.text,
            "ours": self.ours,
            "verdict": self.verdict,
        }
        return found | ({"reason": self.reason} if self.reason else {})


def judge(check: str, value: Value, *ours: Number) -> Finding:
    """Agree if one of our candidates can be printed as the value is.

    A candidate that is an interval says what is known of a number that was computed from printed ones. The
    nearest candidate is shown.
    """
    spans = [one if isinstance(one, Span) else point(one) for one in ours]
    if not spans:
        return Finding(check, value, "none", "differs")
    nearest = min(spans, key=value.span.distance)
    return Finding(check, value, shown(nearest), "agrees" if value.span.meets(nearest) else "differs")


def judge_words(check: str, value: Value, ours: str) -> Finding:
    """Agree if the words are the same."""
    return Finding(check, value, ours, "agrees" if value.text == ours else "differs")


def judge_that(check: str, value: Value, holds: bool, ours: str) -> Finding:
    """Agree if a relation holds; `ours` says what was found."""
    return Finding(check, value, ours, "agrees" if holds else "differs")


def shown(span: Span) -> str:
    """A number to ten digits, or the ends of an interval to six."""
    if span.low == span.high:
        return f"{float(span.low):.10g}"
    return f"{float(span.low):.6g} to {float(span.high):.6g}"
