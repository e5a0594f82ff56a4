"""What a running program reports, kept until somebody reads it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator

from .process import Event

_KEPT = 100_000
_TURN = 0.5  # seconds: on Windows Ctrl-C does not end a wait without an end


class Events:
    """A queue that threads fill. Of more than 100,000 that nobody read, the first are lost."""

    def __init__(self) -> None:
        self._waiting: deque[Event] = deque(maxlen=_KEPT)
        self._over = False
        self._changed = threading.Condition()

    def put(self, event: Event) -> None:
        with self._changed:
            self._waiting.append(event)
            self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def __iter__(self) -> Iterator[Event]:
        """The events, each once, until they end."""
        while True:
            with self._changed:
                while not self._waiting and not self._over:
                    self._changed.wait(_TURN)
                if not self._waiting:
                    return
                event = self._waiting.popleft()
            yield event
