"""Follows runs of this process: keeps them, shows them, and says when one is to end."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import TracebackType
from typing import Any, Union

import numpy as np

from .live import Line
from .process import Event
from .runs import History, Run
from .tree import Tree

# How progress is told of: None shows a line in notebooks and on terminals, True everywhere, False
# nowhere, and a function gets each event.
Heard = Union[bool, Callable[[Event], Any], None]


class Follower:
    """Takes the events of `zofl simulate`, and returns whether the present run is to end."""

    def __init__(self, history: History, name: str, tree: Tree | None,
                 callback: Callable[[Run], Any] | None, patience: int, progress: Heard,
                 budget: int = 0) -> None:
        if patience < 0:
            raise ValueError(f"patience={patience}: give rounds, or 0 for no end")
        self.history = history
        self._name, self._tree, self._budget = name, tree, budget
        self._callback, self._patience = callback, patience
        self._told = progress if callable(progress) else None
        self._line = None if self._told or progress is False else Line(progress is True)
        self._begin: Event = {}
        self._why = ""  # why the present run is to end
        self._lowest, self._since = math.inf, 0  # rounds without a lower loss

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._line is not None:
            self._line.end()

    def __call__(self, event: Event) -> bool:
        self.history.heard(event)
        what = event["event"]
        if what == "begin":
            self._begin, self._why = event, ""
            self._lowest, self._since = math.inf, 0
        elif what == "end":
            self._ended(self.history.runs[-1], event)
        if self._told is not None:
            self._told(event)
        if what != "round":
            return False
        run = self.history.runs[-1]
        if self._line is not None:
            self._line.show(self._text(event))
        self._why = self._ends(run, event)
        return self._why != ""

    def _ends(self, run: Run, row: Event) -> str:
        """Why a run is to end after a round, or nothing."""
        if self._callback is not None and stops(self._callback, run):
            return "callback"
        loss = row.get("loss")
        if loss is not None and loss < self._lowest:
            self._lowest, self._since = loss, 0
        elif row.get("round_step"):  # rounds that measure do not move
            self._since += 1
        return "patience" if self._patience and self._since >= self._patience else ""

    def _ended(self, run: Run, event: Event) -> None:
        if run.ended == "stopped":
            run.ended = self._why or run.ended
        if event.get("model"):
            run.model = np.load(event["model"])
            run.x = run.model if self._tree is None else self._tree.copy(run.model)
        if run.best is not None and event.get("best_model"):
            x = run.best["model"] = np.load(event["best_model"])
            run.best["x"] = x if self._tree is None else self._tree.copy(x)

    def _text(self, row: Event) -> str:
        of, loss = self._begin.get("of", 1), row.get("loss")
        words = [self._name]
        if of > 1:
            words.append(f"run {self._begin['number']} of {of}")
        rounds = "" if self._budget else f" of {self._begin['rounds']:,}"
        words.append(f"round {row['round']:,}{rounds}")
        words.append("no loss" if loss is None else f"loss {loss:.5g}")
        budget = f" of {self._budget:,}" if self._budget else ""
        words.append(f"{row['queries']:,}{budget} evaluations")
        return "  ".join(words)


def stops(callback: Callable[[Any], Any], so_far: Any) -> bool:
    """Whether a callback ends what goes on, as with scipy: it returns true, or StopIteration."""
    try:
        return bool(callback(so_far))
    except StopIteration:
        return True
