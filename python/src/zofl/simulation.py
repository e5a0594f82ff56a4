"""Whole runs in one process, for a notebook."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .batch import Batch
from .binary import Flag, arguments
from .errors import Error
from .plans import Plan
from .process import Event, log
from .protocol import Evaluate, Functions, Gradient, Loss, Losses, Vector
from .talk import talk

Numbers = npt.NDArray[np.float64]


@dataclass
class Run:
    """A run with one setting and one seed, round by round. What is not known is NaN."""

    name: str
    seed: int
    settings: dict[str, str]  # of the fields that were swept
    rows: list[Event] = field(default_factory=list)  # as `zofl simulate --json` prints rounds
    ended: str = ""  # "rounds", a metric's condition, "diverged", "paused", "interrupted", "failed"
    error: str = ""  # why, if the run did not come to its end
    final: Event = field(default_factory=dict)  # as `zofl simulate --json` prints the end

    def column(self, name: str) -> Numbers:
        """A value of all rounds: loss, step, round_step, mu, perturbations, contributors, ..."""
        return np.array([_number(row.get(name)) for row in self.rows], np.float64)

    @property
    def losses(self) -> Numbers:
        """The mean training loss where each round began."""
        return self.column("loss")

    @property
    def queries(self) -> Numbers:
        """Loss evaluations of all devices, so far."""
        return self.column("queries")

    @property
    def bytes_up(self) -> Numbers:
        """Bytes that a device sent so far: the mean over devices."""
        return self.column("up")

    @property
    def bytes_down(self) -> Numbers:
        """Bytes that a device received so far: the mean over devices."""
        return self.column("down")

    @property
    def metrics(self) -> dict[str, Numbers]:
        """The plan's metrics by name: NaN for rounds after which they were not measured."""
        rows = [row.get("metrics") or {} for row in self.rows]
        names = list(dict.fromkeys(name for row in rows for name in row))
        return {name: np.array([_number(row.get(name)) for row in rows]) for name in names}


class History(Sequence[Run]):
    """The runs of a simulation. Arrays have a row for each run, and a column for each round."""

    def __init__(self, runs: Sequence[Run] = ()) -> None:
        self.runs = list(runs)

    @overload
    def __getitem__(self, at: int) -> Run: ...
    @overload
    def __getitem__(self, at: slice) -> History: ...
    def __getitem__(self, at: int | slice) -> Run | History:
        return History(self.runs[at]) if isinstance(at, slice) else self.runs[at]

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        rounds = max((len(r.rows) for r in self.runs), default=0)
        return f"<{len(self)} runs of up to {rounds} rounds>"

    @property
    def losses(self) -> Numbers:
        return self._together([r.losses for r in self.runs])

    @property
    def queries(self) -> Numbers:
        return self._together([r.queries for r in self.runs])

    @property
    def bytes_up(self) -> Numbers:
        return self._together([r.bytes_up for r in self.runs])

    @property
    def bytes_down(self) -> Numbers:
        return self._together([r.bytes_down for r in self.runs])

    @property
    def metrics(self) -> dict[str, Numbers]:
        all_ = [r.metrics for r in self.runs]
        names = list(dict.fromkeys(name for m in all_ for name in m))
        none = np.empty(0)
        return {name: self._together([m.get(name, none) for m in all_]) for name in names}

    @staticmethod
    def _together(rows: list[Numbers]) -> Numbers:
        out = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
        for to, row in zip(out, rows):
            to[: len(row)] = row
        return out

    def heard(self, event: Event) -> None:
        """Takes an event of `zofl simulate --json`."""
        if event["event"] == "begin":
            self.runs.append(Run(event["run"], event["seed"], event["settings"]))
        elif event["event"] == "round":
            self.runs[-1].rows.append(event)
        elif event["event"] == "end":
            run = self.runs[-1]
            run.ended, run.error, run.final = event["ended"], event.get("error", ""), event
            if event.get("warning"):
                log.warning("%s: %s", run.name, event["warning"])


