"""A device of a run, whose loss is a function in Python."""

from __future__ import annotations

import asyncio
import math
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt

from . import keywords
from .arrays import loaded
from .binary import Flag, arguments
from .calls import functions
from .errors import Error, UsageError
from .events import Events
from .initial import Initial, initial_of
from .model import Asker, Model
from .plans import Plan
from .process import Child, Event, log
from .protocol import Evaluate, Gradient, Loss, Losses, Near, Report, Vector
from .report import Reporter
from .scaling import Scaler
from .spoken import spoken
from .talk import talk
from .tree import Train

_MOST = 2**31 - 1  # parameters of a loss in another process
_TURN = 0.5  # seconds: on Windows Ctrl-C does not end a wait without an end


@dataclass(frozen=True)
class Result:
    """Where a device stopped."""

    model: Vector  # the parameters after the last record
    record: int  # the last record that the device applied
    digest: str  # of the state after it: equal on all devices
    ended: bool  # whether the run is over, and not only this device
    queries: int  # losses that the device evaluated
    x: Any = field(default=None, repr=False)  # the model in the structure that the loss gets


class Device:
    """Takes part in a run, with one of three functions:

    loss(x, batch)
        the mean loss at parameters x, on the minibatch that batch names
    losses(xs, batch)
        for engines that evaluate many points at once: the losses at xs, of shape (Q, dim)
    gradient(x, batch)
        loss and gradient at x: the same scalars travel, and no difference is taken. Give loss or
        losses too if they are cheaper: some plans ask for them all the same

    Each may leave batch out: loss(x). evaluate(x, device) returns the plan's metrics on held-out
    data. x is a read-only float32 array, valid until the function returns: copy what is to be kept.

    run is the run's name, or its plan. Of a plan(initial=...) x has the structure of initial, and
    the run begins there. Elsewhere give initial again, which x0 is another name of, or the model's
    file and train; without it, x is one vector, and the device fetches where the run begins from
    `serve`. dim is the plan's: give it to have another one refused.

    If a function fails in the first round that asks it, and again, run() ends with an `Error`,
    whose __cause__ is what the function raised; strict=False goes on trying. Later an exception, or
    NaN, costs the device its round: it is logged with its traceback once, and counted after that.

    factors(points, batch) returns the losses at points that are `Factors`, for an engine that adds
    rank 1 to its weights itself: it needs x, and no point of a million parameters. It is asked in
    place of loss or losses, which stay for other plans, if the plan has distribution=lowrank.

    columns are this device's rows, of shape (n, columns), for a plan with columns: before round 1
    all devices find one scale, and from then on `scaler` has it, also on devices that join later.

    store is a directory for the device's state, which survives crashes. progress(event) is called
    from another thread, with what `zofl client --json` prints. report() returns numbers of your own
    by name, which the run keeps as curves; see the method report. Other flags of `zofl client` are
    arguments too, with _ for -: creds="pi-1.creds", secret="kitchen.key", memory=2048.

    run() takes part here; start() and wait() do in a thread, as does a with statement:

    >>> plan = zofl.plan(run="kitchen", initial=np.zeros(20), members=1, rounds=20)
    >>> with zofl.serve(plan) as server:
    ...     with zofl.Device(server.url, plan, "pi-1", loss=lambda x: sum((x - 3) ** 2)) as device:
    ...         result = device.wait()
    >>> result.ended, result.model.shape
    (True, (20,))
    """

    def __init__(self, url: str, run: str | Mapping[str, Any], id: str, *,
                 loss: Loss | None = None, losses: Losses | None = None,
                 gradient: Gradient | None = None, evaluate: Evaluate | None = None,
                 initial: Any = None, x0: Any = None, train: Train = None, dim: int = 0,
                 samples: int = 0,
                 points: int = 16, columns: npt.ArrayLike | None = None,
                 store: str | os.PathLike[str] | None = None,
                 progress: Callable[[Event], None] | None = None,
                 report: Report | None = None, strict: bool = True,
                 factors: Near | None = None, **flags: Flag) -> None:
        keywords.check(Device.__init__, "exec", flags)
        if x0 is not None and initial is not None:
            raise UsageError("x0 and initial are two names of one argument: give one", 2)
        self._initial = initial_of(initial if x0 is None else x0, train)
        if isinstance(run, Mapping):
            dim, run = self._of_plan(run, dim)
        if isinstance(dim, int) and not 0 <= dim <= _MOST:
            raise UsageError(f"dim={dim}: give the plan's dim, at most {_MOST}, or leave it out", 2)
        if self._initial is not None:
            self._initial.agree(dim, "the device")
        self._given: dict[str, Any] = {
            "loss": loss, "losses": losses, "gradient": gradient, "evaluate": evaluate, "dim": dim,
            "samples": samples, "points": points, "columns": columns, "factors": factors}
        self._flags: dict[str, Flag] = {"url": url, "run": run, "id": id, "store": store, **flags}
        self._progress, self._strict = progress, strict
        self._report = report
        self._begin()

    def _of_plan(self, plan: Mapping[str, Any], dim: int) -> tuple[int, str]:
        """The dim and the name of a plan's run, which begins where the plan says."""
        has = int(plan.get("dim", 0))
        if dim and has and dim != has:
            raise UsageError(f"the device has dim={dim}, and the plan dim={has}: leave the device's "
                             "out", 2)
        if self._initial is None and isinstance(plan, Plan):
            self._initial = plan.initial
        elif self._initial is not None:
            self._initial.agree(has, "the plan")
        return has, str(plan.get("run", "run"))

    def _begin(self) -> None:
        """Sets what changes while the device takes part, and what cannot be pickled."""
        self._tree = self._initial.tree if self._initial else None
        self._functions = functions(**self._given, tree=self._tree)
        self._reporter = Reporter(self._report)
        self._lock = threading.Lock()
        self._asker = Asker()
        self._events: Events | None = None  # for progress
        self._child: Child | None = None
        self._scratch = Path()
        self._stopped = False
        self._last: Event = {}
        self._waits = ""  # for whom the run waits, as the log has it
        self._ended, self._queries = False, 0
        self._future: Future[Result] | None = None
        self._thread: threading.Thread | None = None

    @property
    def scaler(self) -> Scaler | None:
        """The scale of the run's columns; None before the devices have found it."""
        return self._functions.scaler

    def __enter__(self) -> Device:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._thread is not None and self._thread.is_alive():
            if kind is None and self._queries == 0:
                log.warning("the device stops before its first round, as its with block ends: call "
                            "wait() in the block")
            self.stop()
            self._thread.join()
            with self._lock:
                self._stopped = False

    def run(self) -> Result:
        """Takes part until the run has ended, or stop() is called.

        Ctrl-C stores the device's state and raises KeyboardInterrupt. What the program refuses
        raises an `Error`, and so does a function that fails in the first round.
        """
        tree = self._tree
        with tempfile.TemporaryDirectory(prefix="zofl-") as scratch, self._telling():
            self._scratch = Path(scratch)
            model, flags = self._scratch / "model.npy", dict(self._flags)
            if self._initial is not None:
                flags.update(self._initial.flags(self._scratch / "initial"))
            x: Vector = np.empty(0, np.float32)
            try:
                talk(self._functions, "exec", f"--out={model}", *arguments(flags),
                     f"--strict={str(self._strict).lower()}",
                     heard=self._heard, began=self._began, answered=self._reporter.ask)
                x = loaded(model) if model.exists() else x
            except BaseException:
                if tree is not None:
                    tree.restore()
                raise
            finally:
                self._reporter.began(None)
                with self._lock:
                    self._child, self._stopped = None, False
                self._asker.ended(x, int(self._last.get("n", 0)))
                self._events = None
        shown: Any = x if tree is None else tree.keep(x if x.size else tree.vector)
        return Result(x, int(self._last.get("n", 0)), str(self._last.get("digest", "")),
                      self._ended, self._queries, shown)

    async def run_async(self) -> Result:
        """What run() does, for asyncio. A task that is cancelled stops the device, and its state
        is stored before CancelledError comes out."""
        self.start()
        assert self._future is not None
        result = asyncio.wrap_future(self._future)
        try:
            return await asyncio.shield(result)
        except asyncio.CancelledError:
            self.stop()
            await asyncio.wait([result])
            if not result.cancelled():
                result.exception()  # it is told nobody
            raise

    def model(self) -> Model:
        """A copy of the model, and the last record in it: (x, record). Call it from any thread."""
        x, record = self._asker.ask()
        return Model(x if self._tree is None else self._tree.copy(x), record)

    @property
    def x(self) -> Any:
        """A copy of the model, in the structure that the loss gets."""
        return self.model().x

    def start(self) -> Device:
        """Begins run() in a thread of its own."""
        if self._future is not None and not self._future.done():
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

    def __getstate__(self) -> dict[str, Any]:
        """A device is pickled as it was made: the copy takes part anew, as in multiprocessing."""
        return {name: getattr(self, name)
                for name in ("_given", "_initial", "_flags", "_progress", "_strict", "_report")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

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
        self._asker.began(child, self._scratch)
        self._reporter.began(child)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Calls progress from a thread of its own, where it may ask for the model."""
        if self._progress is None:
            yield
            return
        events = self._events = Events()
        thread = threading.Thread(target=self._tell, args=(events, self._progress), daemon=True,
                                  name="zofl")
        thread.start()
        try:
            yield
        finally:
            events.end()
            thread.join()

    @staticmethod
    def _tell(events: Events, progress: Callable[[Event], None]) -> None:
        for event in events:
            try:
                progress(event)
            except Exception:
                log.exception("progress failed")

    def _heard(self, event: Event) -> None:
        if event.get("event") == "model":
            self._asker.heard(event)
            return
        state = event.get("event")
        waits = event.get("reason", "") if state in ("waiting", "paused") else self._waits
        if waits and waits != self._waits:
            log.warning("%s: %s", state, spoken(waits))
        self._waits = waits
        if state == "stopped":
            self._last = event
        else:
            self._ended = state == "ended"
            self._queries = max(self._queries, int(event.get("queries", 0)))
        if self._events is not None:
            self._events.put(event)
