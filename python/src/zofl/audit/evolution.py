"""Server rule cma: the evolution strategy of docs/replay.md, each operation rounded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .directions import F32, NORMAL, Address, directions
from .plan import Plan

F64 = NDArray[np.float64]
ONE = np.float64(1)
_ROOT = 1.3956124250860895  # cube root of e
_MARGIN, _PERIOD = 0.05, 1.1


def candidates(dim: int) -> int:
    """4 + floor(3 ln dim), without a logarithm."""
    n, c = 4, _ROOT
    while c <= dim:
        n, c = n + 1, c * _ROOT
    return n


def ascending(v: F64) -> np.float64:
    """The sum from 0 on, in order."""
    return np.float64(np.cumsum(np.concatenate([[0.0], v]))[-1])


class Rates:
    """Weights and rates of a record of n candidates."""

    def __init__(self, n: int, dim: int, limited: bool) -> None:
        self.better = mu = n // 2
        h = np.cumsum(np.concatenate([[0.0], 1 / (np.arange(1, n + 1) + 0.5)]))
        c = h[mu] if n % 2 else 0.5 * (h[mu] + h[mu - 1])
        w = c - h[:n]
        w[mu:] = np.minimum(w[mu:], 0)
        plus, minus = ascending(w[:mu]), ascending(w[mu:])
        self.mass = me = plus * plus / ascending(w[:mu] * w[:mu])
        mn = minus * minus / ascending(w[mu:] * w[mu:])
        d = np.float64(dim)
        self.c1 = 2 / ((d + 1.3) * (d + 1.3) + me)
        self.cw = min(1 - self.c1, 2 * (me - 2 + 1 / me) / ((d + 2) * (d + 2) + me))
        a = min(1 + self.c1 / self.cw, 1 + 2 * mn / (me + 2),
                (1 - self.c1 - self.cw) / (d * self.cw))
        w[:mu] /= plus
        w[mu:] = a * w[mu:] / -minus
        self.w, self.sum = w, ascending(w)
        self.cs = np.float64((me + 2) / (me + d + 5))
        self.damp = 1 + self.cs + 2 * max(0.0, np.sqrt((me - 1) / (d + 1)) - 1)
        if limited:
            self.cs = min(np.float64(1), np.float64(2 * n / d))
        self.length = np.sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * (d * d)))

    def gain(self, rate: np.float64) -> np.float64:
        return np.float64(np.sqrt(self.mass * rate * (2 - rate)))


@dataclass
class Boxes:
    """Ends of each element's box."""

    low: F64
    side: F64
    high: F64

    def fold(self, v: F64) -> F32:
        s = v + _MARGIN
        s = s - 2 * _PERIOD * np.floor(s / (2 * _PERIOD))
        s = np.where(s > _PERIOD, 2 * _PERIOD - s, s) - _MARGIN
        low = (s + _MARGIN) * (s + _MARGIN) / (4 * _MARGIN)
        t = 1 + _MARGIN - s
        u = np.where(s < _MARGIN, low,
                     np.where(s > 1 - _MARGIN, 1 - t * t / (4 * _MARGIN), s))
        x = (self.low + self.side * u).astype(np.float32)
        return np.minimum(np.maximum(x, self.low.astype(np.float32)),
                          self.high.astype(np.float32))

    def unfold(self, x: F32) -> F32:
        u = (x.astype(np.float64) - self.low) / self.side
        low = np.sqrt(4 * _MARGIN * u) - _MARGIN
        high = 1 + _MARGIN - np.sqrt(4 * _MARGIN * (1 - u))
        return np.where(u < _MARGIN, low, np.where(u > 1 - _MARGIN, high, u)).astype(np.float32)


