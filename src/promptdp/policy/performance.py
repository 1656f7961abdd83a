"""Settings that change speed and memory alone: nothing here can change what a run is, or its privacy."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Performance:
    """How a machine is used.

    Attributes:
        device: where the model lives, in torch's words ("cpu", "cuda").
        chunk: completions of one record in one backward pass; None takes the whole group at once.
        rows: the most sequences that one decoding batch holds, where sequences may share one.
    """

    device: str = "cpu"
    chunk: int | None = None
    rows: int = 256


ANY_MACHINE = Performance()
