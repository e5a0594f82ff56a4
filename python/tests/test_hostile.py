"""Records that nobody's coordinator writes: a verdict or a model, and no other exception."""

from __future__ import annotations

import random
from dataclasses import fields
from pathlib import Path

import pytest
import stores
from stores import LOGS

from zofl import audit
from zofl.audit import plan
from zofl.audit import record as records

VALUES = [0, 1, 2, 3, 5, 64, 255, 65535]
SMALL = [log for log in LOGS.values() if len(log.records[0]) < 300]


def changed(rng: random.Random, r: records.Record) -> None:
    """Sets one thing in a record to another value."""
    if r.round is None:
        field = rng.choice([f for f in plan.FIELDS.values() if f.name != "dim"])
        value: object = rng.choice(VALUES)
        if field.form == "float":
            value = rng.choice([-1.0, 0.5, 3e38, 1e-38])
        if field.form == "choice":
            value = rng.choice(list(plan.CHOICES[field.name]))
        if field.form not in ("float", "choice", "uint") or (
                r.kind == records.CHANGE and not field.changes):
            return
        if value or r.kind == records.CHANGE:
            r.values[field.name] = value
        else:
            r.values.pop(field.name, None)
        return
    name = rng.choice([f.name for f in fields(records.Round)])
    if name == "terms":
        for t in r.round.terms[: rng.randrange(3)]:
            t.back, t.source = rng.choice([0, 0, 1, 2]), rng.choice([0, 1, 2])
            t.scalars = t.scalars[: rng.randrange(0, len(t.scalars) + 2, 2)]
    elif name in ("slots", "weights"):
        setattr(r.round, name, sorted(rng.sample(range(1, 9), rng.randrange(4))))
    elif name == "phase":
        r.round.phase = rng.randrange(3)
    elif name == "object":
        r.round.object = rng.choice([b"", bytes(32)])
    else:
        setattr(r.round, name, rng.choice(VALUES))


@pytest.mark.parametrize("seed", range(150))
def test_no_other_exception(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    log = rng.choice(SMALL)
    some = []
    for data in log.records:
        r = records.read(data)
        if not some or rng.random() < 0.2:
            changed(rng, r)
        if some:
            r.prev = records.hash_record(some[-1])
        some.append(records.write(r))
    bad = stores.Log("bad", log.given, log.secret, some, log.objects)
    path = stores.store(tmp_path, bad)
    verdict = audit.verify(path, secret=log.secret, initial=log.given)
    assert verdict.records <= len(some)
    try:
        audit.model(path, secret=log.secret, initial=log.given)
    except audit.LogError:
        assert not verdict.ok or verdict.digest is None
