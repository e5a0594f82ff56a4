"""What a running program reports, kept until somebody reads it."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections import deque
from collections.abc import Callable, Iterator

from .process import Event

_KEPT = 100_000
_TURN = 0.5  # seconds: on Windows Ctrl-C does not end a wait without an end


class Events:
    """A queue that threads fill. Of more than 100,000 that nobody read, the first are lost."""

    def __init__(self) -> None:
        self._waiting: deque[Event] = deque(maxlen=_KEPT)
        self._over = False
        self._changed = threading.Condition()
        self._wakes: list[Callable[[], object]] = []  # of coroutines that wait

    def put(self, event: Event) -> None:
        with self._changed:
            self._waiting.append(event)
            self._notify()

    def end(self) -> None:
        with self._changed:
            self._over = True
            self._notify()

    def _notify(self) -> None:
        self._changed.notify_all()
        wakes, self._wakes = self._wakes, []
        for wake in wakes:
            wake()

    async def next_async(self) -> Event | None:
        """The next event, or None when they have ended."""
        loop = asyncio.get_running_loop()
        while True:
            with self._changed:
                if self._waiting:
                    return self._waiting.popleft()
                if self._over:
                    return None
                changed = asyncio.Event()
                self._wakes.append(functools.partial(_set, loop, changed))
            await changed.wait()

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


def _set(loop: asyncio.AbstractEventLoop, changed: asyncio.Event) -> None:
    """Wakes a coroutine from another thread, unless its loop is over."""
    try:
        loop.call_soon_threadsafe(changed.set)
    except RuntimeError:
        pass
