"""State files, formats 1 and 2: docs/state.md."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import record as records
from .directions import F32
from .errors import LogError
from .key import run_key
from .plan import Plan
from .replay import rebased
from .state import State, has_registers, initial

_HEADS = {1: b"zofl state 1\n", 2: b"zofl state 2\n"}
_MOST_ROLLBACKS = 65536


@dataclass
class Head:
    """What a state file says before its vectors."""

    n: int
    hash: bytes
    epoch: int
    rounds: int
    snapshot: int
    dim: int
    vectors: int
    first: bytes
    change: bytes
    end: bytes
    rollbacks: list[tuple[int, int]] = field(default_factory=list)
    registers: list[int] = field(default_factory=list)


class _Words:
    """Little-endian numbers and bytes from the front of a head."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise LogError("the head of a state file is cut")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width), "little")

    def part(self) -> bytes:
        return self.take(self.number(4))

    def pairs(self) -> list[tuple[int, int]]:
        count = self.number(4)
        if count > _MOST_ROLLBACKS:
            raise LogError(f"{count} rollbacks in a state file")
        return [struct.unpack("<QQ", self.take(16)) for _ in range(count)]


def _head(data: bytes, version: int) -> Head:
    w = _Words(data)
    head = Head(w.number(8), w.take(16), w.number(8), w.number(8), w.number(8), w.number(8),
                w.number(4), w.part(), w.part(), w.part(), w.pairs())
    if version == 2:
        count = w.number(4)
        head.registers = list(struct.unpack(f"<{count}Q", w.take(8 * count)))
    if w.at != len(data):
        raise LogError(f"{len(data) - w.at} bytes behind the head of a state file")
    if not 0 < head.n < 1 << 63:
        raise LogError(f"a state of record {head.n}")
    return head


def _plan(head: Head) -> Plan:
    """The plan after record n."""
    first = records.read(head.first)
    if first.kind != records.PLAN:
        raise LogError("a state file without a plan")
    plan = Plan(first.values)
    if head.change:
        change = _of(head, head.change, records.CHANGE)
        plan = plan.changed(change.values)
        if plan.differences(Plan(first.values)) != change.values:
            raise LogError("a state file changes fields to what they are")
    if head.end:
        _of(head, head.end, records.END)
    return plan


def _of(head: Head, data: bytes, kind: int) -> records.Record:
    r = records.read(data)
    if (r.kind, r.n, r.prev, r.epoch) != (kind, head.n, bytes(16), 0):
        raise LogError(f"a record {r.n} of kind {r.kind} in the state of record {head.n}")
    return r


def read(data: bytes, secret: bytes | None = None, given: F32 | None = None) -> State:
    """The state in a file, whose digest is checked."""
    version = next((v for v, line in _HEADS.items() if data.startswith(line)), 0)
    if not version:
        raise LogError("no state file of format 1 or 2")
    start = 17 + int.from_bytes(data[13:17], "little")
    if start > len(data) - 64:
        raise LogError("a state file is cut")
    if hashlib.sha256(data[:start]).digest() != data[start : start + 32]:
        raise LogError("the checksum of a state file's head differs")
    head = _head(data[17:start], version)
    plan = _plan(head)
    if (version == 2) != has_registers(plan):
        raise LogError(f"a state file of format {version}, which its plan does not have")
    if head.dim != plan.dim:
        raise LogError(f"a state of {head.dim} parameters, the plan has {plan.dim}")
    state = _state(head, plan, secret)
    _fill(state, head, data[start + 32 : -32], given)
    if state.digest() != data[-32:]:
        raise LogError("the digest of a state file differs")
    return state



def _state(head: Head, plan: Plan, secret: bytes | None) -> State:
    state = State(plan, head.first, run_key(plan, secret), head.n, head.hash, head.epoch,
                  head.rounds, bool(head.end))
    state.begin(np.zeros(plan.dim, np.float32))
    _registers(state, head.registers)
    return state


def _fill(state: State, head: Head, data: bytes, given: F32 | None) -> None:
    """Sets the vectors from the file, or those of a pool from its registers."""
    vectors = state.all_vectors()
    if state.plan.pool:
        state.x0 = initial(state.plan, state.key, given)
    if head.vectors == 0 and state.pool is not None and not data:
        rebased(state)
        return
    if head.vectors != len(vectors) or len(data) != 4 * len(vectors) * state.plan.dim:
        raise LogError(f"{len(data)} bytes of vectors in a state file")
    all_ = np.frombuffer(data, "<f4").reshape(len(vectors), -1)
    for vector, row in zip(vectors, all_):
        vector[:] = row


def _registers(state: State, words: list[int]) -> None:
    """Sets the registers of a state, in the order of docs/state.md."""
    left = list(words)
    plan, dense = state.plan, state.plan.transport == "dense"

    def floats64(count: int) -> npt.NDArray[Any]:
        if len(left) < count:
            raise LogError(f"{len(words)} registers in a state file")
        taken = np.array(left[:count], np.uint64).view(np.float64)
        del left[:count]
        return taken

    if plan.control == "scaffold-2" and not dense:
        state.population = int(floats64(1).view(np.uint64)[0])
    if plan.control in ("scaffold-1", "svrg") and left:
        state.phase = left.pop(0)
        state.means = np.array(left, np.uint64).astype(np.uint32).view(np.float32)
        left.clear()
    if plan.estimator == "surrogate":
        state.phase = int(floats64(1).view(np.uint64)[0])
        state.w = floats64(plan.features).view(np.uint64).astype(np.uint32).view(np.float32)
    if state.pool is not None:
        state.pool.a = floats64(plan.pool + 1)
        if state.pool.b is not None:
            state.pool.b = floats64(plan.pool + 1)
    if plan.server_rule == "normalized":
        state.v, state.p1, state.p2 = floats64(3)
    if state.evolution is not None:
        state.evolution.sigma = floats64(1)[0]
        if state.evolution.limited:
            state.evolution.records = int(floats64(1).view(np.uint64)[0])
    if left:
        raise LogError(f"{len(words)} registers in a state file")
