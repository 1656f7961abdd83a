"""Which failures inside lines 4-7 of Algorithm 1 belong to one record: they leave it the zero vector.

The rule must read that record alone, or one record's presence could stop what others contribute. So the list
is closed: a record is to blame only for what a deterministic computation on its own text can raise. All else
may be the machine's, which the company of other records and other processes can bring about, or ours: it
stops the round, and with it the right to release. The text of a message decides nothing.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from jinja2 import TemplateError

RECORDS = (ValueError, LookupError, ArithmeticError, TypeError, TemplateError)
"""Exceptions a record is to blame for; the last is a chat template's."""
MACHINES = (OSError, MemoryError, RuntimeError, ImportError, SystemError)
"""What clears a record all the same: libraries derive exceptions from both, and raise one for the other."""

P = ParamSpec("P")
Value = TypeVar("Value")


def of_record(compute: Callable[P, Value], *args: P.args, **kwargs: P.kwargs) -> Value | None:
    """What `compute` returns on one record; None where it fails by that record's fault.

    Nothing tells which record failed, how or how often: each of these is private.
    """
    try:
        return compute(*args, **kwargs)
    except RECORDS as error:
        reason: BaseException | None = error
        while reason is not None:
            if isinstance(reason, MACHINES):
                raise
            reason = reason.__cause__ or reason.__context__
        return None
