"""Seed pools: sections 3 and 7 of docs/replay.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .directions import POOL, Address, philox
from .plan import Plan

F64 = np.float64


@dataclass
class Pool:
    """Coefficients of the directions, the last one that of the first parameters."""

    a: npt.NDArray[Any]
    b: npt.NDArray[Any] | None
    """Those of the momentum; None of a rule without."""

    @classmethod
    def of(cls, plan: Plan) -> Pool:
        """The pool after record 1."""
        a = np.zeros(plan.pool + 1)
        a[-1] = 1
        return cls(a, None if plan.rule == "sgd" else np.zeros(plan.pool + 1))

    def step(self, plan: Plan, terms: Sequence[tuple[int, np.float32]], start: npt.NDArray[Any],
             eta: np.float32) -> None:
        """Makes one local step; start is a before the round."""
        v: npt.NDArray[Any] = np.zeros(len(self.a))
        for s, g in terms:
            v[s] += F64(g)
        if plan.prox:
            v += F64(np.float32(plan.prox)) * (self.a - start)
        if plan.weight_decay:
            v += F64(np.float32(plan.weight_decay)) * self.a
        if self.b is not None:
            beta = np.float32(plan.beta)
            gain = np.float32(1) - beta if plan.rule == "momentum" else np.float32(1)
            self.b[:] = F64(beta) * self.b + F64(gain) * v
            v = self.b
        self.a -= F64(eta) * v


def index(w: Address, count: int) -> int:
    """Which direction of a pool replaces that of an address."""
    counter = (w.step << 16 | w.perturbation, 0, 0, 0x706F6F6C)
    word = philox(counter, (w.key & 0xFFFFFFFF, w.key >> 32))[0]
    return int(word) * count >> 32


def address(key: int, s: int) -> Address:
    """Direction s of a pool, given the key of record 0."""
    return Address(key, s >> 16, s & 0xFFFF, 0, POOL)
