"""Numbers of the app's own, which a device reports beside its work."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Mapping
from typing import SupportsFloat

from .process import Child, log
from .protocol import Report

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.\-/]{0,47}")
_MOST = 16  # names between two messages
_PAUSE = 0.2  # seconds between two calls of a callback


class Reporter:
    """Passes numbers to the program, also those of a callback that is asked now and then."""

    def __init__(self, callback: Report | None) -> None:
        self._callback, self._asked = callback, -math.inf
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._waiting: dict[str, float] = {}  # until the program runs

    def began(self, child: Child | None) -> None:
        """Says which program runs, or that none does."""
        with self._lock:
            self._child = child
        if child is not None and self._waiting:
            self.report({})

    def report(self, values: Mapping[str, SupportsFloat]) -> None:
        """Reports numbers. ValueError names one that cannot be reported, and then none is."""
        checked = {name: _checked(name, value) for name, value in values.items()}
        finite = {name: value for name, value in checked.items() if math.isfinite(value)}
        with self._lock:
            said = {**self._waiting, **finite}
            if len(said) > _MOST:
                raise ValueError(f"{len(said)} names: a device reports at most {_MOST}")
            self._waiting = said if self._child is None else {}
            if self._child is not None and said:
                self._child.answer("report " + " ".join(f"{n}={v!r}" for n, v in said.items()))

    def ask(self) -> None:
        """Asks the callback, at most five times a second. What it raises is logged."""
        now = time.monotonic()
        if self._callback is None or now - self._asked < _PAUSE:
            return
        self._asked = now
        try:
            self.report(self._callback())
        except Exception:
            log.exception("report failed")


def _checked(name: str, value: SupportsFloat) -> float:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r}: a name is a letter, and then letters, digits and _ - . /, at "
                         "most 48")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r}: give one number") from None
