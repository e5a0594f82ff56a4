"""Records: sections 3 and 4 of docs/wire.md."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from . import msgpack
from .errors import FrameError
from .msgpack import Reader
from .plan import read_fields, write_fields

PLAN, ROUND, CHANGE, ROLLBACK, END = 1, 2, 3, 4, 5
_INDEX = (1 << 63) - 1
_U32 = (1 << 32) - 1
_SLOTS = 1 << 24


@dataclass
class Term:
    """Scalars along the directions of record n - back."""

    back: int
    source: int
    scalars: bytes


@dataclass
class Round:
    """The body of a round."""

    round: int = 0
    attempt: int = 0
    step: float = 0.0
    perturbations: int = 0
    contributors: int = 0
    slots: list[int] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)
    object: bytes = b""
    phase: int = 0
    weights: list[int] = field(default_factory=list)
    population: int = 0
    factor: float = 1.0


@dataclass
class Record:
    """One record. values has the fields of a plan or a change, by name."""

    kind: int
    n: int
    prev: bytes
    epoch: int
    values: dict[str, Any] = field(default_factory=dict)
    round: Round | None = None
    to: int = 0
    reason: int = 0
    text: str = ""


def genesis(run: str) -> bytes:
    """prev of record 1."""
    return hashlib.sha256(b"zofl/1 run\0" + run.encode()).digest()[:16]


def hash_record(data: bytes) -> bytes:
    """The hash by which the next record names this one."""
    return hashlib.sha256(data).digest()[:16]


def hash_object(data: bytes) -> bytes:
    """The digest of a vector that travels beside a record."""
    return hashlib.sha256(b"zofl/1 object\0" + data).digest()


def read(data: bytes) -> Record:
    """Reads a record, and refuses every other encoding of it."""
    r = Reader(data)
    count = r.length("array", 1 << 16, "record")
    if count:
        version = r.uint((1 << 64) - 1, "version")
        if version != 1:
            raise FrameError("upgrade", f"version {version}")
    if count != 6:
        raise FrameError("form", f"a record of {count} fields")
    kind = r.uint(255, "kind")
    if kind == 0:
        raise FrameError("value", "kind 0")
    if kind > END:
        raise FrameError("upgrade", f"kind {kind}")
    n = r.uint(_INDEX, "n")
    if n == 0 or (kind == PLAN) != (n == 1):
        raise FrameError("value", f"record {n} of kind {kind}")
    record = Record(kind, n, r.exact(16, "prev"), r.uint(_INDEX, "epoch"))
    _BODIES[kind](r, record)
    if r.at != len(data):
        raise FrameError("form", f"{len(data) - r.at} bytes after a record")
    return record


def _plan(r: Reader, record: Record) -> None:
    record.values = read_fields(r, change=False)


def _change(r: Reader, record: Record) -> None:
    record.values = read_fields(r, change=True)


def _keys(r: Reader, known: dict[int, Any]) -> dict[int, Any]:
    """The map of a body, each key read by its reader."""
    values: dict[int, Any] = {}
    last = 0
    for _ in range(r.length("map", 255, "body")):
        key = r.uint((1 << 64) - 1, "key")
        if key <= last:
            raise FrameError("form", f"key {key} after key {last}")
        if key not in known:
            raise FrameError("upgrade", f"key {key}")
        last, values[key] = key, known[key](r)
    return values


def _omitted(value: Any, zero: Any) -> Any:
    if value == zero:
        raise FrameError("form", f"{zero!r} written out")
    return value


def _nonzero(limit: int, what: str) -> Any:
    return lambda r: _omitted(r.uint(limit, what), 0)


def _rollback(r: Reader, record: Record) -> None:
    record.to = _keys(r, {1: lambda r: r.uint(_INDEX, "to")}).get(1, 0)
    if not 0 < record.to < record.n:
        raise FrameError("value", f"rollback to {record.to} in record {record.n}")


def _reason(r: Reader) -> int:
    value: int = _omitted(r.uint(255, "reason"), 0)
    if value > 6 or value == 5:
        raise FrameError("upgrade", f"reason {value}")
    return value


def _end(r: Reader, record: Record) -> None:
    values = _keys(r, {1: _reason, 2: lambda r: _omitted(r.text(256, "text"), "")})
    if 1 not in values:
        raise FrameError("form", "an end without a reason")
    record.reason, record.text = values[1], values.get(2, "")


def _phase(r: Reader) -> int:
    value: int = _omitted(r.uint(255, "phase"), 0)
    if value > 2:
        raise FrameError("upgrade", f"phase {value}")
    return value


def _factor(r: Reader) -> float:
    value = r.finite("factor")
    return float(_omitted(_omitted(value, 1.0), 0.0))


def _slots(r: Reader) -> list[int]:
    slots: list[int] = []
    for _ in range(_omitted(r.length("array", 16384, "slots"), 0)):
        slots.append(r.uint(_SLOTS - 1, "slot"))
        if len(slots) > 1 and slots[-1] <= slots[-2]:
            raise FrameError("form", "slots do not ascend")
    return slots


def _terms(r: Reader) -> list[Term]:
    terms: list[Term] = []
    for _ in range(r.length("array", 4096, "terms")):
        if r.length("array", _U32, "term") != 3:
            raise FrameError("form", "a term has three parts")
        back, source = r.uint(_INDEX, "back"), r.uint(_SLOTS, "source")
        terms.append(Term(back, source, _scalars(r)))
        if len(terms) > 1 and (terms[-2].back, terms[-2].source) >= (back, source):
            raise FrameError("form", "terms do not ascend")
    return terms


def _scalars(r: Reader) -> bytes:
    data = r.bin(4 * 14336, "scalars")
    if len(data) % 2:
        raise FrameError("form", f"scalars of {len(data)} bytes")
    return data


def _weights(r: Reader) -> list[int]:
    weights = [r.uint(1 << 20, "weight")
               for _ in range(_omitted(r.length("array", 4096, "weights"), 0))]
    if 0 in weights:
        raise FrameError("value", "a weight of 0")
    return weights


_ROUND: dict[int, tuple[str, Any]] = {
    1: ("round", _nonzero(_INDEX, "round")),
    2: ("attempt", _nonzero(_U32, "attempt")),
    3: ("step", lambda r: r.finite("step")),
    4: ("perturbations", _nonzero(65535, "perturbations")),
    5: ("contributors", _nonzero(_U32, "contributors")),
    6: ("slots", _slots),
    7: ("terms", _terms),
    9: ("object", lambda r: r.exact(32, "object")),
    10: ("phase", _phase),
    11: ("weights", _weights),
    12: ("population", _nonzero(_SLOTS, "population")),
    14: ("factor", _factor),
}


def _round(r: Reader, record: Record) -> None:
    values = _keys(r, {key: reader for key, (_, reader) in _ROUND.items()})
    record.round = Round(**{_ROUND[key][0]: value for key, value in values.items()})
    if 3 not in values or 7 not in values:
        raise FrameError("form", "a round without step or terms")
    if any(t.back > record.n - 2 for t in record.round.terms):
        raise FrameError("value", "a term of record 1 or before")
    if record.round.weights and len(record.round.weights) != len(record.round.terms):
        raise FrameError("form", "another number of weights than of terms")


_BODIES = {PLAN: _plan, ROUND: _round, CHANGE: _change, ROLLBACK: _rollback, END: _end}


def write(record: Record) -> bytes:
    """The bytes of a record."""
    head = (msgpack.array(6) + b"\1" + msgpack.uint(record.kind) + msgpack.uint(record.n)
            + msgpack.bin_(record.prev) + msgpack.uint(record.epoch))
    if record.kind in (PLAN, CHANGE):
        return head + write_fields(record.values)
    if record.kind == ROLLBACK:
        return head + b"\x81\1" + msgpack.uint(record.to)
    if record.kind == END:
        text = b"\2" + msgpack.str_(record.text) if record.text else b""
        return head + bytes([0x81 + bool(text), 1]) + msgpack.uint(record.reason) + text
    assert record.round is not None
    return head + _write_round(record.round)


def _write_round(r: Round) -> bytes:
    terms = msgpack.array(len(r.terms)) + b"".join(
        msgpack.array(3) + msgpack.uint(t.back) + msgpack.uint(t.source)
        + msgpack.bin_(t.scalars) for t in r.terms)
    parts: list[tuple[int, bytes]] = [(3, msgpack.float32(r.step)), (7, terms)]
    for key, number in ((1, r.round), (2, r.attempt), (4, r.perturbations),
                        (5, r.contributors), (10, r.phase), (12, r.population)):
        if number:
            parts.append((key, msgpack.uint(number)))
    for key, numbers in ((6, r.slots), (11, r.weights)):
        if numbers:
            parts.append((key, msgpack.array(len(numbers))
                          + b"".join(map(msgpack.uint, numbers))))
    if r.object:
        parts.append((9, msgpack.bin_(r.object)))
    if r.factor != 1:
        parts.append((14, msgpack.float32(r.factor)))
    return msgpack.map_(len(parts)) + b"".join(
        msgpack.uint(key) + value for key, value in sorted(parts))
