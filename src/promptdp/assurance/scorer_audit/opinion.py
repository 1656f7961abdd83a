"""What a second opinion can be: right, wrong, or none for a stated reason."""

from enum import StrEnum


class Reason(StrEnum):
    """Why there is no opinion."""

    LONG = "too long to be asked"
    UNREAD = "not read"
    LARGE = "too large"
    UNDECIDED = "undecided"
    MEMORY = "out of memory"
    TIMEOUT = "out of time"
    ERROR = "error"


class NoOpinionError(Exception):
    """The software that was asked can't say."""

    def __init__(self, reason: Reason):
        super().__init__(reason)
        self.reason = reason


Opinion = bool | Reason
