"""A coordinator, with a broker for the devices of this machine."""

from __future__ import annotations

import logging
import os
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from . import keywords, operate
from .binary import Flag, arguments
from .errors import Error
from .events import Events
from .initial import Initial, initial_of
from .plans import Plan
from .process import Child, Event
from .protocol import Vector
from .tree import Train

log = logging.getLogger("zofl")

_PATIENCE = 3.0  # seconds in which devices of one program join


class Server:
    """A running coordinator. Use it in a with statement, or call close()."""

    def __init__(self, command: list[str], store: Path, url: str, scratch: Any,
                 initial: Initial | None = None) -> None:
        self.store = store
        self.url, self.run = url, ""
        self._initial = initial
        self._over_with = False
        self._scratch = scratch
        self._events = Events()
        self._leads = threading.Event()
        self._still: threading.Timer | None = None  # tells what round 1 waits for
        self._child = Child("serve", *command, heard=self._heard, told=self._told,
                            ended=self._over)
        try:
            while not self._leads.wait(0.5):  # on Windows Ctrl-C ends no wait without an end
                pass
            if not self.run:
                self._child.check()
                raise Error("zofl serve ended before it led")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Server:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def events(self) -> Iterator[Event]:
        """What happens, as `zofl serve --json` prints it, until the run has ended.

        Each comes once. The last 100,000 that nobody read are kept.
        """
        for event in () if self._over_with else self._events:
            self._over_with = event["event"] == "ended"
            yield event
            if self._over_with:
                return
        if not self._over_with:
            self._child.check()

    async def events_async(self) -> AsyncIterator[Event]:
        """events(), for asyncio: async for event in server.events_async()."""
        while not self._over_with:
            event = await self._events.next_async()
            if event is None:
                self._child.check()
                return
            self._over_with = event["event"] == "ended"
            yield event

    def wait(self) -> None:
        """Waits until the run has ended."""
        for _ in self.events():
            pass

    def status(self, **flags: Flag) -> dict[str, Any]:
        """What the coordinator is doing, as `zofl status --json` says it."""
        return operate.status(self.url, self.run, **flags)

    def export(self, at: int = 0, **flags: Flag) -> Vector:
        """The model after record at, or after the last one."""
        to: dict[str, Any] = {"url": self.url, "run": self.run, "initial": self._initial, **flags}
        return operate.export(None, at=at, **to)

    def best(self, **flags: Any) -> Vector:
        """The model with the best value so far of the plan's best; status()["best"] says which."""
        return self.export(0, best=True, **flags)

    def close(self) -> None:
        """Ends the coordinator. The run can be continued from its store."""
        try:
            with self._child:
                pass
        finally:
            self._scratch.cleanup()

    def _heard(self, event: Event) -> None:
        """Passes an event on. If round 1 still waits for devices a while later, it says so."""
        if self._still is not None:
            self._still.cancel()
            self._still = None
        if event["event"] == "waiting":
            self._still = threading.Timer(_PATIENCE, log.warning,
                                          ("waiting for devices: %s", event["waits"]))
            self._still.daemon = True
            self._still.start()
        self._events.put(event)

    def _told(self, message: str) -> None:
        """Reads where it leads from the log line that says so."""
        if not message.startswith("msg=leading "):
            return
        words = dict(w.partition("=")[::2] for w in message.split())
        self.run, self.url = words["run"], self.url or words["broker"]
        self._leads.set()

    def _over(self) -> None:
        if self._still is not None:
            self._still.cancel()
        self._events.end()
        self._leads.set()


def serve(plan: Mapping[str, Any] | str | os.PathLike[str] | None = None,
          store: str | os.PathLike[str] | None = None, *, initial: Any = None,
          train: Train = None, listen: str | None = None, **flags: Flag) -> Server:
    """Leads the run of a plan, or continues the one in store.

    >>> plan = zofl.plan(run="kitchen", dim=3, members=1, rounds=20)
    >>> with zofl.serve(plan, store="kitchen.log") as server:
    ...     device = zofl.Device(server.url, server.run, "pi-1", loss=lambda x: sum((x - 3) ** 2))
    ...     result = device.run()
    ...     server.status()["rounds"]
    20

    The broker is for this machine, at a free port; the log of no store is gone at the end. Where
    the run begins with a model, devices fetch that from here: a plan(initial=...) has it, and to
    the file of such a plan give initial, and train, again. In a private run nobody may fetch it.
    Flags are those of `zofl serve`, with _ for -: for a broker elsewhere give url.
    """
    keywords.check(serve, "serve", flags)
    begin = initial_of(initial, train)
    if begin is None and isinstance(plan, Plan):
        begin = plan.initial
    scratch = tempfile.TemporaryDirectory(prefix="zofl-")
    given, url = [], str(flags.get("url") or "")
    where = Path(scratch.name, "log") if store is None else Path(store)
    try:
        if isinstance(plan, Mapping):
            given = [os.path.join(scratch.name, "plan.json")]
            Plan(plan).save(given[0])
        elif plan is not None:
            given = [os.fspath(plan)]
        if begin is not None and not (isinstance(plan, Mapping) and plan.get("key_check")):
            flags = {**begin.flags(Path(scratch.name, "initial"), "offer"), **flags}
        if listen is None and not url:
            listen = "127.0.0.1:0"
        said = arguments({"store": where, "listen": listen or None, **flags})
        return Server(["--json", "--attached", *said, *given], where, url, scratch, begin)
    except BaseException:
        scratch.cleanup()
        raise
