"""The public places that records fill: their number is fixed before anyone counts the records."""

from collections.abc import Sequence

from promptdp.errors import InputError
from promptdp.records.record import Record


class Slots:
    """n public places, each holding one record or none; presence is private, n is not (Sec. III-D)."""

    def __init__(self, contents: Sequence[Record | None]):
        self._contents = tuple(contents)

    @classmethod
    def fill(cls, n: int, records: Sequence[Record]) -> "Slots":
        """Put record i into slot i and leave the other slots absent.

        Raises:
            InputError: there are more records than slots.
        """
        if len(records) > n:
            raise InputError(
                f"slots {n}: there are more records than slots; raise slots or leave records out"
            )
        return cls([*records, *[None] * (n - len(records))])

    def __len__(self) -> int:
        """n, the number of slots."""
        return len(self._contents)

    def __getitem__(self, slot: int) -> Record | None:
        """The record in a slot, or None."""
        return self._contents[slot]

    def __repr__(self) -> str:
        """The public number of slots alone: presence is private."""
        return f"Slots(n={len(self)})"
