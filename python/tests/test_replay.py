"""Golden logs: the digest after every record."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from logs import Log, logs

from zofl.audit import digest, rules, terms
from zofl.audit import record as records
from zofl.audit.errors import LogError
from zofl.audit.replica import Replica

LOGS = list(logs())


def test_count() -> None:
    assert len(LOGS) >= 120
    assert sum("subnormal" in log.name for log in LOGS) >= 12


def targets(log: Log) -> set[int]:
    return {r.to for r in map(records.read, log.records) if r.to}


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_log(log: Log) -> None:
    replica = Replica(log.secret, log.given, targets(log))
    for i, data in enumerate(log.records):
        assert records.write(records.read(data)) == data
        replica.apply(data)
        if i in log.objects:
            replica.supply(log.objects[i])
        assert replica.state is not None
        digest = replica.state.digest()
        assert digest is not None and digest.hex() == log.digests[i], f"record {i + 1}"


REFUSED = list(logs("refused.txt"))


@pytest.mark.parametrize("log", REFUSED, ids=lambda log: log.name)
def test_refused(log: Log) -> None:
    """The audit, which stops there, refuses what replay.md refuses; the log goes on without it."""
    replica = Replica(log.secret, log.given, targets(log))
    refused = 0
    for i in range(len(log.records) + 1):
        if i in log.refused:
            refused += 1
            before = copy.deepcopy(replica)
            with pytest.raises(LogError):
                replica.apply(log.refused[i])
            replica = before
        if i < len(log.records):
            replica.apply(log.records[i])
            if i in log.objects:
                replica.supply(log.objects[i])
            assert replica.state is not None
            found = replica.state.digest()
            assert found is not None and found.hex() == log.digests[i], f"record {i + 1}"
    assert refused == len(log.refused) > 0


@pytest.mark.parametrize("name", ["rademacher, two groups of 8 and 4 single terms",
                                  "relay by samples, sphere, segments: fedzo"])
def test_few_directions_at_a_time(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Larger models make their directions a few at a time, in whole groups of signs."""
    monkeypatch.setattr(terms, "_CHUNK", 9000 * 15)
    test_log(next(log for log in LOGS if log.name == name))


def test_sign_step() -> None:
    x = np.array([1, 1, -0.0, 1], np.float32)
    rules.sign_step(x, np.float32(0.5), np.array([2, -3, 0, np.nan], np.float32))
    assert [digest.bits32(v) for v in x] == [0x3FC00000, 0x3F000000, 0x80000000, 0x7FC00000]


def normalized(*rounds: tuple[float, float]) -> Replica:
    """After rounds of a rule normalized, each of a step and of scalars that are alike."""
    log = next(log for log in LOGS if log.name == "normalized of a mean")
    replica = Replica()
    replica.apply(log.records[0])
    for data, (step, scalar) in zip(log.records[1:], rounds):
        r = records.read(data)
        assert replica.state is not None and r.round is not None
        r.prev, r.round.step = replica.state.hash, step
        r.round.terms[0].scalars = np.full(3, scalar, "<f4").tobytes()
        replica.apply(records.write(r))
    return replica


def test_normalized_without_scalars() -> None:
    """V and p2 stay as they are, p1 and m go on, and x stays where it is while V is 0."""
    one, two = normalized((0.5, 2.0)).state, normalized((0.5, 2.0), (0.5, 0.0)).state
    assert one is not None and two is not None
    beta1 = np.float64(np.float32(0.9))
    assert (two.v, two.p2, two.p1) == (one.v, one.p2, one.p1 * beta1)
    assert (two.vectors["sm"] != one.vectors["sm"]).any()
    none = normalized((0.5, 0.0)).state
    assert none is not None and none.v == 0 and not none.vectors["x"].any()


def test_normalized_beyond_float32() -> None:
    """A rate that is infinite moves nothing."""
    state = normalized((3e38, 1e-30)).state
    assert state is not None and state.vectors["sm"].any() and not state.vectors["x"].any()
