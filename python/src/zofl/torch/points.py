"""Losses of a module at points of rank 1, which a request tells by their factors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, SupportsFloat

import numpy as np
import torch

from ..batch import Batch
from ..factors import Factors
from ..process import log
from ..protocol import in_turn
from .asked import Function
from .lowrank import Sheet, Sum
from .start import ModuleTree, Start, shared


class Points:
    """The losses of a request, in the order of its points.

    The module's tensors hold x, and stand for x + s z while a loss works with them. A tensor whose
    numbers a loss takes by other ways than torch's functions, as scripts do, is written.
    """

    def __init__(self, start: Start, loss: Function) -> None:
        self.__wrapped__ = loss
        self._start, self._loss = start, loss
        self._written: set[str] = set()
        self._parts: dict[str, Any] = {}  # of x, by name

    def __call__(self, points: Factors, batch: Batch) -> list[SupportsFloat]:
        tree = self._start.tree
        if not _fits(tree, points):
            return in_turn(lambda i: self._loss(tree.unravel(points.point(i)), batch), len(points), batch)
        if not self._written:
            self._written = {name for name, same in tree.twins.items()
                             if any(type(p) is not torch.nn.Parameter for p in same)}
        self._parts = tree.lend(points.x, points.version, self._written)
        try:
            return in_turn(lambda i: self._one(points, i, batch), len(points), batch)
        finally:
            self._parts = {}

    def _one(self, points: Factors, i: int, batch: Batch) -> SupportsFloat:
        """A loss, once all that it does not ask torch for is written."""
        while True:
            sums = self._sums(points, i)
            try:
                with self._standing(sums):
                    found: SupportsFloat = self._loss(self._start.value, batch)
            except Exception:
                if not any(s.graph for s in sums.values()):
                    raise
            missed = {n for n, s in sums.items() if not s.used or s.graph} - self._written
            if not missed:
                return found
            log.info("%s: a loss uses this beside torch's functions, or with gradients, and each "
                     "point is written into it", ", ".join(sorted(missed)))
            self._written |= missed

    def _sums(self, points: Factors, i: int) -> dict[str, Sum]:
        """What each tensor stands for at a point."""
        tree = self._start.tree
        signs, scale = _Signs(points.signs[i]), float(points.scales[i])
        found, at = {}, 0
        for (name, x), (rows, columns) in zip(self._parts.items(), points.shapes):
            p = tree.parameters[name]
            here = x if name in self._written else p.detach()
            exact = x if p.device.type == "cpu" else here
            a, b = signs.of(here, at, rows), signs.of(here, at + rows, columns)
            found[name] = Sum(here, exact, scale, a, b) if rows else Sum(here, exact, scale, b)
            at += rows + columns
        return found

    @contextmanager
    def _standing(self, sums: dict[str, Sum]) -> Iterator[None]:
        """In this block the tensors stand for sums, or have them."""
        sheets: list[Any] = []
        tree = self._start.tree
        try:
            for name, s in sums.items():
                if name in self._written:
                    with torch.no_grad():
                        tree.own(name).copy_(s.value())
                    continue
                for p in tree.twins[name]:
                    p.stands_for = s
                    p.__class__ = Sheet
                    sheets.append(p)
            yield
        finally:
            for p in sheets:
                p.__class__ = torch.nn.Parameter
                del p.stands_for


class _Signs:
    """The signs of a point, where a tensor is and of its type."""

    def __init__(self, row: Any) -> None:
        self._row = shared(np.ascontiguousarray(row))
        self._made: dict[Any, Any] = {}

    def of(self, like: Any, at: int, count: int) -> Any:
        key = like.device, like.dtype
        if key not in self._made:
            self._made[key] = self._row.to(like.device, like.dtype)
        return self._made[key][at:at + count]


def _fits(tree: ModuleTree, points: Factors) -> bool:
    """Whether each segment is a tensor of the module, with its rows."""
    return len(points.shapes) == len(tree.leaves) and all(
        columns == leaf.start.size if rows == 0 else
        (rows, rows * columns) == (*leaf.start.shape[:1], leaf.start.size)
        for (rows, columns), leaf in zip(points.shapes, tree.leaves))
