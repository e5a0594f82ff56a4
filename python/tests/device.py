"""A device after docs/device.md and docs/wire.md, on the replica of zofl.audit.

It has no network: a generator that yields what it does, and gets what comes.

    ("ask", subject, frame)   a request; the answer comes back, or None
    ("sub", subject)          a subscription
    ("out", subject, frame)   a message
    ("loss", n, step, size, seed, point)   the loss comes back, or None where it fails
    ("metrics", point)        samples and values come back
    ("wait",)                 an announcement comes back
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zofl.audit import lowrank, msgpack
from zofl.audit import record as records
from zofl.audit.directions import (
    F32,
    NORMAL,
    RADEMACHER,
    Address,
    blocked_sum,
    directions,
    philox,
    record_key,
)
from zofl.audit.errors import FrameError
from zofl.audit.evolution import Evolution
from zofl.audit.msgpack import Reader
from zofl.audit.plan import Plan
from zofl.audit.replica import Replica
from zofl.audit.rules import ONE, momentum
from zofl.audit.scalars import decode
from zofl.audit.state import State, segments, shapes
from zofl.audit.terms import Part, Terms

Acts = Generator[tuple[Any, ...], Any, Any]
BITS = {"int8": (8, 1 / 32), "int4": (4, 5 / 16), "int2": (2, 255 / 256)}
MOST = 1 << 63


class Superseded(Exception):
    """A later round was announced: nobody waits for this one."""


class Declined(Exception):
    """The device does not answer the round, for a reason of docs/wire.md."""


def little(data: bytes) -> int:
    return int.from_bytes(data, "little")


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def le(value: int, width: int) -> bytes:
    return value.to_bytes(width, "little")


def array(*values: bytes) -> bytes:
    return msgpack.array(len(values)) + b"".join(values)


def varint(r: Reader) -> int:
    """A number of a short announcement: an unsigned LEB128."""
    value, shift = 0, 0
    while True:
        b = r.take(1)[0]
        value |= (b & 127) << shift
        shift += 7
        if b < 128:
            return value


def number(r: Reader) -> float:
    """A float of a short announcement."""
    return float(np.frombuffer(r.take(4), "<f4")[0])


@dataclass
class Announcement:
    state: int = 0
    n: int = 0
    attempt: int = 0
    epoch: int = 0
    sampled: int = 0
    members: int = 0
    step: float = 0.0
    perturbations: int = 0
    records: list[bytes] = field(default_factory=list)
    rest: bytes = b""
    tip: bytes = b""  # of a short one
    short: Reader | None = None  # the rest of a short one, from the record's flags on
    missing: bytes | None = None
    kind: int = 0
    groups: bytes | None = None


def read(data: bytes) -> Announcement:
    a = read_short(data) if data[:2] == b"\x91\x03" else read_long(data)
    r, place = Reader(a.rest), 0
    try:
        while r.at < len(r.data):
            count = r.length("array", 65535, "tail")
            place += 1
            if place == 1:
                if count:
                    r.uint(MOST, "n"), r.bin(8, "tip"), r.bin(8, "digest")
            elif place == 2:
                if count:
                    a.missing = r.bin(256, "slots")
            elif place == 3 and count:
                if r.data[r.at] < 0x80:
                    a.kind = r.uint(255, "kind")
                else:
                    a.groups = r.bin(640, "groups")
    except FrameError:
        pass  # of a later version
    return a


def read_long(data: bytes) -> Announcement:
    r = Reader(data)
    r.length("array", 65535, "announcement"), r.uint(MOST, "version")
    a = Announcement(*(r.uint(MOST, "field") for _ in range(4)))
    r.uint(MOST, "left")
    a.sampled, a.members = r.uint(MOST, "sampled"), r.uint(MOST, "members")
    a.step, a.perturbations = r.finite("step"), r.uint(65535, "perturbations")
    r.text(256, "reason")
    for _ in range(r.length("array", 65535, "records", 2)):
        a.records.append(r.bin(61440, "record"))
    a.rest = data[r.at :]
    return a


def read_short(data: bytes) -> Announcement:
    r = Reader(data)
    r.take(2)
    flags = r.take(1)[0]
    a = Announcement(n=varint(r), epoch=varint(r))
    a.attempt = varint(r) if flags & 1 else 0
    varint(r)
    a.sampled, a.members = varint(r), varint(r)
    a.step = number(r)
    a.perturbations, a.tip = varint(r), r.take(8)
    if flags & 2:
        a.rest = r.take(varint(r))
    a.short = r
    return a


def sources(r: Reader, count: int, members: int) -> list[int]:
    """Ascending numbers, the gaps of which are Golomb-Rice codes."""
    k = max(int(np.log2(members / count)), 0) if members >= count else 0
    bits, out, last = 0, [], -1
    used = 8

    def bit() -> int:
        nonlocal bits, used
        if used == 8:
            bits, used = r.take(1)[0], 0
        used += 1
        return bits >> (8 - used) & 1

    for _ in range(count):
        ones = 0
        while bit():
            ones += 1
        gap = ones
        for _ in range(k):
            gap = gap << 1 | bit()
        last += gap + 1
        out.append(last)
    return out


def unpack(a: Announcement, prev: bytes) -> bytes:
    """The record of a short announcement."""
    r = a.short
    assert r is not None
    flags, lag = r.take(1)[0], varint(r)
    body = records.Round(round=a.n - 1 - lag)
    record = records.Record(records.ROUND, a.n - 1, prev, a.epoch, round=body)
    body.attempt = varint(r) if flags & 4 else 0
    record.epoch = varint(r) if flags & 8 else a.epoch
    body.perturbations = varint(r) if flags & 2 else a.perturbations
    count = varint(r) if flags & 16 else 0
    body.step = number(r) if flags & 1 else a.step
    body.factor = number(r) if flags & 128 else 1.0

    def terms(back: int) -> None:
        many = varint(r)
        names, size = sources(r, many, a.members), varint(r)
        body.terms += [records.Term(back, s, r.take(size)) for s in names]

    terms(0)
    for _ in range(varint(r) if flags & 64 else 0):
        terms(varint(r))
    body.contributors = count or len(body.terms)
    if flags & 32:
        body.weights = [varint(r) for _ in body.terms]
    return records.write(record)


def numbers(data: bytes) -> list[int]:
    r, out = Reader(data), []
    while r.at < len(data):
        out.append(varint(r))
    return out


def slots(gaps: list[int]) -> list[int]:
    out, last = [], -1
    for gap in gaps:
        last += gap + 1
        out.append(last)
    return out


def drawn(plan: Plan, purpose: str, n: int, attempt: int, sampled: int, members: int, slot: int,
          name: str) -> bool:
    """Whether a draw asks a device: docs/wire.md, section 6."""
    draw = sha(b"zofl/1 draw\0", purpose.encode(), b"\0", plan.run.encode(), b"\0", le(n, 8),
               le(attempt, 4))[:8]
    if members == 0:
        return little(sha(draw, name.encode())[:4]) < sampled
    if slot >= members:
        return False
    h = -(-(members - 1).bit_length() // 2)
    key = [np.uint64(little(draw[:4])), np.uint64(little(draw[4:]))]
    s = slot
    while True:
        left, right = s >> h, s & (1 << h) - 1
        for i in range(12):
            words = philox([np.uint64(right), np.uint64(i), np.uint64(0), np.uint64(0)], key)
            left, right = right, left ^ int(words[0]) & (1 << h) - 1
        s = left << h | right
        if s < members:
            return s < sampled


def asked(plan: Plan) -> int:
    """A of docs/wire.md, section 6: the devices that an attempt asks."""
    thousandths = round(1000 * max(float(plan.over_sample), 1))
    return -(-plan.target * thousandths // 1000)


def draws_groups(plan: Plan) -> bool:
    return plan.sharing == "groups" and plan.groups == "random" and \
        (plan.roster == "open" or asked(plan) > 128)


def drawn_group(plan: Plan, n: int, name: str) -> int:
    many = asked(plan) // plan.group_size
    return little(sha(b"zofl/1 group\0", plan.run.encode(), b"\0", le(n // plan.regroup, 8),
                      name.encode())[:8]) % many


@dataclass
class Answer:
    """The last contribution or decline, and what it answers."""

    key: tuple[Any, ...] = ()
    frame: bytes = b""
    attempt: tuple[int, int] | None = None  # of a decline alone


class Device:
    def __init__(self, run: str, name: str, samples: int, most: int,
                 secret: bytes | None = None) -> None:
        self.run, self.name, self.samples, self.most = run, name, samples, most
        self.secret, self.replica = secret, Replica(secret)
        self.slot, self.epoch, self.shard = 0, 0, 0
        self.answer, self.told, self.measured = Answer(), 0, 0
        self.rollbacks: dict[int, int] = {}
        self.queue: list[bytes] = []  # announcements that came meanwhile
        self.digests: dict[int, str] = {}

    @property
    def state(self) -> State:
        assert self.replica.state is not None
        return self.replica.state

    def subject(self, what: str) -> str:
        return f"zo.{self.run}.{what}.{self.name}"

    # Sections 2 and 4: to join, and records.

    def live(self) -> Acts:
        """The device's life, until the run ends."""
        first = yield from self.join()
        assert first is not None
        self.apply(first[2])
        yield from self.join()
        shards = self.state.plan.shards
        self.shard = little(sha(b"zofl/1 shard\0", self.name.encode())[:4]) % shards
        yield ("sub", f"zo.{self.run}.a.{np.base_repr(self.shard, 36).lower()}")
        reply = yield from self.join()
        if reply[4]:
            self.queue.append(reply[4])
        while not self.state.ended:
            if not self.queue:
                self.queue.append((yield ("wait",)))
            newest = None
            while self.queue:
                frame = self.queue.pop(0)
                if frame is None:  # a silence
                    reply = yield from self.join()
                    frame = reply[4]
                newest = (yield from self.followed(read(frame))) or newest
            if newest is not None:
                yield from self.act(newest)

    def join(self) -> Acts:
        """Asks until an answer comes: status, slot, record 1, reason, announcement."""
        key = plan = tip = bytes(8)
        n = 0
        if self.replica.state is not None:
            s = self.state
            run_key = s.plan.run_key or s.plan.key_check
            key, plan = sha(b"zofl/1 key\0", run_key)[:8], records.hash_record(s.first)[:8]
            n, tip = s.n, s.hash[:8]
        says = array(msgpack.uint(1)) + array(msgpack.bin_(key), msgpack.bin_(plan),
                                              msgpack.uint(n), msgpack.bin_(tip))
        data = None
        while data is None:
            data = yield ("ask", self.subject("j"), says)
        r = Reader(data)
        r.length("array", 65535, "join"), r.uint(1, "version")
        status, slot = r.uint(255, "status"), r.uint(1 << 24, "slot")
        r.uint(MOST, "last")
        first, reason, a = r.bin(61440, "plan"), r.text(256, "reason"), r.bin(65536, "announcement")
        if status == 0:
            self.slot = slot
        return status, slot, first, reason, a

    def apply(self, data: bytes) -> None:
        self.replica.apply(data)
        found = self.state.digest()
        assert found is not None
        self.digests[self.state.n] = found.hex()

    def reach(self, a: Announcement) -> Acts:
        """Applies the records up to the announcement's."""
        last, have = a.n - 1, {a.n - len(a.records) + i: r for i, r in enumerate(a.records)}
        if a.tip and self.state.n == last - 1:
            have[last] = unpack(a, self.state.hash)
            if records.hash_record(have[last])[:8] != a.tip:
                del have[last]
        at, prev, scans = self.state.n, self.state.hash, False
        while at < last:
            batch = [have[at + 1]] if at + 1 in have else (yield from self.fetch(at + 1))
            for data in batch[: last - at]:
                r = records.read(data)
                assert r.prev == prev, "another log"
                at, prev = r.n, records.hash_record(data)
                if r.to:
                    self.rollbacks[r.n], scans = r.to, True
                if not scans:
                    self.apply(data)
        if scans:
            yield from self.replay(last)

    def replay(self, last: int) -> Acts:
        """After a rollback: the log from record 2 on, without what rollbacks undid."""
        live, n = set(), last
        while n:
            live.add(n)
            n = self.rollbacks.get(n, n - 1)
        first = self.state.first
        self.replica = Replica(self.secret, None, set(self.rollbacks.values()))
        self.apply(first)
        while self.state.n < last:
            for data in (yield from self.fetch(self.state.n + 1))[: last - self.state.n]:
                r = records.read(data)
                if r.n in live:
                    self.apply(data)
                else:  # only its place in the chain
                    self.state.n, self.state.hash = r.n, records.hash_record(data)

    def fetch(self, start: int) -> Acts:
        frame, data = array(msgpack.uint(1), msgpack.uint(start), msgpack.uint(self.most)), None
        while data is None:
            data = yield ("ask", self.subject("c"), frame)
        r = Reader(data)
        r.length("array", 65535, "catch-up"), r.uint(1, "version"), r.uint(MOST, "from")
        r.uint(MOST, "last")
        return [r.bin(61440, "record") for _ in range(r.length("array", 65535, "records", 2))]

    # Section 3: an announcement.

    def followed(self, a: Announcement) -> Acts:
        """The announcement, once its records are applied; None: it was delayed."""
        if a.n <= self.state.n or a.epoch < self.epoch:
            return None
        yield from self.reach(a)
        self.epoch = a.epoch
        return a

    def act(self, a: Announcement) -> Acts:
        asked = False
        if a.state == 0 and not self.state.ended:
            asked = yield from self.work(a)
        n, plan = self.state.n, self.state.plan
        if asked and plan.digest_every and n % plan.digest_every == 0 and self.told != n:
            self.told = n
            yield from self.say(4, n, self.state.hash[:8],
                                msgpack.bin_(bytes.fromhex(self.digests[n])[:8]))
        yield from self.evaluate(a)

    def group(self, a: Announcement) -> int | None:
        """The group that names this device."""
        names = numbers(a.groups or b"")
        at, group = 0, 0
        while at < len(names):
            count = names[at]
            if self.slot in slots(names[at + 1 : at + 1 + count]):
                return group
            at, group = at + 1 + count, group + 1
        return None

    def work(self, a: Announcement) -> Acts:
        """Answers a round or a survey; says whether the announcement asks this device."""
        plan, group = self.state.plan, None
        if plan.sharing == "groups" and a.perturbations and not draws_groups(plan):
            group = self.group(a)
            if group is None:
                return False
        elif not drawn(plan, "round", a.n, a.attempt, a.sampled, a.members, self.slot, self.name):
            return False
        key = (a.n, self.state.hash[:8], np.float32(a.step), a.perturbations, a.kind, group)
        if self.answer.key == key and self.answer.attempt in (None, (a.epoch, a.attempt)):
            if a.missing is None or self.slot in slots(numbers(a.missing)):
                yield ("out", self.reply_subject(), self.answer.frame)
            return True
        work = Work(self, a, group)
        self.answer = Answer(key)
        try:
            frame = yield from work.contribution()
        except Superseded:
            self.answer = Answer()
            return True
        except Declined as why:
            self.answer.attempt = (a.epoch, a.attempt)
            frame = array(msgpack.uint(1), msgpack.uint(3), msgpack.uint(a.n),
                          msgpack.bin_(self.state.hash[:8]), msgpack.uint(why.args[0]))
        self.answer.frame = frame
        yield ("out", self.reply_subject(), frame)
        # That answers the announcements that came meanwhile, too.
        self.queue = [f for f in self.queue if read(f).n != a.n or read(f).state]
        return True

    def reply_subject(self) -> str:
        return f"zo.{self.run}.p.{np.base_repr(self.shard, 36).lower()}.{self.name}"

    def say(self, kind: int, n: int, tip: bytes, *fields: bytes) -> Acts:
        frame = array(msgpack.uint(1), msgpack.uint(kind), msgpack.uint(n), msgpack.bin_(tip),
                      *fields)
        yield ("out", self.reply_subject(), frame)

    def evaluate(self, a: Announcement) -> Acts:
        plan, n = self.state.plan, self.state.n
        if not plan.eval_every or self.measured == n or n % plan.eval_every and \
                not self.state.ended:
            return
        if not drawn(plan, "eval", n, 0, plan.eval_count, a.members, self.slot, self.name):
            return
        self.measured = n
        samples, values = yield ("metrics", self.state.vectors["x"])
        yield from self.say(2, n, self.state.hash[:8], msgpack.uint(min(samples, 1 << 20)),
                            msgpack.bin_(np.array(values, "<f4").tobytes()))


