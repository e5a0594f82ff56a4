"""What an operator asks of a run."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from .arrays import loaded
from .binary import Flag, arguments, run
from .protocol import Vector


def status(url: str, run_name: str, **flags: Flag) -> dict[str, Any]:
    """What the coordinator of a run is doing, as `zofl status --json` says it.

    Flags are those of `zofl status`, with _ for -. Raises AbsentError if nobody answers.
    """
    said = run("status", "--json", *arguments({"url": url, "run": run_name, **flags}))
    found: dict[str, Any] = json.loads(said)
    return found


def export(store: str | os.PathLike[str] | None = None, *, at: int = 0, **flags: Flag) -> Vector:
    """The model after record at, or after the last one: float32, of shape (dim,).

    The log is the directory store, which no coordinator may have open, or with url= and run= that
    of a running coordinator. Flags are those of `zofl export`, with _ for -.
    """
    with tempfile.TemporaryDirectory(prefix="zofl-") as scratch:
        out = Path(scratch) / "model.npy"
        run("export", *arguments({"store": store, "at": at, "out": out, **flags}))
        return loaded(out)
