"""A check: what it claims, known before anything runs, and what measures it."""

import textwrap
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from promptdp.assurance.verification.row import Claim, Row

LONGEST = 300
"""The most characters of an exception that a row quotes; checks see public records alone."""


@dataclass(frozen=True)
class Check:
    """Claims and what measures them all.

    Attributes:
        claims: one for each row, in the order of the rows.
        measure: makes the rows.
    """

    claims: tuple[Claim, ...]
    measure: Callable[[], Iterable[Row]]

    def rows(self) -> list[Row]:
        """The rows; if anything is raised, or they answer other claims, every claim fails."""
        try:
            found = list(self.measure())
            answered, asked = [row.id for row in found], [claim.id for claim in self.claims]
            if answered != asked:
                raise ValueError(f"the check answered {answered}, not {asked}")
        except Exception as error:
            return [claim.failed(_said(error)) for claim in self.claims]
        return found


def _said(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    text = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {error}"
    return textwrap.shorten(text, LONGEST)