@dataclass
class Evolution:
    """What the rule keeps beside x."""

    limited: bool
    scale: F64  # of the segments' steps
    boxes: Boxes | None
    sigma: np.float64
    path: F32
    rows: F32
    unfolded: F32 | None = None
    records: int = 0

    @staticmethod
    def of(plan: Plan, x: F32, scale: F64, boxes: Boxes | None) -> Evolution:
        limited = plan.covariance == "limited"
        rows = np.zeros((candidates(plan.dim), plan.dim), np.float32)
        if not limited:
            rows = np.eye(plan.dim, dtype=np.float32)
        e = Evolution(limited, scale, boxes, np.float64(np.float32(plan.step)),
                      np.zeros(plan.dim, np.float32), rows)
        with np.errstate(all="ignore"):
            e.unfolded = None if boxes is None else boxes.unfold(x)
        return e

    def vectors(self) -> list[F32]:
        return ([] if self.unfolded is None else [self.unfolded]) + [self.path, *self.rows]

    def apply(self, x: F32, key: int, first: int, losses: F32) -> None:
        """One record; first is the plan's number of candidates."""
        r = Rates(len(losses), len(x), self.limited)
        ranked = np.where(np.isnan(losses), np.inf, losses)
        order = np.argsort(ranked, kind="stable")
        z = directions([Address(key, 0, int(k)) for k in order], NORMAL, len(x)).astype(np.float64)
        if self.limited:
            z = z[: r.better]
        y = self.shaped(z)
        zw, yw = np.zeros(len(x)), np.zeros(len(x))
        for w, a, b in zip(r.w[: r.better], z, y):
            zw += w * a
            yw += w * b
        self.move(x, yw)
        p: F64 = (1 - r.cs) * self.path.astype(np.float64) + r.gain(r.cs) * zw
        square = ascending(p * p)
        if self.limited:
            self.pull(r, zw, first)
            u = r.cs / 2 * (square / len(x) - 1)
        else:
            self.renew(r, p, z, y)
            u = r.cs / r.damp * (np.sqrt(square) / r.length - 1)
        self.path[:] = p
        u = np.minimum(1.0, np.maximum(-1.0, u))
        a = 1 + u * u / 12
        self.sigma = np.float64(self.sigma * ((a + u / 2) / (a - u / 2)))
        self.records += self.limited

    def shaped(self, z: F64) -> F64:
        """The candidates' y, a row each."""
        rows = self.rows.astype(np.float64)
        if not self.limited:
            y = np.zeros_like(z)
            for j, row in enumerate(rows):
                y += row * z[:, j : j + 1]
            return y
        y, power, d = z.copy(), ONE, z.shape[1]
        for v in rows[: min(self.records, len(rows))]:
            q = 1 / (power * d)
            power = power * 1.5
            for one in y:
                b = q * ascending(v * one)
                one[:] = (1 - q) * one + b * v
        return y

    def move(self, x: F32, yw: F64) -> None:
        far = (self.sigma * self.scale) * yw
        if self.boxes is None or self.unfolded is None:
            x[:] = x.astype(np.float64) + far
            return
        self.unfolded[:] = self.unfolded.astype(np.float64) + far
        x[:] = self.boxes.fold(self.unfolded.astype(np.float64))

    def pull(self, r: Rates, zw: F64, first: int) -> None:
        power, d = ONE, self.rows.shape[1]
        for v in self.rows:
            rate = min(ONE, np.float64(first) / (power * d))
            power = power * 4
            v[:] = (1 - rate) * v.astype(np.float64) + r.gain(rate) * zw

    def renew(self, r: Rates, p: F64, z: F64, y: F64) -> None:
        rows = self.rows.astype(np.float64)
        product = np.zeros(len(p))
        for row, a in zip(rows, p):
            product += row * a
        half, rate = r.c1 / 2, r.cw / 2
        rows = (1 - half - rate * r.sum) * rows + (half * p)[:, None] * product
        for w, a, b in zip(r.w, z, y):
            if w < 0:
                w = w * len(a) / ascending(a * a)
            rows += (rate * w * a)[:, None] * b
        self.rows[:] = rows
