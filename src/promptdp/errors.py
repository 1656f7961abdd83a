"""The errors a user can meet, each with the exit status the command line gives it."""


class PromptDPError(Exception):
    """Something failed that is our fault (exit status 1)."""

    exit_status = 1


class InputError(PromptDPError):
    """Bad input: one line that says where, what is wrong, and what to do (exit status 2)."""

    exit_status = 2


class PrivacyRefusal(PromptDPError):
    """An action that would void the privacy guarantee (exit status 3)."""

    exit_status = 3
