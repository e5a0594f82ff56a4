"""The state of a run after a record: vectors and registers."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import numpy as np

from . import digest
from .directions import F32, INITIAL, NORMAL, UNIFORM, Address, directions, record_key
from .errors import LogError
from .evolution import Boxes, Evolution
from .lowrank import Shape
from .plan import CHOICES, Plan
from .pool import Pool


@dataclass
class Segment:
    """Neighboring parameters with the same factors."""

    start: int
    stop: int
    fill: str
    scale: np.float32
    step_scale: np.float32


def segments(plan: Plan) -> list[Segment]:
    """The plan's partition; without one all parameters are one segment, zero at first."""
    out: list[Segment] = []
    at = 0
    for s in plan.segments or [{"len": plan.dim, "fill": 0, "scale": 0.0, "step_scale": 0.0}]:
        out.append(Segment(at, at + s["len"], CHOICES["fill"][s["fill"]], np.float32(s["scale"]),
                           np.float32(s["step_scale"] or 1)))
        at += s["len"]
    if at != plan.dim:
        raise LogError(f"segments have {at} parameters, dim is {plan.dim}")
    return out


def shapes(plan: Plan) -> list[Shape]:
    """The matrices of the plan's partition, and what lies between them."""
    out = []
    for s in plan.segments:
        rows = s.get("rows", 0)
        if rows and (rows < 2 or s["len"] < 2 * rows or s["len"] % rows):
            raise LogError(f"segment {s['name']} has {rows} rows and {s['len']} parameters")
        out.append(Shape(rows, s["len"] // (rows or 1)))
    return out


def initial(plan: Plan, key: bytes, given: F32 | None) -> F32:
    """The parameters after record 1."""
    if plan.initial == "given":
        if given is None:
            raise LogError("the plan has initial=given: give the initial parameters")
        x = np.array(given, np.float32)
        if x.shape != (plan.dim,) or digest.root([x], plan.dim) != plan.initial_digest:
            raise LogError("the initial parameters are not those of initial_digest")
        return x
    x = np.zeros(plan.dim, np.float32)
    address = [Address(record_key(key, 0), domain=INITIAL)]
    for s in segments(plan):
        if s.fill != "zero":
            kind = NORMAL if s.fill == "normal" else UNIFORM
            first = s.start // 4096
            z = directions(address, kind, s.stop - 4096 * first, first)[0]
            x[s.start : s.stop] = s.scale * z[s.start - 4096 * first :]
    for low, high, part in boxes(plan):
        np.clip(x[part], low, high, out=x[part])
    return x


def boxes(plan: Plan) -> list[tuple[np.float32, np.float32, slice]]:
    """The ends of each segment's parameters."""
    parts = [slice(s.start, s.stop) for s in segments(plan)]
    if len(plan.boxes) == 1:
        parts = [slice(0, plan.dim)]
    return [(np.float32(b["low"]), np.float32(b["high"]), part)
            for b, part in zip(plan.boxes, parts)]


def local_moment(plan: Plan) -> bool:
    return bool(plan.transport != "dense" and plan.rule in ("momentum", "torch-momentum"))


def server_moments(plan: Plan) -> list[str]:
    """The vectors of the server rule, in the order of a state."""
    return {"momentum": ["sm"], "normalized": ["sm"], "adam": ["sm", "sv"],
            "yogi": ["sm", "sv"], "adagrad": ["sm", "sv"],
            "amsgrad": ["sm", "sv", "sl"]}.get(plan.server_rule, [])


def names(plan: Plan) -> list[str]:
    """The vectors of a state but for basis and trail, in their order."""
    out = ["x"] + ["m"] * local_moment(plan)
    if plan.control == "scaffold-2" and plan.transport != "dense":
        out.append("S")
    if plan.control != "none" and plan.transport == "dense":
        out.append("c")
    return out + server_moments(plan)


def has_registers(plan: Plan) -> bool:
    return bool(plan.control != "none" or plan.pool or plan.estimator == "surrogate"
                or plan.server_rule in ("normalized", "cma"))


def evolution(plan: Plan, x: F32) -> Evolution:
    """What server_rule=cma keeps beside x, at first."""
    scale, ends = np.ones(plan.dim), Boxes(*np.zeros((3, plan.dim)))
    for s in segments(plan):
        scale[s.start : s.stop] = s.step_scale
    for low, high, part in boxes(plan):
        ends.low[part], ends.high[part] = low, high
    ends.side = ends.high - ends.low
    return Evolution.of(plan, x, scale, ends if plan.boxes else None)


@dataclass
class State:
    """All that replicas must agree on after record n."""

    plan: Plan
    first: bytes
    key: bytes
    n: int = 0
    hash: bytes = b""
    epoch: int = 0
    rounds: int = 0
    ended: bool = False
    vectors: dict[str, F32] = field(default_factory=dict)
    basis: F32 | None = None
    trail: F32 | None = None
    population: int = 0
    phase: int = 0  # the record of a round's first phase, between the two
    means: F32 = field(default_factory=lambda: np.zeros(0, np.float32))
    w: F32 = field(default_factory=lambda: np.zeros(0, np.float32))
    pool: Pool | None = None
    x0: F32 = field(default_factory=lambda: np.zeros(0, np.float32))  # of a pool
    v: np.float64 = np.float64(0)
    p1: np.float64 = np.float64(1)
    p2: np.float64 = np.float64(1)
    evolution: Evolution | None = None
    missing: dict[str, bytes] = field(default_factory=dict)  # digests of vectors not at hand

    def copy(self) -> State:
        return copy.deepcopy(self)

    def begin(self, x: F32) -> None:
        """The state after record 1."""
        plan = self.plan
        for name in names(plan):
            self.vectors[name] = np.zeros(plan.dim, np.float32)
        self.vectors["x"] = x
        for name in ("sv", "sl"):
            if name in self.vectors:
                self.vectors[name][:] = np.float32(plan.server_v0)
        if plan.distribution == "subspace":
            self.basis = np.zeros((plan.subspace_moves, plan.dim), np.float32)
            self.trail = np.zeros((plan.subspace_moves, plan.dim), np.float32)
        if plan.estimator == "surrogate":
            self.w = np.zeros(plan.features, np.float32)
        if plan.pool:
            self.pool = Pool.of(plan)
        if plan.server_rule == "cma":
            self.evolution = evolution(plan, x)

    def all_vectors(self) -> list[F32]:
        out = [self.vectors[name] for name in names(self.plan)]
        if self.basis is not None and self.trail is not None:
            out += list(self.basis) + list(self.trail)
        if self.evolution is not None:
            out += self.evolution.vectors()
        return out

    def registers(self) -> list[int] | None:
        plan = self.plan
        if not has_registers(plan):
            return None
        dense = plan.transport == "dense"
        out: list[int] = []
        if plan.control == "scaffold-2" and not dense:
            out.append(self.population)
        if plan.control in ("scaffold-1", "svrg") and self.phase:
            out.append(self.phase)
            out += [] if dense else [digest.bits32(c) for c in self.means]
        if plan.estimator == "surrogate":
            out.append(self.phase)
            out += [digest.bits32(c) for c in self.w]
        if self.pool is not None:
            out += [digest.bits64(c) for c in self.pool.a]
            out += [] if self.pool.b is None else [digest.bits64(c) for c in self.pool.b]
        if plan.server_rule == "normalized":
            out += [digest.bits64(c) for c in (self.v, self.p1, self.p2)]
        if self.evolution is not None:
            out.append(digest.bits64(self.evolution.sigma))
            out += [self.evolution.records] * self.evolution.limited
        return out

    def digest(self) -> bytes | None:
        """The digest of the state; None while it lacks a vector that a record names."""
        if self.missing:
            return None
        plain = digest.root(self.all_vectors(), self.plan.dim, self.registers())
        return digest.keyed(self.key, plain) if self.plan.key_check else plain
