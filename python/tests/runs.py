"""Short runs on this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import zofl
from zofl import process

DIM = 30


def bowl(x: np.ndarray, batch: zofl.Batch) -> float:
    """A loss whose minimum is at 1."""
    return float(np.mean((x - 1) ** 2))


def small(**fields: Any) -> zofl.Plan:
    """The plan of a short run of two devices."""
    return zofl.plan("decomfl", run="small", dim=DIM, **{
        "members": 2, "target": 2, "quorum": 2, "rounds": 5, "digest_every": 1, **fields})


def client(server: zofl.Server, id: str, heard: Callable[[process.Event], None] = print,
           ) -> process.Child:
    """A device of the program."""
    return process.Child("client", f"--url={server.url}", f"--run={server.run}", f"--id={id}",
                         "--objective=bowl", f"--dim={DIM}", "--json", heard=heard)


def goes_on(server: zofl.Server) -> None:
    """Waits for another round."""
    n = server.status()["n"]
    assert any(e["event"] == "round" and e["n"] > n for e in server.events())


class Running(threading.Thread):
    """A device in a thread of its own."""

    def __init__(self, server: zofl.Server, id: str, *,
                 stopped: Callable[[], object] = lambda: None, **more: Any) -> None:
        super().__init__(daemon=True)
        if not more.keys() & {"loss", "losses", "gradient"}:
            more["loss"] = bowl
        self.device = zofl.Device(server.url, server.run, id, dim=DIM, **more)
        self.result: zofl.Result | None = None
        self.error: BaseException | None = None
        self.stopped = stopped
        self.start()

    def run(self) -> None:
        try:
            self.result = self.device.run()
        except BaseException as error:
            self.error = error
        self.stopped()

    def got(self) -> zofl.Result:
        """The result, when the device has stopped."""
        self.join(300)
        assert not self.is_alive()
        if self.error is not None:
            raise self.error
        assert self.result is not None
        return self.result


def successor(server: zofl.Server, id: str, store: Path) -> Running:
    """A device with the store of one that was killed, as soon as that has let go of it."""
    until = time.monotonic() + 60
    while True:
        began = threading.Event()
        d = Running(server, id, store=store, progress=lambda event: began.set(),
                    stopped=began.set)
        began.wait()
        if d.error is None:
            return d
        assert time.monotonic() < until, d.error
