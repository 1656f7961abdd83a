"""Settings that change speed and memory alone: nothing here can change what a run is, or its privacy."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Performance:
    """How a machine is used.

    Attributes:
        device: where the model lives, in torch's words ("cpu", "cuda").
        chunk: completions of one record in one backward pass; None takes the whole group at once.
        rows: the most sequences that one decoding batch holds, where sequences may share one.
        gradient_checkpointing: keep no activations inside a layer for the backward pass, but compute the
            layer again: less memory, more time.
    """

    device: str = "cpu"
    chunk: int | None = None
    rows: int = 256
    gradient_checkpointing: bool = False


ANY_MACHINE = Performance()
