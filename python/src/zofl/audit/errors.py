"""What a log can be wrong in."""

from __future__ import annotations


class LogError(ValueError):
    """A log, a record or a state file is not what its specification says."""


class FrameError(LogError):
    """A frame is not valid. `kind` is one of section 1 of docs/wire.md."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(f"{what} ({kind})")
        self.kind = kind
