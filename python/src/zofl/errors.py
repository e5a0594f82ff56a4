"""What goes wrong outside a loss, by the program's exit codes."""

from __future__ import annotations

from .spoken import spoken


class Error(Exception):
    """The program failed. `code` is its exit code, negative for a signal that ended it."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


class UsageError(Error, ValueError):
    """An argument or the plan is wrong."""


class KeywordError(UsageError, TypeError):
    """An argument has a name that nobody knows."""


class AbsentError(Error):
    """No broker answers, or no coordinator of the run does."""


class DamagedError(Error):
    """A log is damaged, or replicas of the model disagree."""


class MissingError(Error):
    """The program itself is not there."""


_BY_CODE = {2: UsageError, 3: AbsentError, 4: DamagedError}


def failure(code: int, message: str) -> Error:
    """The error of an exit code, with what the program said last."""
    if code < 0 and not message:
        message = f"zofl was ended by signal {-code}"
    return _BY_CODE.get(code, Error)(spoken(message) or f"zofl failed with exit code {code}", code)
