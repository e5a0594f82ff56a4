"""Logs that the program wrote: both verify them, and come to one digest and one model."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zofl import audit

DIM = 300
DEVICES = ("pi-1", "pi-2", "pi-3")
SMALL = ["members=3", "target=3", "quorum=2", "rounds=8"]

# Runs: a preset, and what of its plan is smaller here.
RUNS = {
    "zofl": [],
    "fedzo": ["steps=2", "weights=samples"],
    "zofedht": ["steps=2", "perturbations=5"],
    "zo-adafl": ["step_decay=slow-sqrt", "late=2"],
    "zo-adafl-shared": [],
    "scaffold-1": [],
    "zo-svrg": [],
    "fedkseed": ["steps=20", "pool=64", "rebase=3"],
    "scaffold-2": ["perturbations=4"],
    "decomfl": ["pool=64", "rebase=3", "precision=half", "max_scalar=65504"],
    "fedzo-dense": ["control=scaffold-2"],
    "fzoos": ["features=200", "candidates=20"],
}


def port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        number: int = s.getsockname()[1]
        return number


@dataclass
class Run:
    """A run on this machine, while it is led."""

    zofl: Path
    url: str
    name: str
    events: Iterator[dict[str, Any]]

    def until(self, event: str, n: int = 0) -> None:
        """Waits for an event, at record n or later."""
        assert any(e["event"] == event and e["n"] >= n for e in self.events), event

    def order(self, *args: object) -> None:
        """Gives an operator's command."""
        command = [self.zofl, *args, "--url", self.url, "--run", self.name]
        subprocess.run([str(a) for a in command], check=True, capture_output=True, timeout=300)


@contextmanager
def process(*args: object) -> Iterator[subprocess.Popen[str]]:
    """A program in the background, which is stopped at the end."""
    with subprocess.Popen([str(a) for a in args], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as p:
        try:
            yield p
        finally:
            p.kill()


@contextmanager
def led(zofl: Path, plan: Path, store: Path, *more: object) -> Iterator[Run]:
    """Leads the run of a plan, with all its devices."""
    listen = f"127.0.0.1:{port()}"
    url, name = f"nats://{listen}", json.loads(plan.read_text())["run"]
    with ExitStack() as all_:
        serve = all_.enter_context(process(zofl, "serve", plan, "--store", store, "--listen",
                                           listen, "--json"))
        for device in DEVICES:
            all_.enter_context(process(zofl, "client", "--url", url, "--run", name, "--id",
                                       device, "--objective", "bowl", "--dim", DIM, *more))
        watch = threading.Timer(300, serve.kill)  # ends the events that a test waits for
        all_.callback(watch.cancel)
        watch.start()
        assert serve.stdout is not None
        yield Run(zofl, url, name, map(json.loads, serve.stdout))
        serve.terminate()
        assert serve.wait(timeout=300) == 0


def said(zofl: Path, store: Path, *more: object) -> dict[str, object]:
    """What the program says of a log."""
    out = subprocess.run([str(a) for a in (zofl, "verify", "--store", store, "--json", *more)],
                         check=True, capture_output=True, timeout=300).stdout
    found: dict[str, object] = json.loads(out)
    return found


def planned(zofl: Path, path: Path, preset: str, *more: object) -> Path:
    """Writes the plan of a run."""
    sets = [arg for s in SMALL + RUNS[preset] for arg in ("--set", s)]
    args = (zofl, "plan", "--preset", preset, "--run", preset, "--dim", DIM, "--write", path,
            *sets, *more)
    subprocess.run([str(a) for a in args], check=True, capture_output=True, timeout=300)
    return path


@pytest.mark.parametrize("preset", RUNS)
def test_log_of_the_program(zofl: Path, tmp_path: Path, preset: str) -> None:
    store = tmp_path / "log"
    with led(zofl, planned(zofl, tmp_path / "plan.json", preset), store) as run:
        run.until("ended")
    want, got = said(zofl, store), audit.verify(store)
    assert got.problems == ()
    for name in ("run", "records", "rounds", "epoch", "hash", "digest", "ended"):
        assert getattr(got, name) == want[name], name
    assert got.rounds == 8 and got.digest
    model = tmp_path / "model.npy"
    subprocess.run([zofl, "export", "--store", store, "--out", model], check=True,
                   capture_output=True, timeout=300)
    assert np.load(model).tobytes() == audit.model(store).tobytes()


def test_private_run(zofl: Path, tmp_path: Path) -> None:
    store, key = tmp_path / "log", tmp_path / "key"
    plan = planned(zofl, tmp_path / "plan.json", "decomfl", "--secret", key)
    with led(zofl, plan, store, "--secret", key) as run:
        run.until("ended")
    got = audit.verify(store, secret=key.read_bytes())
    assert got.ok and got.digest
    assert got.digest == said(zofl, store, "--secret", key)["digest"]
    assert audit.verify(store).digest is None


def test_operated_run(zofl: Path, tmp_path: Path) -> None:
    """A change, a rollback and a stop, by the commands."""
    store = tmp_path / "log"
    plan = planned(zofl, tmp_path / "plan.json", "zofedht", "--set", "rounds=0")
    with led(zofl, plan, store) as run:
        run.until("round", 8)
        run.order("change", "step=0.0001")
        run.until("changed", 8)
        run.order("rollback", "5")
        run.until("rolled back", 9)
        run.until("round", 15)
        run.order("stop", "--reason", "enough")
        run.until("ended")
    want, got = said(zofl, store), audit.verify(store)
    assert got.problems == ()
    assert (got.digest, got.rounds, got.ended) == (want["digest"], want["rounds"], "requested")
    for at in (1, 5, 8, int(got.records) - 1):
        assert audit.verify(store, at=at).digest == said(zofl, store, "--at", at)["digest"]
