"""What an operator asks of a run."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from . import keywords
from .arrays import loaded
from .binary import Flag, arguments, run
from .initial import initial_of
from .protocol import Vector
from .tree import Train


def status(url: str, run_name: str, **flags: Flag) -> dict[str, Any]:
    """What the coordinator of a run is doing, as `zofl status --json` says it.

    >>> with zofl.serve(zofl.plan(run="kitchen", dim=3)) as server:
    ...     zofl.status(server.url, "kitchen")["rounds"]
    0

    Flags are those of `zofl status`, with _ for -. Raises AbsentError if nobody answers.
    """
    keywords.check(status, "status", flags)
    said = run("status", "--json", *arguments({"url": url, "run": run_name, **flags}))
    found: dict[str, Any] = json.loads(said)
    return found


def export(store: str | os.PathLike[str] | None = None, *, at: int = 0, initial: Any = None,
           train: Train = None, **flags: Flag) -> Vector:
    """The model after record at, or after the last one: float32, of shape (dim,).

    >>> with zofl.serve(zofl.plan(run="kitchen", dim=3), store="kitchen.log"):
    ...     pass
    >>> zofl.export("kitchen.log", at=1)
    array([0., 0., 0.], dtype=float32)

    The log is the directory store, which no coordinator may have open, or with url= and run= that
    of a running coordinator. Where the run begins with a model, give initial, and train, as to
    `plan`. Flags are those of `zofl export`, with _ for -.
    """
    keywords.check(export, "export", flags)
    begin = initial_of(initial, train)
    with tempfile.TemporaryDirectory(prefix="zofl-") as scratch:
        out = Path(scratch) / "model.npy"
        if begin is not None:
            flags = {**begin.flags(Path(scratch) / "initial"), **flags}
        run("export", *arguments({"store": store, "at": at, "out": out, **flags}))
        return loaded(out)
