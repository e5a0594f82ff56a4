"""A device of a run, whose loss is a function in Python."""

from __future__ import annotations

import math
import os
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import SupportsFloat

import numpy as np

from .arrays import loaded
from .binary import Flag, arguments
from .calls import functions
from .errors import Error
from .process import Child, Event, log
from .protocol import Evaluate, Gradient, Loss, Losses, Report, Vector
from .report import Reporter
from .talk import talk

_TURN = 0.5  # seconds: on Windows Ctrl-C does not end a wait without an end


@dataclass(frozen=True)
class Result:
    """Where a device stopped."""

    model: Vector  # the parameters after the last record
    record: int  # the last record that the device applied
    digest: str  # of the state after it: equal on all devices
    ended: bool  # whether the run is over, and not only this device
    queries: int  # losses that the device evaluated


class Device:
    """Takes part in a run, with one of three functions:

    loss(x, batch)
        the mean loss at parameters x, float32 and read-only, on the minibatch that batch names
    losses(xs, batch)
        for engines that evaluate many points at once: the losses at xs, of shape (Q, dim)
    gradient(x, batch)
        loss and gradient at x: the same scalars travel, and no difference is taken. Give loss or
        losses too if they are cheaper: some plans ask for them all the same

    dim is the plan's. evaluate(x, device) returns the plan's metrics on held-out data. All
    arrays are views of a file, valid until the function returns: copy what is to be kept. An
    exception in a function costs the device its round; it is logged, and the device goes on. If the
    loss fails in the first round, and again, the device ends with an `Error`; strict=False goes on
    trying.

    store is a directory for the device's state, which survives crashes. progress(event) is called
    from another thread, with what `zofl client --json` prints. report() returns numbers of your own
    by name, which the run keeps as curves; see the method report. Other flags of `zofl client` are
    arguments too, with _ for -: creds="pi-1.creds", secret="kitchen.key", memory=2048.

    run() takes part here; start() and wait() do in a thread, as does a with statement:

    with zofl.Device(url, "kitchen", "pi-1", loss=f, dim=7850) as device:
        result = device.wait()
    """

    def __init__(self, url: str, run: str, id: str, *, loss: Loss | None = None,
                 losses: Losses | None = None, gradient: Gradient | None = None,
                 evaluate: Evaluate | None = None, dim: int, samples: int = 0,
                 points: int = 16, store: str | os.PathLike[str] | None = None,
                 progress: Callable[[Event], None] | None = None,
                 report: Report | None = None, strict: bool = True,
                 **flags: Flag) -> None:
        if dim < 1:
            raise ValueError(f"dim={dim}: give the plan's dim, the number of parameters")
        self._functions = functions(loss, losses, gradient, evaluate, dim=dim, samples=samples,
                                    points=points)
        self._flags: dict[str, Flag] = {"url": url, "run": run, "id": id, "store": store, **flags}
        self._progress, self._strict = progress, strict
        self._reporter = Reporter(report)
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._stopped = False
        self._last: Event = {}
        self._waits = ""  # for whom the run waits, as the log has it
        self._ended, self._queries = False, 0
        self._future: Future[Result] | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Device:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._thread is not None and self._thread.is_alive():
            self.stop()
            self._thread.join()
            with self._lock:
                self._stopped = False

    def run(self) -> Result:
        """Takes part until the run has ended, or stop() is called.

        Ctrl-C stores the device's state and raises KeyboardInterrupt. What the program refuses
        raises an `Error`.
        """
        with tempfile.TemporaryDirectory(prefix="zofl-") as scratch:
            model = Path(scratch) / "model.npy"
            try:
                talk(self._functions, "exec", f"--out={model}", *arguments(self._flags),
                     f"--strict={str(self._strict).lower()}",
                     heard=self._heard, began=self._began, answered=self._reporter.ask)
            finally:
                self._reporter.began(None)
                with self._lock:
                    self._child, self._stopped = None, False
            x = loaded(model) if model.exists() else np.empty(0, np.float32)
        return Result(x, int(self._last.get("n", 0)), str(self._last.get("digest", "")),
                      self._ended, self._queries)

    def start(self) -> Device:
        """Begins run() in a thread of its own."""
        if self._thread is not None and self._thread.is_alive():
            raise RuntimeError("the device runs: wait() for it before it starts again")
        future = self._future = Future()
        self._thread = threading.Thread(target=self._keep, args=(future,), daemon=True, name="zofl")
        self._thread.start()
        return self

    def wait(self, timeout: float | None = None) -> Result:
        """What run() returns or raises in the thread of start(). TimeoutError: it goes on."""
        if self._future is None:
            raise RuntimeError("the device was not started: call start(), or run()")
        until = math.inf if timeout is None else time.monotonic() + timeout
        while not self._future.done() and (left := until - time.monotonic()) > 0:
            wait([self._future], min(left, _TURN))
        try:
            return self._future.result(0)
        except FutureTimeout:
            if self._future.done():
                raise
            raise TimeoutError(f"the device still takes part after {timeout} seconds") from None

    def report(self, values: Mapping[str, SupportsFloat] | None = None,
               /, **named: SupportsFloat) -> None:
        """Reports numbers of your own: report(temperature=31.5), report({"train/loss": 0.3}).

        The coordinator's dashboard, history and metrics show the median, the least and the greatest
        of the devices' values. Nobody trains with them; the coordinator sees them, whatever the
        plan hides. Call it as often as you like, also in loss: the last value is sent, four times a
        second at first, later every ten seconds. NaN is not sent.
        """
        self._reporter.report({**(values or {}), **named})

    def stop(self) -> None:
        """Ends run() from another thread: the device's state is stored."""
        with self._lock:
            self._stopped = True
            if self._child is not None:
                self._child.stop()

    def _keep(self, future: Future[Result]) -> None:
        try:
            future.set_result(self.run())
        except BaseException as error:
            if isinstance(error, Error):  # whoever waits for nothing sees no exception
                log.error("the device stopped: %s", error)
            log.debug("the device stopped", exc_info=True)
            future.set_exception(error)

    def _began(self, child: Child) -> None:
        with self._lock:
            self._child = child
            if self._stopped:
                child.stop()
        self._reporter.began(child)

    def _heard(self, event: Event) -> None:
        waits = event.get("reason", "") if event.get("event") == "waiting" else self._waits
        if waits and waits != self._waits:
            log.warning("waiting: %s", waits)
        self._waits = waits
        if event.get("event") == "stopped":
            self._last = event
        else:
            self._ended = event.get("event") == "ended"
            self._queries = max(self._queries, int(event.get("queries", 0)))
        if self._progress is not None:
            try:
                self._progress(event)
            except Exception:
                log.exception("progress failed")
