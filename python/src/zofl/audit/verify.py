"""Verdicts on logs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import record as records
from . import statefile
from .errors import LogError
from .plan import Plan
from .replica import Replica, follows
from .state import State
from .store import Store, check_roster, open_store, targets

_REASONS = {1: "requested", 2: "rounds", 3: "metric", 4: "diverged", 6: "patience"}


@dataclass(frozen=True)
class Verdict:
    """What a log holds.

    Numbers are those after its last good record, or after the one that was asked for.
    """

    run: str
    dim: int
    records: int
    rounds: int
    epoch: int
    hash: str
    """The hash of the last record, 32 hexadecimal digits."""
    digest: str | None
    """The digest of the state, which every device must have; None if it cannot be computed:
    the secret of a private run is not given, or the log no longer has a vector."""
    ended: str | None
    """Why the run ended, None if it did not."""
    problems: tuple[str, ...]
    """What is wrong with the log; empty for a good one."""
    notes: tuple[str, ...]
    """What is not wrong and worth knowing."""

    @property
    def ok(self) -> bool:
        return not self.problems


class MissingError(LogError):
    """A log does not have a vector, or no longer has it."""


class Audit:
    """A walk through a log, record by record."""

    def __init__(self, store: Store, secret: bytes | None,
                 given: NDArray[np.float32] | None) -> None:
        self.store, self.secret = store, secret
        self.targets = targets(store.records)
        self.replica: Replica | None = Replica(secret, given, set(self.targets))
        self.first: Plan | None = None
        self.n, self.hash, self.epoch, self.rounds = 0, b"", 0, 0
        self.end = 0
        self.notes: list[str] = []
        self.named: list[tuple[int, int, bytes]] = []
        self.undone: dict[int, int] = {}  # rollbacks, by their record
        self.keep = 0  # the fewest vectors that the plan has kept
        self._base(given)

    def _base(self, given: NDArray[np.float32] | None) -> None:
        start = self.store.start
        if start is None:
            return
        state = statefile.read(self.store.base(), self.secret, given)
        state_digest = state.digest()
        said = (start.n, start.hash, start.epoch, start.rounds, start.first, start.digest)
        if said != (state.n, state.hash, state.epoch, state.rounds, state.first,
                    (state_digest or b"")[:8]):
            raise LogError("start and base are of different states")
        assert self.replica is not None
        self.replica.state = state
        if state.n in self.targets:
            self.replica.states[state.n] = state.copy()
        self.first, self.n, self.hash = state.plan, state.n, state.hash
        self.epoch, self.rounds = state.epoch, state.rounds
        self.keep = state.plan.dense_keep
        self.notes.append(f"the log begins with the state after record {state.n}")

    def walk(self, at: int | None) -> None:
        """Applies records up to number at; None applies all."""
        if at is not None and at < max(self.n, 1):
            raise LogError(f"there is no state after record {at}: the log begins with record "
                           f"{self.n + 1}")
        for data in self.store.records:
            if self.n == at:
                return
            self.step(data)

    def step(self, data: bytes) -> None:
        """Applies one record."""
        r = records.read(data)
        if self.first is None:
            self.first = Plan(r.values)
            if self.first.key_check and self.secret is None:
                self.replica = None
                self.notes.append("the run is private: without its secret only the chain of "
                                  "records was checked")
        self._apply(r, data)
        self.n, self.hash, self.epoch = r.n, records.hash_record(data), r.epoch
        self.end = r.reason
        self._vectors(r)

    def _apply(self, r: records.Record, data: bytes) -> None:
        if self.replica is not None:
            self.replica.apply(data)
            assert self.replica.state is not None
            self.rounds = self.replica.state.rounds
            if r.kind == records.ROLLBACK and self.targets[r.to] == r.n:
                del self.replica.states[r.to]  # nothing returns there again
        elif self.n:
            follows(r, self.n, self.hash, self.end > 0)
        elif self.first is None or r.prev != records.genesis(self.first.run):
            raise LogError("the log does not begin with the plan of its run")

    def _vectors(self, r: records.Record) -> None:
        """Remembers which vectors the log must still have."""
        if r.round is not None and r.round.object:
            self.named.append((r.n, r.epoch, r.round.object))
        if r.kind == records.ROLLBACK:
            self.undone[r.n] = r.to
        if r.kind == records.PLAN:
            self.keep = int(r.values.get("dense_keep", 0))
        if r.kind == records.CHANGE and "dense_keep" in r.values:
            self.keep = min(self.keep, int(r.values["dense_keep"]))

    def problems(self) -> list[str]:
        """What is wrong beside the records."""
        out = []
        if self.store.damage:
            out.append(self.store.damage)
        start, first = self.store.start, self.store.records[:1]
        try:
            check_roster(self.store.path, start.first if start else b"".join(first))
        except LogError as error:
            out.append(str(error))
        if self.store.seen > self.n + self.unread():
            out.append(f"the log held record {self.store.seen} once, and ends with "
                       f"{self.n + self.unread()}")
        if self.store.torn:
            self.notes.append(f"{self.store.torn} bytes at the end are an append that was "
                              "interrupted")
        for n, epoch, digest in self.kept():
            try:
                self.vector(digest, self.store.object(n, epoch, digest))
            except LogError as error:
                out.append(f"record {n}: {error}")
        return out

    def unread(self) -> int:
        """How many records were left out."""
        start = self.store.start
        return len(self.store.records) - (self.n - (start.n if start else 0))

    def kept(self) -> list[tuple[int, int, bytes]]:
        """Records whose vectors the log must have: the last, without those that are undone."""
        if self.unread() or not self.keep:
            return []
        path, n = set(), self.n
        while n > 0:
            path.add(n)
            n = self.undone.get(n, n - 1)
        return [named for named in self.named[-self.keep :] if named[0] in path]

    def vector(self, digest: bytes, path: Path) -> bytes:
        """A vector that travels beside a record."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise MissingError(f"the vector {path.name} is missing") from None
        if records.hash_object(data) != digest:
            raise LogError(f"the vector {path.name} is damaged")
        return data

    def whole(self) -> State | None:
        """The state, with the vectors that it needs; None without the run's secret."""
        if self.replica is None or self.replica.state is None:
            return None
        needed = set(self.replica.state.missing.values())
        for digest in needed:
            path = next(self.store.object(n, epoch, name)
                        for n, epoch, name in reversed(self.named) if name == digest)
            try:
                self.replica.supply(self.vector(digest, path))
            except MissingError as error:
                self.notes.append(f"{error}: the state has no digest")
        return self.replica.state


