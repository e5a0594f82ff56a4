"""Finds the step of a plan."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from . import chart, keywords
from .batch import Batch
from .binary import Flag, arguments
from .calls import functions, standing_for
from .errors import Error
from .factors import Factors
from .follow import Heard, stops
from .live import Line
from .plans import Plan
from .process import Event
from .protocol import Functions, Gradient, Loss, Losses, Near, Vector
from .simulation import Given, begins, checked, stored
from .talk import talk
from .tree import Train


@dataclass(frozen=True, repr=False)
class Tuned:
    """What tune found, and what it tried."""

    plan: Plan
    reasons: tuple[str, ...]  # why it chose what
    trials: tuple[Event, ...]  # stage, mu, step, perturbations, batch, rounds, queries, loss
    queries: int  # losses that all devices evaluated
    loss: float = math.nan  # of the best trial
    loss_before: float = math.nan  # of the first parameters
    model: Vector | None = None  # after the best trial: a place to begin
    x: Any = None  # the same in the structure of initial, if that has one

    def to_frame(self) -> Any:
        """The trials as a pandas.DataFrame."""
        return chart.frame(self.trials)

    def __repr__(self) -> str:
        return (f"<tuned in {len(self.trials)} trials of {self.queries:,} evaluations: loss "
                f"{self.loss_before:.4g} to {self.loss:.4g}>")

    def _repr_html_(self) -> str:
        shown = ("stage", "mu", "step", "perturbations", "batch", "rounds", "queries", "loss")
        head = "".join(f"<th>{name}</th>" for name in shown)
        rows = "".join("<tr>" + "".join(f"<td>{_text(t.get(name))}</td>" for name in shown)
                       + "</tr>" for t in self.trials)
        return f"<table><tr>{head}</tr>{rows}</table>" + chart.table(
            [("", reason) for reason in self.reasons])


def tune(loss: Loss | None = None, plan: Given = None, *, devices: int = 0,
         queries: int = 0, rounds: int = 50, seed: int | None = None, fields: Sequence[str] = (),
         initial: Any = None, train: Train = None,
         losses: Losses | None = None, gradient: Gradient | None = None,
         factors: Near | None = None, samples: int = 0, points: int = 64,
         callback: Callable[[Event], Any] | None = None, patience: int = 0,
         progress: Heard = None, strict: bool = True, **flags: Flag) -> Tuned:
    """Finds mu, the step, P and the batch of a plan, within a budget of losses.

    >>> plan = zofl.plan("decomfl", dim=4, rounds=9, members=3)
    >>> tuned = zofl.tune(lambda x: sum((x - 3) ** 2), plan, queries=2000, rounds=5,
    ...                   fields=["step"], progress=False)
    >>> tuned.plan["step"] > 0, tuned.queries <= 2000
    (True, True)

    It tries them on so many devices in this process. queries bounds the losses of all of them
    together; 0 chooses. fields says what to tune, such as ["step"]. The functions, initial, train
    and strict are those of `simulate`; other flags are those of `zofl tune`, with _ for -.

    callback(trial) is called after each trial: the search ends, with the best so far, if it returns
    true or raises StopIteration. patience ends it after so many trials without a lower loss.
    progress=False shows no line, and progress(event) gets each trial.
    """
    keywords.check(tune, "tune", flags)
    found: list[Event] = []
    start = begins(plan, initial, train)
    tree = start.tree if start else None
    with stored(plan, start) as (file, dim, begin), _Trials(
            callback, patience, progress) as trials, \
            tempfile.TemporaryDirectory(prefix="zofl-") as scratch:
        model = Path(scratch) / "model.npy"
        asked = trials.counted(functions(loss, losses, gradient, None, tree=tree, dim=dim,
                                         samples=samples, points=points, factors=factors))
        said: dict[str, Flag] = {"devices": devices, "queries": queries, "rounds": rounds,
                                 "seed": seed, "fields": ",".join(fields) or None,
                                 "model": model, **flags}
        said.update(begin)
        try:
            talk(replace(checked(asked), progress=trials), "tune", file, *arguments(said),
                 heard=found.append, strict=strict)
        finally:
            if tree is not None:
                tree.restore()
        x = np.load(model) if model.exists() else None
    if not found or "plan" not in found[-1]:
        raise Error("zofl tune ended without a plan")
    last = found[-1]
    loss_now, before = last.get("loss"), last.get("loss_before")
    tuned = Plan(last["plan"])
    tuned.initial = start
    return Tuned(tuned, tuple(last.get("reasons") or ()),
                 tuple(last.get("trials") or ()), int(last.get("queries", 0)),
                 math.nan if loss_now is None else loss_now, math.nan if before is None else before,
                 x, x if tree is None or x is None else tree.copy(x))


class _Trials:
    """Follows a search: shows how far it is, and says when it is to end."""

    def __init__(self, callback: Callable[[Event], Any] | None, patience: int,
                 progress: Heard) -> None:
        if patience < 0:
            raise ValueError(f"patience={patience}: give trials, or 0 for no end")
        self._callback, self._patience = callback, patience
        self._told = progress if callable(progress) else None
        self._line = None if self._told or progress is False else Line(progress is True)
        self._queries, self._trial = 0, Event()
        self._lowest, self._since = math.inf, 0

    def __enter__(self) -> _Trials:
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.end()

    def counted(self, given: Functions) -> Functions:
        """The same functions. Each loss moves the line."""
        def each(function: Any) -> Any:
            def asked(x: Vector | Factors, batch: Batch) -> Any:
                self._queries += len(x) if isinstance(x, Factors) or x.ndim == 2 else 1
                self._show()
                return function(x, batch)

            return function and standing_for(function, asked)

        if self._line is None:
            return given
        return replace(given, loss=each(given.loss), losses=each(given.losses),
                       gradient=each(given.gradient), factors=each(given.factors))

    def __call__(self, trial: Event) -> bool:
        self._trial = trial
        loss = trial.get("loss")
        if loss is not None and loss < self._lowest:
            self._lowest, self._since = loss, 0
        elif trial["stage"] not in ("start", "mu", "line"):  # these compare no losses
            self._since += 1
        self._show()
        if self._told is not None:
            self._told(trial)
        return (self._callback is not None and stops(self._callback, trial)
                or 0 < self._patience <= self._since)

    def _show(self) -> None:
        if self._line is None:
            return
        words = ["tune", f"{self._queries:,} evaluations"]
        if self._trial:
            words[1] = f"{self._queries:,} of {self._trial['budget']:,} evaluations"
            words.append(f"after stage {self._trial['stage']}")
        if self._lowest < math.inf:
            words.append(f"best loss {self._lowest:.5g}")
        self._line.show("  ".join(words))


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
