"""A coordinator, with a broker for the devices of this machine."""

from __future__ import annotations

import logging
import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from . import operate
from .binary import Flag, arguments
from .errors import Error
from .events import Events
from .plans import Plan
from .process import Child, Event
from .protocol import Vector

log = logging.getLogger("zofl")

_PATIENCE = 3.0  # seconds in which devices of one program join


class Server:
    """A running coordinator. Use it in a with statement, or call close()."""

    def __init__(self, command: list[str], store: Path, url: str, scratch: Any) -> None:
        self.store = store
        self.url, self.run = url, ""
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

    def wait(self) -> None:
        """Waits until the run has ended."""
        for _ in self.events():
            pass

    def status(self, **flags: Flag) -> dict[str, Any]:
        """What the coordinator is doing, as `zofl status --json` says it."""
        return operate.status(self.url, self.run, **flags)

    def export(self, at: int = 0, **flags: Flag) -> Vector:
        """The model after record at, or after the last one."""
        return operate.export(None, at=at, **{"url": self.url, "run": self.run, **flags})

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
          store: str | os.PathLike[str] | None = None, *, listen: str = "127.0.0.1:0",
          **flags: Flag) -> Server:
    """Leads the run of a plan, or continues the one in store.

    with zofl.serve(plan, store="kitchen.log") as server:
        zofl.Device(server.url, server.run, "pi-1", loss=f).run()

    The broker is for this machine, at a free port; the log of no store is gone at the end. Flags
    are those of `zofl serve`, with _ for -: for a broker elsewhere give url, and listen="".
    """
    scratch = tempfile.TemporaryDirectory(prefix="zofl-")
    given, url = [], str(flags.get("url") or "")
    if isinstance(plan, Mapping):
        given = [os.path.join(scratch.name, "plan.json")]
        Plan(plan).save(given[0])
    elif plan is not None:
        given = [os.fspath(plan)]
    where = Path(scratch.name, "log") if store is None else Path(store)
    said = arguments({"store": where, "listen": listen or None, **flags})
    try:
        return Server(["--json", "--attached", *said, *given], where, url, scratch)
    except BaseException:
        scratch.cleanup()
        raise