class Work:
    """Section 6: what a contribution holds."""

    def __init__(self, device: Device, a: Announcement, group: int | None) -> None:
        self.device, self.a, self.group = device, a, group
        self.state, self.plan = device.state, device.state.plan
        self.key = record_key(self.state.key, a.n)
        self.kind = RADEMACHER if self.plan.distribution == "rademacher" else NORMAL
        # A survey names no group: its directions are those of group 0, or of the group drawn.
        at = drawn_group(self.plan, a.n, device.name) if draws_groups(self.plan) else group or 0
        self.source = {"shared": 0, "per-client": device.slot + 1}.get(self.plan.sharing, at + 1)
        self.mu_scale = np.ones(self.plan.dim, np.float32)
        for s, raw in zip(segments(self.plan), self.plan.segments or [{"mu_scale": 0.0}]):
            self.mu_scale[s.start : s.stop] = np.float32(raw["mu_scale"] or 1)

    def contribution(self) -> Acts:
        a, plan = self.a, self.plan
        tail = b""
        if a.perturbations == 0:
            loss, data = yield from self.survey()
            tail = array() + array(msgpack.uint(a.kind))
        elif plan.difference == "none":
            loss, data = yield from self.candidates()
        else:
            loss, data, g = yield from self.steps()
            if plan.step_auto == "on":
                tail = array() + array(msgpack.uint(0), msgpack.float32(self.slope(g)))
            if self.group is not None:
                tail += array(msgpack.uint(self.group))
        weight = 1
        if plan.weights == "samples":
            weight = max(1, min(self.device.samples, plan.max_weight))
        return array(msgpack.uint(1), msgpack.uint(1), msgpack.uint(a.n),
                     msgpack.bin_(self.state.hash[:8]), msgpack.uint(weight),
                     msgpack.float32(loss), msgpack.bin_(data)) + tail

    def loss(self, step: int, x: F32) -> Acts:
        """A loss, or None where it fails or is no number of binary32."""
        value = yield from self.any_loss(step, x)
        return value if abs(value) <= float(np.finfo(np.float32).max) else None

    def any_loss(self, step: int, x: F32) -> Acts:
        """A loss, infinite where it fails."""
        d, plan = self.device, self.plan
        size = min(plan.batch, d.samples)
        seed = sha(b"zofl/1 batch\0", plan.run.encode(), b"\0", d.name.encode(), b"\0",
                   le(self.a.n, 8), le(step, 4))[:8]
        value = yield ("loss", self.a.n, step, size, little(seed), x)
        for frame in d.queue:
            later = read(frame)
            if later.epoch != self.a.epoch or later.n > self.a.n + plan.late:
                raise Superseded
        return np.float64(np.inf if value is None else value)

    def must(self, step: int, x: F32) -> Acts:
        value = yield from self.loss(step, x)
        if value is None:
            raise Declined(3)
        return value

    def directions(self, step: int, count: int, first: int = 0) -> F32:
        at = [Address(self.key, step, first + p, self.source) for p in range(count)]
        if self.plan.distribution == "lowrank":
            return lowrank.directions(at, shapes(self.plan))
        return directions(at, self.kind, self.plan.dim)

    def at(self, x: F32, mu: float, z: F32) -> F32:
        return x + (np.float32(mu) * self.mu_scale) * z

    def steps(self) -> Acts:
        plan, many = self.plan, self.a.perturbations
        x, base = self.state.vectors["x"].copy(), self.state.vectors["x"]
        m = self.state.vectors["m"].copy() if "m" in self.state.vectors else None
        data, said = b"", 0.0
        for k in range(plan.steps):
            z = self.directions(k, many)
            raw, loss = yield from self.differences(x, z, k)
            block = encode(raw, plan.precision)
            data += block
            g = decode(block, plan.precision, 1, many)[0]
            if not (np.abs(g) <= np.float32(plan.max_scalar)).all():
                raise Declined(5)
            said = loss if k == 0 else said
            if k + 1 < plan.steps:
                self.move(x, m, base, k, g)
        return said, data, g

    def differences(self, x: F32, z: F32, k: int) -> Acts:
        """Difference quotients along z, on the minibatch of step k."""
        plan = self.plan
        mu = np.float64(np.float32(plan.mu))
        out, total, origin = [], 0.0, 0.0
        if plan.difference == "forward":
            origin = yield from self.must(k, x)
        for one in z:
            plus = yield from self.must(k, self.at(x, plan.mu, one))
            if plan.difference == "forward":
                quotient, near = (plus - origin) / mu, origin
            else:
                minus = yield from self.must(k, self.at(x, -plan.mu, one))
                quotient, near = (plus - minus) / (2 * mu), (plus + minus) / 2
            out.append(np.float32(self.units(quotient)))
            total += near
        return np.array(out, np.float32), total / len(out)

    def units(self, value: np.float64) -> np.float64:
        unit = np.float64(np.float32(self.plan.loss_unit))
        return value / unit if unit > 0 else value

    def part(self, k: int, g: F32) -> Part:
        rows = np.zeros((k + 1, len(g)), np.float32)
        rows[k] = g / np.float32(len(g))
        return Part(self.a.n, self.source, rows, rows)

    def move(self, x: F32, m: F32 | None, base: F32, k: int, g: F32) -> None:
        """A local step of replay.md, by the device's own scalars."""
        plan, terms = self.plan, Terms(self.state)
        v = list(terms.sums([self.part(k, g)], k + 1))[k]
        if plan.prox:
            v += np.float32(plan.prox) * (x - base)
        if plan.weight_decay:
            v += np.float32(plan.weight_decay) * x
        if m is not None:
            momentum(m, np.float32(plan.beta),
                     ONE - np.float32(plan.beta) if plan.rule == "momentum" else ONE, v)
            v = m
        x -= (np.float32(self.a.step) * terms.step_scale) * v

    def slope(self, g: F32) -> float:
        m = self.state.vectors["sm"].astype(np.float64)
        v = next(Terms(self.state).sums([self.part(0, g)], 1)).astype(np.float64)
        square = blocked_sum(m * m)
        with np.errstate(all="ignore"):
            slope = np.float32(blocked_sum(v * m) / np.sqrt(square)) if square > 0 else 0.0
        return float(slope) if np.isfinite(slope) else 0.0

    # Surveys, and candidates of cma.

    def survey(self) -> Acts:
        plan = self.plan
        if self.a.kind == 1 and plan.step_auto == "on" and not plan.step and \
                plan.server_rule != "cma":
            return (yield from self.lengths())
        sigma = plan.server_rule == "cma" and plan.step_auto == "on" and not plan.step
        if self.a.kind == 2 and (plan.mu_auto == "on" and not plan.mu or
                                 sigma and not plan.boxes):
            return (yield from self.distances())
        if self.a.kind == 3 and plan.groups == "sketch" and not plan.classes:
            return (yield from self.sketch())
        raise Superseded

    def sketch(self) -> Acts:
        self.source = 0
        x = self.state.vectors["x"]
        quotients, loss = yield from self.differences(x, self.directions(0, 64), 65535)
        if not (np.abs(quotients) <= np.float32(self.plan.max_scalar)).all():
            raise Declined(5)
        return loss, quotients.astype("<f4").tobytes()

    def lengths(self) -> Acts:
        s, x = self.state, self.state.vectors["x"]
        origin = yield from self.must(65535, x)
        out = [np.float32(origin)]
        inverse = np.float64(0)
        if s.v > 0:
            inverse = 1 / ((1 - s.p1) * np.sqrt(s.v / (1 - s.p2)))
        for power in range(-10, 6):
            point = x.copy()
            for seg in segments(self.plan):
                part = slice(seg.start, seg.stop)
                rate = np.float32(np.float64(4.0**power) * np.float64(seg.step_scale) * inverse)
                point[part] -= rate * s.vectors["sm"][part]
            value = yield from self.any_loss(65535, point)
            out.append(single(value - origin))
        return float(origin), np.array(out, "<f4").tobytes()

    def distances(self) -> Acts:
        x = self.state.vectors["x"]
        origin = yield from self.must(65535, x)
        kept: list[np.float32] | None = None
        for p in range(8):
            z = self.directions(0, 1, p)[0]
            odd, even, sides = [], [], []
            for mu in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100):
                plus = yield from self.any_loss(65535, self.at(x, mu, z))
                minus = yield from self.any_loss(65535, self.at(x, -mu, z))
                with np.errstate(all="ignore"):
                    odd.append(single((plus - minus) / 2))
                    even.append(single((plus - origin) / 2 + (minus - origin) / 2))
                    far, both = abs(plus - minus), abs(plus) + abs(minus)
                sides.append((far if far > 2.0**-20 * both else 0.0) if np.isfinite(both) else None)
            out = odd + even
            if sloped(sides):
                kept = out
                break
            if kept is None and any(s is None or s > 0 for s in sides):
                kept = out
        return float(origin), np.array([np.float32(origin), *(kept or out)], "<f4").tobytes()

    def candidates(self) -> Acts:
        plan, e = self.plan, self.state.evolution
        assert isinstance(e, Evolution)
        z = directions([Address(self.key, 0, k) for k in range(self.a.perturbations)], NORMAL,
                       plan.dim).astype(np.float64)
        far = (e.sigma * e.scale) * e.shaped(z)
        x = self.state.vectors["x"].astype(np.float64)
        losses = []
        for y in far:
            losses.append((yield from self.loss(0, (x + y).astype(np.float32))))
        finite = [f for f in losses if f is not None]
        if not finite:
            raise Declined(3)
        least, most = min(finite), np.float64(np.float32(plan.max_scalar))
        if plan.precision != "single":
            most *= 1 - 1 / 1024
        g = [np.float32(most if f is None else min(self.units(f - least), most)) for f in losses]
        return float(least), encode(np.array(g, np.float32), plan.precision)


def sloped(sides: list[float | None]) -> bool:
    finite = [s for s in sides if s is not None]
    if not finite or finite[-1] > 0:
        return True
    runs = zip(sides, sides[1:], sides[2:])
    return any(a and b and c and b >= 2 * a and c >= 10 * a for a, b, c in runs)


def single(v: float) -> np.float32:
    with np.errstate(over="ignore"):
        f = np.float32(v)
    return f if np.isfinite(f) else np.float32(np.inf)


def encode(g: F32, precision: str) -> bytes:
    """Scalars as they travel: docs/wire.md, section 1."""
    if precision in ("single", "half"):
        return g.astype("<f2" if precision == "half" else "<f4").tobytes()
    bits, step = BITS[precision]
    total = np.float64(0)
    for s in g.astype(np.float64):
        total += s * s
    r = np.sqrt(total / len(g)).astype("<f2")
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    q = np.zeros(len(g), np.int64)
    if r:
        q = np.clip(np.floor(g.astype(np.float64) / (step * np.float64(r))), low, high).astype(int)
    word = sum((int(code) & (1 << bits) - 1) << bits * i for i, code in enumerate(q))
    return r.tobytes() + word.to_bytes(2 * -(-len(g) * bits // 16), "little")
