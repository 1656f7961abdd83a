"""Which failures inside lines 4-7 of Algorithm 1 belong to one record: they leave it the zero vector.

The rule must read that record alone, or one record's presence could stop what others contribute. So a failure
of the machine, which the company of other records and other processes can bring about, is never put down to a
record: it stops the round, and with it the right to release.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import torch

from promptdp.errors import PromptDPError

MACHINE = (MemoryError, OSError, PromptDPError, torch.OutOfMemoryError, torch.AcceleratorError)
"""Exceptions no record is to blame for."""
MACHINE_TEXTS = ("can't allocate memory", "CUDA error", "CUBLAS_STATUS", "CUDNN_STATUS")
"""What torch says of the machine in a plain RuntimeError."""

P = ParamSpec("P")
Value = TypeVar("Value")


def of_record(compute: Callable[P, Value], *args: P.args, **kwargs: P.kwargs) -> Value | None:
    """What `compute` returns on one record; None where it fails by that record's fault.

    Nothing tells which record failed, how or how often: each of these is private.
    """
    try:
        return compute(*args, **kwargs)
    except MACHINE:
        raise
    except Exception as error:
        if isinstance(error, RuntimeError) and any(text in str(error) for text in MACHINE_TEXTS):
            raise
        return None
