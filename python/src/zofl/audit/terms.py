"""Sums over terms: section 3 of docs/replay.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import lowrank, pool
from .directions import (
    BLOCK,
    F32,
    NORMAL,
    RADEMACHER,
    SUBSPACE,
    Address,
    add_terms,
    directions,
    record_key,
    squared_norm,
)
from .state import State, segments, shapes

F64 = np.float64
_CHUNK = 1 << 21  # elements of directions that are made at a time


@dataclass
class Part:
    """The scalars of one term."""

    n: int
    """The record along whose directions they are."""
    source: int
    g: F32
    """The scalars, of shape (K, P)."""
    a: F32
    """Their coefficients, before those of the distribution."""

    def address(self, key: int, k: int, p: int) -> Address:
        return Address(key, k, p, self.source)


class Terms:
    """Sums over terms in a given state."""

    def __init__(self, state: State) -> None:
        self.state, self.plan = state, state.plan
        self.elements = RADEMACHER if self.plan.distribution == "rademacher" else NORMAL
        self.step_scale = np.ones(self.plan.dim, np.float32)
        for s in segments(self.plan):
            self.step_scale[s.start : s.stop] = s.step_scale
        self.shapes = shapes(self.plan) if self.plan.distribution == "lowrank" else []
        self._keys: dict[int, int] = {}

    def key(self, n: int) -> int:
        if n not in self._keys:
            self._keys[n] = record_key(self.state.key, n)
        return self._keys[n]

    def addresses(self, part: Part, k: int) -> list[Address]:
        return [part.address(self.key(part.n), k, p) for p in range(part.a.shape[1])]

    def sums(self, parts: Sequence[Part], steps: int) -> Iterator[F32]:
        """v of each step: one sum over the parts' terms."""
        addresses = [w for k in range(steps) for p in parts for w in self.addresses(p, k)]
        rows = Rows(self, addresses)
        each = len(addresses) // steps
        for k in range(steps):
            yield self._sum(rows, [a for p in parts for a in p.a[k]], k * each)

    def whole(self, parts: Sequence[Part]) -> F32:
        """One sum over the terms of all steps, part after part."""
        addresses = [w for p in parts for k in range(len(p.a)) for w in self.addresses(p, k)]
        return self._sum(Rows(self, addresses), [a for p in parts for a in p.a.flat], 0)

    def _sum(self, rows: Rows, a: Sequence[np.float32], at: int) -> F32:
        v = np.zeros(self.plan.dim, np.float32)
        if self.shapes:
            lowrank.add_terms(v, a, rows.addresses[at : at + len(a)], self.shapes)
            return v
        moved = (self.plan.distribution == "subspace"
                 and self.state.rounds >= self.plan.subspace_moves)
        share = F64(np.float32(self.plan.subspace_share))
        outside = [c * _root(1 - share) for c in a] if moved else a
        size = max(8, _CHUNK // self.plan.dim // 8 * 8)  # of whole groups of signs
        for i in range(0, len(a), size):
            z, part = rows.take(at + i, min(size, len(a) - i)), outside[i : i + size]
            if self.plan.distribution == "sphere":
                part = [self.on_sphere(self.slope(c), row) for c, row in zip(part, z)]
            add_terms(v, part, z, self.elements == RADEMACHER)
        if moved:
            self._inside(v, a, rows.addresses[at : at + len(a)], _root(share))
        return v

    def _inside(self, v: F32, a: Sequence[np.float32], addresses: Sequence[Address],
                root: np.float32) -> None:
        """Adds the part in the subspace of the last moves."""
        basis = self.state.basis
        assert basis is not None
        z2 = directions([w._replace(domain=SUBSPACE) for w in addresses], NORMAL, len(basis))
        s = np.zeros(len(basis), np.float32)
        for c, row in zip(a, z2):
            s += c * (root * row)
        for factor, column in zip(s, basis):
            v += factor * column

    def slope(self, a: np.float32) -> np.float32:
        """The factor of an estimate: on the sphere it counts d times."""
        return a * np.float32(self.plan.dim) if self.plan.distribution == "sphere" else a

    def on_sphere(self, a: np.float32, z: F32) -> np.float32:
        """What multiplies z where a multiplies z/|z|."""
        norm = squared_norm(z)
        return np.float32(F64(a) / np.sqrt(F64(norm))) if norm else np.float32(0)

    def along_pool(self, coefficients: npt.NDArray[Any]) -> F32:
        """The sum of a pool's directions, times these."""
        v = np.zeros(self.plan.dim, np.float32)
        size = max(8, _CHUNK // self.plan.dim // 8 * 8)
        for at in range(0, self.plan.pool, size):
            indices = range(at, min(at + size, self.plan.pool))
            addresses = [pool.address(self.key(0), s) for s in indices]
            z = directions(addresses, self.elements, self.plan.dim)
            a = [np.float32(coefficients[s]) for s in indices]
            if self.plan.distribution == "sphere":
                a = [self.on_sphere(c, row) for c, row in zip(a, z)]
            add_terms(v, a, z, self.elements == RADEMACHER)
        return v


class Rows:
    """Directions in the order in which they are used, made by the chunk."""

    def __init__(self, terms: Terms, addresses: Sequence[Address]) -> None:
        self.elements, self.dim = terms.elements, terms.plan.dim
        if terms.plan.pool:
            first = terms.key(0)
            addresses = [pool.address(first, pool.index(w, terms.plan.pool)) for w in addresses]
        self.addresses = addresses
        self.start = 0
        self.z: F32 = np.zeros((0, 0), np.float32)

    def take(self, at: int, count: int) -> F32:
        if at < self.start or at + count > self.start + len(self.z):
            size = max(count, _CHUNK // (-(-self.dim // BLOCK) * BLOCK))
            self.start = at
            self.z = directions(self.addresses[at : at + size], self.elements, self.dim)
        return self.z[at - self.start : at - self.start + count]


def _root(part: np.float64) -> np.float32:
    return np.float32(np.sqrt(part))