def simulate(loss: Loss | None = None,
             plan: Mapping[str, Any] | str | os.PathLike[str] | None = None, *,
             devices: int = 0, seeds: int = 1, rounds: int = 0, sweep: Sequence[str] = (),
             losses: Losses | None = None, gradient: Gradient | None = None,
             evaluate: Evaluate | None = None, samples: int = 0, points: int = 64,
             progress: Callable[[Event], None] | None = None, strict: bool = True,
             **flags: Flag) -> History:
    """Leads a plan on so many devices in this process, with each of so many seeds.

    history = zofl.simulate(loss, plan, devices=1000, seeds=3, sweep=["step=1e-3,1e-2"])

    batch.device says for which device loss(x, batch) is asked. The functions are those of `Device`,
    but that what they raise ends the simulation; with strict=False it costs the device its round.
    Flags are those of `zofl simulate`, with _ for -.
    """
    history = History()

    def heard(event: Event) -> None:
        history.heard(event)
        if progress is not None:
            progress(event)

    with stored(plan) as (file, dim):
        functions = checked(Functions(loss, losses, gradient, evaluate, dim, samples, points))
        said: dict[str, Flag] = {"devices": devices, "seeds": seeds, "rounds": rounds,
                                 "sweep": sweep, **flags}
        try:
            talk(functions, "simulate", file, *arguments(said), heard=heard, strict=strict)
        except Error as error:
            if error.code != 1 or not history or not all(run.ended for run in history):
                raise
            log.warning("%s", error)  # no run came to its end: how each ended tells more
    return history


def checked(functions: Functions) -> Functions:
    """The same functions, of which loss or losses is asked once again what it was asked before,
    and gradient is compared once with the losses."""
    if functions.gradient is not None:
        functions = replace(functions, gradient=_compared(functions))
    if functions.loss is not None:
        return replace(functions, loss=_asked_again(functions.loss))
    if functions.losses is not None:
        return replace(functions, losses=_asked_again(functions.losses))
    return functions


def _asked_again(function: Callable[[Vector, Batch], Any]) -> Callable[[Vector, Batch], Any]:
    """Says once if a function has another loss at the same parameters on the same minibatch."""
    said = False

    def asked(x: Vector, batch: Batch) -> Any:
        nonlocal said
        found = function(x, batch)
        if not said and x.any():  # at zeros many a loss is the same on all samples
            said = True
            first, again = _numbers(found), _numbers(function(x, batch))
            if first.shape == again.shape and not np.allclose(first, again, 1e-6, 0, True):
                log.warning(
                    "the loss is %s, and %s at the same parameters on the same minibatch: draw "
                    "samples by batch.choose(len(data)) or batch.rng(), or the differences that "
                    "train the model are those of samples. A loss that is measured may differ so.",
                    first[0], again[0])
        return found

    return asked


def _compared(functions: Functions) -> Gradient:
    """Says once if a gradient is not as steep as the losses that it is of."""
    gradient, said = functions.gradient, False
    assert gradient is not None

    def asked(x: Vector, batch: Batch) -> Any:
        nonlocal said
        found = gradient(x, batch)
        if not said and isinstance(found, (tuple, list)) and len(found) == 2:
            g = np.asarray(found[1], np.float64)
            length = float(np.linalg.norm(g))
            if g.shape == x.shape and 0 < length < math.inf:
                said = True
                rises = _rises(functions, x, g / length, length, batch)
                if rises and not any(2 / 3 <= rise / length <= 3 / 2 for rise in rises):
                    log.warning(
                        "the gradient has the length %.4g, and along it the loss rises by %.4g for "
                        "each unit: return the gradient of the mean loss, the one that is returned "
                        "beside it, on the same samples", length, rises[0])
        return found

    return asked


def _rises(functions: Functions, x: Vector, u: Numbers, length: float,
           batch: Batch) -> list[float]:
    """How steep the loss is along u, at distances where it is not mere noise."""
    at = np.stack([x, x, x, x, *(x + h * u for far in (1e-3, 1e-2, 1e-1) for h in (far, -far))])
    losses = [_numbers(functions.all_losses(p[None].astype(np.float32), batch))[0] for p in at]
    here, apart = losses[:4], losses[4:]
    noise = float(np.ptp(here)) + 1e-6 * abs(here[0])
    found = []
    for i, far in enumerate((1e-3, 1e-2, 1e-1)):
        rise = apart[2 * i] - apart[2 * i + 1]
        if max(abs(rise), 2 * far * length) > 20 * noise:
            found.append(rise / (2 * far))
    return found


def _numbers(found: Any) -> Numbers:
    """One loss or a list of them, of whatever float() reads. What is none is told of elsewhere."""
    try:
        return np.array([float(v) for v in (found if np.iterable(found) else [found])])
    except (TypeError, ValueError):
        return np.empty(0)


@contextmanager
def stored(plan: Mapping[str, Any] | str | os.PathLike[str] | None) -> Iterator[tuple[str, int]]:
    """A plan's file, and its dim."""
    if plan is None:
        raise ValueError("no plan: give plan, what zofl.plan returns or the name of a file")
    if not isinstance(plan, Mapping):
        yield os.fspath(plan), int(Plan.load(plan)["dim"])
        return
    with tempfile.TemporaryDirectory(prefix="zofl-") as scratch:
        file = os.path.join(scratch, "plan.json")
        Plan(plan).save(file)
        yield file, int(plan.get("dim", 0))


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
