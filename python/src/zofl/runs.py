"""What simulated runs did."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from . import chart
from .chart import Numbers
from .process import Event, log
from .protocol import Vector


@dataclass(repr=False)
class Run:
    """A run with one setting and one seed, round by round. What is not known is NaN."""

    name: str
    seed: int
    settings: dict[str, str]  # of the fields that were swept
    rows: list[Event] = field(default_factory=list)  # as `zofl simulate --json` prints rounds
    # "rounds", "patience", a metric's condition, "stopped", "diverged", "paused", "interrupted" or
    # "failed"
    ended: str = ""
    error: str = ""  # why, if the run did not come to its end
    final: Event = field(default_factory=dict)  # as `zofl simulate --json` prints the end
    model: Vector | None = None  # the parameters at the end, one vector
    x: Any = None  # the same in the structure of initial, if that has one
    # of a plan with best: metric, value, n and round of the best model, and the model and x
    best: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"<run {self.name}: {said(self.losses)}{', ' + self.ended if self.ended else ''}>"

    def column(self, name: str) -> Numbers:
        """A value of all rounds: loss, step, round_step, mu, perturbations, contributors, ..."""
        return np.array([number(row.get(name)) for row in self.rows], np.float64)

    @property
    def loss(self) -> float:
        """The mean training loss of the last tenth of the rounds; NaN if the run did not end."""
        return number(self.final.get("loss"))

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
    def signal_to_noise(self) -> float:
        """Of a difference at the mu that devices found: a slope over its error; 100: or more."""
        return self._found("signal_to_noise")

    @property
    def losses_factor(self) -> float:
        """How many times the losses the error of differences takes, at the mu that devices found."""
        return self._found("losses_factor")

    def _found(self, name: str) -> float:
        found = self.final.get("found") or ()
        return next((number(f.get(name)) for f in found if f["of"] == "mu"), math.nan)

    @property
    def metrics(self) -> dict[str, Numbers]:
        """The plan's metrics by name: NaN for rounds after which they were not measured."""
        rows = [row.get("metrics") or {} for row in self.rows]
        names = list(dict.fromkeys(name for row in rows for name in row))
        return {name: np.array([number(row.get(name)) for row in rows]) for name in names}

    def to_frame(self) -> Any:
        """The rounds as a pandas.DataFrame."""
        return chart.frame(self.rows)

    def plot(self, ax: Any = None) -> Any:
        """Draws the losses with matplotlib, on axes that it returns."""
        return chart.plot({self.name: self.losses}, ax)

    def _repr_html_(self) -> str:
        return chart.svg({self.name: self.losses}) + chart.table([
            ("run", self.name), ("rounds", len(self.rows)), ("loss", said(self.losses)),
            ("ended", self.error or self.ended)])


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
    def best(self) -> Run | None:
        """The run that ended with the lowest loss; None if none came to its end."""
        done = [r for r in self.runs if math.isfinite(r.loss)]
        return min(done, key=lambda r: r.loss, default=None)

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

    def to_frame(self) -> Any:
        """All rounds as a pandas.DataFrame, with the run, its seed and its settings."""
        return chart.frame([row for r in self.runs for row in r.rows])

    def plot(self, ax: Any = None) -> Any:
        """Draws the losses of all runs with matplotlib, on axes that it returns."""
        return chart.plot({r.name: r.losses for r in self.runs}, ax)

    def _repr_html_(self) -> str:
        rows = [(r.name, f"{said(r.losses)}, {r.ended}") for r in self.runs]
        return chart.svg({r.name: r.losses for r in self.runs}) + chart.table(rows)

    @staticmethod
    def _together(rows: list[Numbers]) -> Numbers:
        out = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
        for to, row in zip(out, rows):
            to[: len(row)] = row
        return out

    def heard(self, event: Event) -> None:
        """Takes an event of `zofl simulate`."""
        if event["event"] == "begin":
            self.runs.append(Run(event["run"], event["seed"], event["settings"]))
        elif event["event"] == "round":
            self.runs[-1].rows.append(event)
        elif event["event"] == "end":
            run = self.runs[-1]
            run.ended, run.error, run.final = event["ended"], event.get("error", ""), event
            run.best = dict(event["best"]) if event.get("best") else None
            if event.get("warning"):
                log.warning("%s: %s", run.name, event["warning"])


def said(losses: Numbers) -> str:
    """Losses in a few words."""
    known = losses[np.isfinite(losses)]
    if not known.size:
        return f"{len(losses)} rounds"
    return f"{len(losses)} rounds, loss {known[0]:.4g} to {known[-1]:.4g}"


def number(value: Any) -> float:
    return math.nan if value is None else float(value)
