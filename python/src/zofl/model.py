"""The model of a device while it takes part."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any, NamedTuple

from .arrays import loaded
from .errors import Error
from .process import Child, Event
from .protocol import Vector

_TURN = 0.5  # seconds: on Windows Ctrl-C does not end a wait without an end


class Model(NamedTuple):
    """A model of the run: a copy, which nobody else changes."""

    x: Any  # in the structure that the loss gets
    record: int  # the last record in it


class Asker:
    """Asks the program of a device for the model, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._scratch = Path()
        self._numbers = itertools.count()
        self._open: dict[str, Future[tuple[Vector, int]]] = {}
        self._last: tuple[Vector, int] | None = None  # where the device stopped

    def began(self, child: Child, scratch: Path) -> None:
        with self._lock:
            self._child, self._scratch = child, scratch

    @property
    def knows(self) -> bool:
        """Whether there is somebody to ask, or what was last told."""
        with self._lock:
            return self._child is not None or self._last is not None

    def heard(self, event: Event) -> None:
        """Takes an answer: the model is in a file."""
        with self._lock:
            asked = self._open.pop(event["path"], None)
        if asked is None:
            return
        path = Path(event["path"])
        if event.get("err"):
            asked.set_exception(Error(event["err"]))
        elif not path.exists():
            asked.set_exception(RuntimeError("the device has no model yet: it has not joined a run"))
        else:
            asked.set_result((loaded(path).copy(), int(event["n"])))
            path.unlink()

    def ended(self, x: Vector, record: int) -> None:
        """Notes where the device stopped. Who still waits gets that model."""
        with self._lock:
            self._child = None
            if x.size:
                self._last = x, record
            still, self._open = list(self._open.values()), {}
            last = self._last
        for asked in still:
            if last is None:
                asked.set_exception(RuntimeError("the device stopped before it had a model"))
            else:
                asked.set_result((last[0].copy(), last[1]))

    def ask(self) -> tuple[Vector, int]:
        """A copy of the model, and its last record."""
        with self._lock:
            if self._child is None:
                if self._last is None:
                    raise RuntimeError("the device does not take part yet: start() it first")
                return self._last[0].copy(), self._last[1]
            path = str(self._scratch / f"model-{next(self._numbers)}.npy")
            asked = self._open[path] = Future()
            self._child.answer(f"model {path}")
        while not asked.done():
            wait([asked], _TURN)
        return asked.result()
