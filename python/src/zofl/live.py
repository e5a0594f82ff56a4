"""A line that shows how far something is: it redraws in a notebook and on a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from importlib import import_module
from typing import Any

_QUICK = 1.0  # seconds: what takes less shows no line
_EVERY = 0.1  # seconds from one drawing to the next


class Line:
    """Shows a text in place of the one before. Without a notebook or terminal it shows nothing,
    unless always is set: then a line every ten seconds."""

    def __init__(self, always: bool = False) -> None:
        self._text, self._shown = "", False
        self._due = time.monotonic() + _QUICK
        self._display: Any = None
        self._every = _EVERY
        notebook = _notebook()
        if notebook is not None:
            self._draw = self._in_notebook
            self._shell = notebook
        elif sys.stderr is not None and sys.stderr.isatty():
            self._draw = self._on_terminal
        else:
            self._draw = self._to_a_file
            self._every = 10.0
            if not always:
                self._due = float("inf")

    def show(self, text: str) -> None:
        self._text = text
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + self._every
            self._draw(text)
            self._shown = True

    def end(self) -> None:
        """Leaves the last text, where one was drawn."""
        if self._shown:
            self._draw(self._text)
            if self._draw == self._on_terminal:
                print(file=sys.stderr, flush=True)
            self._shown = False

    def _in_notebook(self, text: str) -> None:
        data = {"text/plain": text}
        if self._display is None:
            display = import_module("IPython.display").display
            self._display = display(data, raw=True, display_id=True)
        else:
            self._display.update(data, raw=True)

    def _on_terminal(self, text: str) -> None:
        wide = shutil.get_terminal_size().columns - 1  # a longer line would not be redrawn
        print(f"\r{text[:wide]}\x1b[K", end="", file=sys.stderr, flush=True)

    def _to_a_file(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def _notebook() -> Any:
    """The shell of a notebook, or None: IPython on a terminal is none."""
    if "IPython" not in sys.modules:
        return None
    shell = sys.modules["IPython"].get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None
