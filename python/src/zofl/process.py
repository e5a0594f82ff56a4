"""The program as a child process."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import IO, Any

from .binary import find, said
from .errors import failure
from .spoken import spoken

Event = dict[str, Any]
Heard = Callable[[Event], None]

_PATIENCE = 30.0  # seconds for the program to store what it has, and end
# Exit codes of a program that was asked to end before it was ready to: SIGTERM, interrupted, and
# the end of standard input.
_STOPPED = (-15, 130, 1) if sys.platform == "win32" else (-15, 130)
_LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING,
           "ERROR": logging.ERROR}

log = logging.getLogger("zofl")


class Child:
    """The program, while it runs.

    Its JSON lines go to `heard`, its messages to the log and to `told`, all from other threads.
    `ended` is called after the last one.

    It has a process group of its own: Ctrl-C comes to Python alone, which then stops it. If Python
    dies, the program's standard input ends, and it stops.
    """

    def __init__(self, *command: str, heard: Heard, requests: bool = False,
                 told: Callable[[str], None] = lambda message: None,
                 ended: Callable[[], None] = lambda: None) -> None:
        self._heard, self._told, self._ended = heard, told, ended
        self._errors: deque[str] = deque(maxlen=100)  # the last lines of standard error
        self._stopping, self._writing = False, threading.Lock()
        new_group: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            new_group = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        self._process = subprocess.Popen(
            [find(), *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **new_group)
        p = self._process
        assert p.stdin and p.stdout and p.stderr
        self._in, self._out = p.stdin, p.stdout
        listened = [p.stderr] if requests else [p.stderr, p.stdout]
        self._open, self._lock = len(listened), threading.Lock()
        self._ears = [threading.Thread(target=self._listen, args=(f,), daemon=True, name="zofl")
                      for f in listened]
        for ear in self._ears:
            ear.start()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.stop()
        try:
            self.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            log.warning("zofl does not end: killed")
        finally:
            self.kill()

    @property
    def pid(self) -> int:
        return self._process.pid

    def requests(self) -> Iterator[str]:
        """What the program asks, line by line, until it ends."""
        for line in self._out:
            yield line.decode("utf-8", "surrogateescape")

    def answer(self, line: str) -> None:
        """Writes an answer, or a report. That the program is gone shows in its exit code."""
        try:
            with self._writing:
                self._in.write(line.encode() + b"\n")
                self._in.flush()
        except (OSError, ValueError):  # ValueError: stop() closed it
            pass

    def stop(self) -> None:
        """Asks the program to end."""
        self._stopping = True
        if self._process.poll() is not None:
            return
        if sys.platform == "win32":  # it has no signal that a program can take; all end with this
            try:
                self._in.close()
            except OSError:
                pass
        else:
            self._process.terminate()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._listened()
        for pipe in (self._out, self._in, self._process.stderr):
            try:
                if pipe:
                    pipe.close()
            except OSError:
                pass

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, when the program has ended and all it said was heard."""
        code = self._process.wait(timeout)
        self._listened()
        return code

    def check(self) -> None:
        """Waits for the end. It raises what the program says is wrong."""
        code = self.wait()
        if code and not (self._stopping and code in _STOPPED):
            raise failure(code, said("\n".join(self._errors)))

    def _listened(self) -> None:
        for ear in self._ears:
            if ear is not threading.current_thread():
                ear.join(_PATIENCE)

    def _listen(self, pipe: IO[bytes]) -> None:
        for raw in pipe:
            line = raw.decode(errors="replace").rstrip("\n")
            try:
                if line.startswith("{"):
                    self._heard(json.loads(line))
                else:
                    self._said(line)
            except Exception:
                log.exception("what zofl said was not taken: %s", line)
        with self._lock:
            self._open -= 1
            over = self._open == 0
        if over:
            self._ended()

    def _said(self, line: str) -> None:
        """Logs a message. Errors without a level are kept for the exception."""
        if not line.startswith("time="):
            self._errors.append(line)
            log.debug("%s", line)
            return
        level = line.partition("level=")[2].partition(" ")[0]
        message = line.partition(f"level={level} ")[2]
        known = "the program says: " in message  # this package was the first to tell
        log.log(logging.DEBUG if known else _LEVELS.get(level, logging.INFO), "%s", spoken(message))
        self._told(message)