def verify(
    path: str | os.PathLike[str], *, at: int | None = None, secret: bytes | None = None,
    initial: NDArray[np.float32] | None = None,
) -> Verdict:
    """Checks a log, and computes the digest of its state.

    path is the directory of a log that no coordinator has open, or its file `log` alone. at is
    the record to stop after. secret is the run key of a private run, initial the first
    parameters where the plan has initial=given.

    A damaged log is no error: the verdict says what is wrong. Errors are LogError if there is
    no log, and OSError.
    """
    audit = Audit(open_store(Path(path)), secret, initial)
    digest, problems = None, []
    try:
        audit.walk(at)
        state = audit.whole()
        found = None if state is None else state.digest()
        digest = None if found is None else found.hex()
    except LogError as error:
        problems.append(str(error))
    except MemoryError:
        problems.append("the model does not fit the memory of this machine")
    if at is not None and audit.n != at and not problems:
        problems.append(f"the log ends with record {audit.n}, before {at}")
    problems += audit.problems()
    first = audit.first or Plan({})
    return Verdict(first.run, first.dim, audit.n, audit.rounds, audit.epoch, audit.hash.hex(),
                   digest, _REASONS.get(audit.end), tuple(problems), tuple(audit.notes))


def model(
    path: str | os.PathLike[str], at: int | None = None, *, secret: bytes | None = None,
    initial: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """The parameters after record at, or after the last one, of shape (dim,).

    The other arguments are those of verify. Errors are LogError if the log is damaged before
    that record or does not reach it, and OSError.
    """
    audit = Audit(open_store(Path(path)), secret, initial)
    audit.walk(at)
    if audit.store.damage and at is None:
        raise LogError(audit.store.damage)
    if at is not None and audit.n != at:
        raise LogError(f"the log ends with record {audit.n}, before {at}")
    state = audit.whole()
    if state is None:
        raise LogError("the log has no record" if audit.first is None
                       else "the run is private: give its secret")
    if "x" in state.missing:
        raise LogError(f"the log no longer has the vector of record {audit.n}")
    return state.vectors["x"].copy()
