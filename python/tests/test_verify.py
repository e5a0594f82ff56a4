"""Verdicts on whole logs, good and bad."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import stores
from stores import LOGS
from vectors import ROOT

from zofl import audit
from zofl.audit import record as records
from zofl.audit import statefile
from zofl.audit.__main__ import main
from zofl.audit.store import open_store

OPERATED = LOGS["rollbacks, changes and an end"]
PRIVATE = LOGS["private, scaffold-2, amsgrad"]
DENSE = LOGS["dense, scaffold-2 of a given start"]
GIVEN = LOGS["torch momentum, weight decay, given start"]
MEAN = LOGS["sgd, one direction"]


@pytest.mark.parametrize("name", [name for name in LOGS if name.startswith("preset ")])
def test_preset(tmp_path: Path, name: str) -> None:
    log = LOGS[name]
    verdict = audit.verify(stores.store(tmp_path, log))
    assert (verdict.problems, verdict.notes) == ((), ())
    assert verdict.digest == log.digests[-1]
    assert verdict.run == name.replace("preset ", "preset-")
    assert verdict.hash == records.hash_record(log.records[-1]).hex()


def test_every_record(tmp_path: Path) -> None:
    path = stores.store(tmp_path, OPERATED)
    for n, digest in enumerate(OPERATED.digests, 1):
        verdict = audit.verify(path, at=n)
        assert verdict.ok and (verdict.records, verdict.digest) == (n, digest)
    verdict = audit.verify(path)
    assert (verdict.rounds, verdict.ended) == (1, "requested")
    assert not audit.verify(path, at=99).ok


def test_model(tmp_path: Path) -> None:
    path = stores.store(tmp_path, MEAN)
    x = audit.model(path)
    assert x.shape == (10000,) and x.dtype == np.float32
    plain = hashlib.sha256(b"zofl/1 state\0" + (10000).to_bytes(8, "little") + b"\1\0\0\0")
    for at in range(0, 10000, 4096):
        plain.update(hashlib.sha256(x[at : at + 4096].tobytes()).digest())
    assert plain.hexdigest() == MEAN.digests[-1]
    assert not audit.model(path, 1).any()
    assert (audit.model(path / "log") == x).all()
    for at, why in ((99, "before 99"), (0, "no state after record 0")):
        with pytest.raises(audit.LogError, match=why):
            audit.model(path, at)


def test_given(tmp_path: Path) -> None:
    path = stores.store(tmp_path, GIVEN)
    assert audit.verify(path, initial=GIVEN.given).digest == GIVEN.digests[-1]
    assert GIVEN.given is not None
    assert "give the initial" in audit.verify(path).problems[0]
    other = GIVEN.given + np.float32(1)
    assert "initial_digest" in audit.verify(path, initial=other).problems[0]


def test_private(tmp_path: Path) -> None:
    path = stores.store(tmp_path, PRIVATE)
    assert audit.verify(path, secret=PRIVATE.secret).digest == PRIVATE.digests[-1]
    verdict = audit.verify(path)
    assert verdict.ok and verdict.digest is None and "private" in verdict.notes[0]
    assert "key_check" in audit.verify(path, secret=bytes(32)).problems[0]
    with pytest.raises(audit.LogError, match="secret"):
        audit.model(path)


def test_dense_vectors(tmp_path: Path) -> None:
    path = stores.store(tmp_path, DENSE)
    assert audit.verify(path, initial=DENSE.given).digest == DENSE.digests[-1]
    name = sorted((path / "objects").iterdir())[-1]
    data = name.read_bytes()
    name.write_bytes(data[:-1] + b"\x55")
    assert "damaged" in audit.verify(path, initial=DENSE.given).problems[0]
    name.unlink()
    verdict = audit.verify(path, initial=DENSE.given)
    assert "missing" in verdict.problems[0] and verdict.digest is None
    with pytest.raises(audit.LogError, match="no longer"):
        audit.model(path, initial=DENSE.given)


def test_vectors_that_a_rollback_undid(tmp_path: Path) -> None:
    last = DENSE.records[-1]
    n = len(DENSE.records)
    back = records.Record(records.ROLLBACK, n + 1, records.hash_record(last), 1, to=n - 1)
    log = stores.Log("back", DENSE.given, None, [*DENSE.records, records.write(back)],
                     DENSE.objects)
    path = stores.store(tmp_path, log)
    verdict = audit.verify(path, initial=DENSE.given)
    assert verdict.ok and verdict.digest == DENSE.digests[n - 2]
    names = sorted((path / "objects").iterdir(), key=lambda p: int(p.name.split("-")[0]))
    names[-1].unlink()  # of the round that is undone
    assert audit.verify(path, initial=DENSE.given) == verdict
    data = names[-2].read_bytes()
    names[-2].unlink()
    verdict = audit.verify(path, initial=DENSE.given)
    assert "missing" in verdict.problems[0] and verdict.digest is None
    names[-2].write_bytes(data)
    names[0].unlink()  # of a younger round's state nobody needs it, but it is to be kept
    assert "missing" in audit.verify(path, initial=DENSE.given).problems[0]


def roster(path: Path, *lines: str) -> None:
    text = "".join(f"{line}\n" for line in ("zofl roster 2", *lines)).encode()
    seal = hashlib.sha256(bytes(32) + text).hexdigest()
    (path / "roster").write_bytes(text + f"sha256 {seal}\n".encode())


def test_roster(tmp_path: Path) -> None:
    path = stores.store(tmp_path, MEAN)
    of = "log " + records.hash_record(MEAN.records[0]).hex()
    for lines in ([of, "+pi-1", "+pi-2", "-pi-1"], ["+pi-1"], []):
        roster(path, *lines)
        assert audit.verify(path).ok
    (path / "roster").write_text("zofl roster 1\npi-1\n")
    assert audit.verify(path).ok
    roster(path, "log " + "0" * 32, "+pi-1")
    assert audit.verify(path).problems == ("the roster is of another log",)
    roster(path, of, "pi-1")
    assert audit.verify(path).problems == ("the roster is damaged",)
    roster(path, of, "+pi-1")
    text = (path / "roster").read_bytes()
    for at in range(len(text)):
        (path / "roster").write_bytes(text[:at] + bytes([text[at] ^ 2]) + text[at + 1 :])
        assert audit.verify(path).problems == ("the roster is damaged",), at


def test_interrupted_append(tmp_path: Path) -> None:
    path = stores.store(tmp_path, MEAN)
    whole = (path / "log").read_bytes()
    last = len(stores.frame(MEAN.records[-1]))
    for cut in (1, 12, last - 3, last - 1):
        (path / "log").write_bytes(whole[:-cut])
        stores.seen(path, len(MEAN.records) - 1)
        verdict = audit.verify(path)
        assert verdict.ok and verdict.digest == MEAN.digests[-2]
        assert f"{last - cut} bytes" in verdict.notes[0]
    stores.seen(path, len(MEAN.records))
    assert "held record 6 once" in audit.verify(path).problems[0]


def test_unwritten_sector(tmp_path: Path) -> None:
    log = LOGS["relay, K=2, P=3"]
    path = stores.store(tmp_path, log)
    data = bytearray((path / "log").read_bytes())
    data[-5:] = bytes(5)  # of a sector that has more of the record
    (path / "log").write_bytes(data)
    stores.seen(path, 0)
    frame = len(stores.frame(log.records[-1]))
    start = max(len(data) - len(data) % 512, len(data) - frame)
    assert not audit.verify(path).ok
    data[start:] = bytes(len(data) - start)
    (path / "log").write_bytes(data)
    verdict = audit.verify(path)
    assert verdict.ok and verdict.digest == log.digests[-2]


@pytest.mark.parametrize(("begin", "torn"), [(512, 2012), (523, 0)])
def test_part_of_a_sector(tmp_path: Path, begin: int, torn: int) -> None:
    """A sector without a byte was not written; one that lost some is damaged."""
    data = bytearray(b"zofl log 1\n" + stores.frame(b"\x55" * 2000))
    data[begin:1024] = bytes(1024 - begin)
    (tmp_path / "log").write_bytes(data)
    store = open_store(tmp_path)
    assert (store.torn, not store.damage) == (torn, torn > 0)


def test_records_behind_a_damaged_head(tmp_path: Path) -> None:
    """Zeros in place of a head are no unfinished append if an intact record is behind them."""
    path = stores.store(tmp_path, MEAN)
    data = bytearray((path / "log").read_bytes())
    at = len(data) - sum(len(stores.frame(r)) for r in MEAN.records[-2:])
    data[at : at + 20] = bytes(20)
    (path / "log").write_bytes(data)
    stores.seen(path, 0)
    assert open_store(path).damage
    assert not audit.verify(path).ok


def test_damage_is_found(tmp_path: Path) -> None:
    path = stores.store(tmp_path, MEAN)
    whole = (path / "log").read_bytes()
    for at in range(0, len(whole), 5):
        bad = bytearray(whole)
        bad[at] ^= 4
        (path / "log").write_bytes(bad)
        try:
            assert not audit.verify(path).ok, f"byte {at}"
        except audit.LogError:
            assert at < 11, "only a file that is no log has no verdict"


def rewritten(log: stores.Log, i: int, data: bytes) -> stores.Log:
    """The log with another record, whose checksum is right."""
    return stores.Log("bad", log.given, log.secret,
                      log.records[:i] + [data] + log.records[i + 1 :])


def test_chain(tmp_path: Path) -> None:
    r = records.read(MEAN.records[3])
    assert r.round is not None
    r.round.step *= 2
    verdict = audit.verify(stores.store(tmp_path / "a", rewritten(MEAN, 3, records.write(r))))
    assert verdict.problems == ("record 5 does not follow the hash of record 4",)
    assert verdict.records == 4
    r.prev = bytes(16)
    verdict = audit.verify(stores.store(tmp_path / "b", rewritten(MEAN, 3, records.write(r))))
    assert verdict.problems == ("record 4 does not follow the hash of record 3",)
    short = stores.Log("short", records=MEAN.records[1:])
    assert not audit.verify(stores.store(tmp_path / "c", short)).ok
    doubled = stores.Log("doubled", records=MEAN.records[:2] + MEAN.records[1:])
    assert "record 2 follows record 2" in audit.verify(
        stores.store(tmp_path / "d", doubled)).problems[0]


def test_after_the_end(tmp_path: Path) -> None:
    last = OPERATED.records[-1]
    r = records.Record(records.END, len(OPERATED.records) + 1, records.hash_record(last), 1,
                       reason=1)
    more = stores.Log("more", records=[*OPERATED.records, records.write(r)])
    assert "after the end" in audit.verify(stores.store(tmp_path, more)).problems[0]


REFUSED = [
    ("sgd, one direction", {"step": -0.5}, "step"),
    ("sgd, one direction", {"step": 0.0}, "step"),
    ("sgd, one direction", {"factor": 0.5}, "factor"),
    ("sgd, one direction", {"perturbations": 0}, "perturbations"),
    ("sgd, one direction", {"perturbations": 2}, "scalars"),
    ("sgd, one direction", {"phase": 1}, "phase"),
    ("sgd, one direction", {"terms": []}, "no terms"),
    ("sgd, one direction", {"object": bytes(32)}, "vector"),
    ("sgd, one direction", {"weights": [1]}, "weights"),
    ("sgd, one direction", {"population": 4}, "population"),
    ("subspace of 1, K=2, given start", {"round": 2}, "round 2"),
    ("scaffold-1, K=3, P=2, momentum", {"phase": 2}, "phase"),
    ("scaffold-2, K=2, P=3, momentum and decay", {"contributors": 9}, "contributors"),
    ("scaffold-2, K=2, P=3, momentum and decay", {"contributors": 0}, "contributors"),
    ("server sgd", {"factor": -0.5}, "factor"),
    ("dense, of many spheres", {"object": b""}, "vector"),
    ("dense, of many spheres", {"slots": [1]}, "vector"),
]


@pytest.mark.parametrize(("name", "fields", "why"), REFUSED, ids=lambda v: str(v)[:40])
def test_refused_rounds(tmp_path: Path, name: str, fields: dict[str, object], why: str) -> None:
    log = LOGS[name]
    r = records.read(log.records[1])
    for field, value in fields.items():
        setattr(r.round, field, value)
    path = stores.store(tmp_path, rewritten(log, 1, records.write(r)))
    verdict = audit.verify(path, initial=log.given)
    assert len(verdict.problems) and why in verdict.problems[0], verdict.problems
    assert verdict.records == 1


PLANS = [
    ("sgd, one direction", {"steps": 0}, "steps=0"),
    ("sgd, one direction", {"dim": 1 << 42}, "dim="),
    ("sgd, one direction", {"pool": 4}, "rebase=0"),
    ("sgd, one direction", {"distribution": 4}, "subspace_moves=0"),
    ("sgd, one direction", {"distribution": 4, "subspace_moves": 65}, "subspace_moves=65"),
    ("sgd, one direction", {"rule": 4}, "rule=adam"),
    ("sgd, one direction", {"boxes": [{"low": 0.0, "high": 1.0}] * 2}, "2 boxes"),
    ("sgd, one direction", {"segments": [{"name": "a", "len": 9, "fill": 0, "scale": 0.0,
                                          "mu_scale": 0.0, "step_scale": 0.0}]}, "segments"),
    ("pool of 37, rebase 3", {"server_rule": 6}, "pool with"),
    ("normalized of a mean", {"steps": 2}, "normalized with"),
    ("relay, K=2, P=3", {"control": 1}, "relay"),
    ("dense, of many spheres", {"pool": 4, "rebase": 1}, "dense with"),
    ("sgd, one direction", {"estimator": 1, "features": 3}, "surrogate without"),
    ("sgd, one direction", {"run": "other"}, "plan of its run"),
]


@pytest.mark.parametrize(("name", "fields", "why"), PLANS, ids=lambda v: str(v)[:40])
def test_refused_plans(tmp_path: Path, name: str, fields: dict[str, object], why: str) -> None:
    log = LOGS[name]
    r = records.read(log.records[0])
    r.values.update(fields)
    r.values = {field: value for field, value in r.values.items() if value}
    path = stores.store(tmp_path, rewritten(log, 0, records.write(r)))
    verdict = audit.verify(path)
    assert len(verdict.problems) and why in verdict.problems[0], verdict.problems
    assert verdict.records == 0


@pytest.mark.parametrize(("back", "source", "why"), [(1, 0, "back"), (0, 3, "source")])
def test_refused_terms(tmp_path: Path, back: int, source: int, why: str) -> None:
    r = records.read(MEAN.records[2])
    assert r.round is not None
    r.round.terms = [records.Term(back, source, r.round.terms[0].scalars)]
    path = stores.store(tmp_path, rewritten(MEAN, 2, records.write(r)))
    assert why in audit.verify(path).problems[0]


OLDER = [
    ("sgd, one direction", 2, 0, "term 1 along 1 records back"),
    ("scaffold-1, K=3, P=2, momentum", 3, 0, "2 terms in phase 1"),
    ("scaffold-1, K=3, P=2, momentum", 2, 4, "phase 2"),
]


@pytest.mark.parametrize(("name", "i", "cut", "why"), OLDER)
def test_refused_older_terms(tmp_path: Path, name: str, i: int, cut: int, why: str) -> None:
    """A second term of the record before, or one that is cut."""
    log = LOGS[name]
    r = records.read(log.records[i])
    assert r.round is not None
    own = r.round.terms[0].scalars
    r.round.terms[1:] = [records.Term(1, 0, r.round.terms[-1].scalars[cut:] if cut else own)]
    path = stores.store(tmp_path, rewritten(log, i, records.write(r)))
    assert why in audit.verify(path).problems[0]


def test_vector_that_is_not_finite(tmp_path: Path) -> None:
    log = LOGS["dense, of many spheres"]
    data = np.frombuffer(log.objects[1], "<f4").copy()
    data[-1] = np.inf
    r = records.read(log.records[1])
    assert r.round is not None
    r.round.object = records.hash_object(data.tobytes())
    bad = stores.Log("bad", records=[log.records[0], records.write(r)],
                     objects={1: data.tobytes()})
    assert "finite" in audit.verify(stores.store(tmp_path, bad)).problems[0]


def test_begins_with_a_state(tmp_path: Path) -> None:
    """A log that goes on after a state file, with a rollback to that state."""
    data = (ROOT / "client/replica/testdata/state-2-normalized.bin").read_bytes()
    state = statefile.read(data)
    r = records.Record(records.ROLLBACK, state.n + 1, state.hash, 1, to=state.n)
    log = stores.Log("on", records=[records.write(r)])
    path = stores.store(tmp_path, log)
    (path / "base").write_bytes(data)
    stores.seen(path, state.n + 1)
    digest = data[-32:]
    lines = (f"zofl start 1\nn {state.n}\nhash {state.hash.hex()}\nepoch {state.epoch}\n"
             f"rounds {state.rounds}\nfirst {state.first.hex()}\nplan \n"
             f"digest {digest[:8].hex()}\nsize {len(data)}\n"
             f"base {hashlib.sha256(data).hexdigest()}\n")
    text = lines + f"sha256 {hashlib.sha256(lines.encode()).hexdigest()}\n"
    (path / "start").write_text(text)
    verdict = audit.verify(path)
    assert verdict.ok and verdict.digest == digest.hex()
    assert f"after record {state.n}" in verdict.notes[0]
    assert audit.verify(path, at=state.n).digest == digest.hex()
    assert "no state" in audit.verify(path, at=state.n - 1).problems[0]
    (path / "base").write_bytes(data[:-1] + b"\0")
    with pytest.raises(audit.LogError, match="base"):
        audit.verify(path)
    (path / "start").write_text(text.replace(f"n {state.n}", "n 99", 1))
    with pytest.raises(audit.LogError, match="start"):
        audit.verify(path)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = stores.store(tmp_path / "log", MEAN)
    assert main([str(path), "--json", "--out", str(tmp_path / "x.npy")]) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == MEAN.digests[-1]
    assert (np.load(tmp_path / "x.npy") == audit.model(path)).all()
    (path / "log").write_bytes((path / "log").read_bytes()[:-40] + bytes(41))
    assert main([str(path)]) == 4
    assert "WRONG" in capsys.readouterr().out
    assert main([str(tmp_path / "nothing")]) == 1
    secret = tmp_path / "secret"
    secret.write_bytes(PRIVATE.secret or b"")
    private = stores.store(tmp_path / "private", PRIVATE)
    assert main([str(private), "--secret", str(secret), "--at", "3"]) == 0
    assert PRIVATE.digests[2] in capsys.readouterr().out
    np.save(tmp_path / "x0.npy", GIVEN.given)
    (tmp_path / "x0.f32").write_bytes(GIVEN.given.tobytes())  # type: ignore[union-attr]
    given = stores.store(tmp_path / "given", GIVEN)
    for name in ("x0.npy", "x0.f32"):
        assert main([str(given), "--initial", str(tmp_path / name)]) == 0
