"""Plans and coordinators from Python."""

from __future__ import annotations

import json
import logging
import subprocess
from pathlib import Path

import numpy as np
import pytest
from runs import client, small

import zofl
from zofl import audit, binary, plans

pytestmark = pytest.mark.usefixtures("zofl")


def test_plan(tmp_path: Path, caplog: pytest.LogCaptureFixture,
              monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "_told", set())
    p = zofl.plan(run="kitchen", dim=7850, mu=1e-3, metrics=["loss"], rounds=2, eval_every=5,
                  eval_count=2, async_=False)
    assert (p["run"], p["dim"], p["rounds"], p["metrics"]) == ("kitchen", 7850, 2, ["loss"])
    assert p["mu"] == pytest.approx(1e-3)
    assert p.cost["cost"]["Queries"] > 0
    assert p.warnings and all(w in caplog.text for w in p.warnings)
    p.save(tmp_path / "plan.json")
    caplog.clear()
    loaded = zofl.Plan.load(tmp_path / "plan.json")
    assert loaded == p and loaded.warnings == p.warnings
    assert zofl.plan(dim=300, rounds=2).warnings == p.warnings
    assert not caplog.records  # what was said is not said again
    grouped = zofl.plan(dim=300, rounds=2, sharing="groups", groups="sketch", group_size=5)
    assert set(grouped.warnings) > set(p.warnings)
    assert [r.getMessage() for r in caplog.records] == [
        f"plan run: {w}" for w in grouped.warnings if w not in p.warnings]
    with pytest.raises(FileExistsError):
        p.save(tmp_path / "plan.json")
    said = subprocess.run([binary.find(), "plan", tmp_path / "plan.json", "--json"],
                          capture_output=True, check=True)
    assert json.loads(said.stdout)["plan"] == p


def test_layers_and_secret(tmp_path: Path) -> None:
    p = zofl.plan(segments="relu:4x3,3x2", secret=tmp_path / "key")
    assert p["dim"] == 4 * 3 + 3 + 3 * 2 + 2
    assert len((tmp_path / "key").read_bytes()) > 0 and "run_key" not in p
    own = [{"name": "all", "len": 9, "fill": "normal", "scale": 0.5}]
    assert zofl.plan(dim=9, segments=own)["segments"] == own
    with pytest.raises(zofl.UsageError, match="add up to dim"):
        zofl.plan(dim=8, segments=own)


def test_liars() -> None:
    p = zofl.plan(dim=9, members=20, liars=4)
    assert (p["liars"], p["aggregator"]) == (4, "trimmed-mean")
    assert "4 of the 20 devices" in p.cost["liars"]
    with pytest.raises(zofl.UsageError, match="half or more"):
        zofl.plan(dim=9, members=8, liars=4)


@pytest.mark.parametrize("fields, said", [
    ({"dim": 0}, "dim="), ({"steps": "many"}, "steps"), ({"preset": "sgd"}, "decomfl"),
    ({"no_such_field": 1}, "no_such_field"), ({"quorum": 99}, "quorum"),
])
def test_wrong_plan(fields: dict[str, object], said: str) -> None:
    with pytest.raises(zofl.UsageError, match=said) as e:
        zofl.plan(**{"dim": 5, **fields})
    assert e.value.code == 2 and isinstance(e.value, ValueError)


def test_serve(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = tmp_path / "log"
    with caplog.at_level(logging.INFO, "zofl"), zofl.serve(small(), store) as server:
        devices = [client(server, id) for id in ("a", "b")]
        events = list(server.events())
        assert [e["event"] for e in events].count("round") == 5
        assert list(server.events()) == []  # each once
        status = server.status()
        assert (status["run"], status["rounds"]) == ("small", 5)
        model = server.export()
        assert server.export(at=2).shape == (30,) and not np.array_equal(model, server.export(at=2))
        for d in devices:
            with d:
                pass
    assert "msg=leading" in caplog.text
    assert zofl.export(store).tobytes() == audit.model(store).tobytes() == model.tobytes()
    with pytest.raises(zofl.AbsentError):
        zofl.status(server.url, "small")
    with pytest.raises(zofl.UsageError, match="no log"):
        zofl.export(tmp_path / "none")
    with zofl.serve(store=store) as again:  # continues the run
        assert again.run == "small" and again.status()["rounds"] == 5


def test_a_store_of_its_own() -> None:
    with zofl.serve(small()) as server:
        assert (server.store / "log").exists()
    assert not server.store.exists()


def test_serve_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(zofl.UsageError, match="loopback"):
        zofl.serve(small(), listen="0.0.0.0:0")
    with pytest.raises(zofl.UsageError, match="PLAN"):
        zofl.serve(store=tmp_path / "none")
    with pytest.raises(zofl.UsageError, match="rounds"):
        zofl.serve({"run": "small", "rounds": "few"})


def test_a_killed_coordinator_is_an_error() -> None:
    with zofl.serve(small()) as server:
        server._child._process.kill()
        with pytest.raises(zofl.Error, match="signal 9"):
            server.wait()


def test_no_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ZOFL", str(tmp_path / "none"))
    with pytest.raises(zofl.MissingError, match="none"):
        zofl.plan(dim=3)
    monkeypatch.delenv("ZOFL")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(zofl.MissingError, match="PATH"):
        zofl.plan(dim=3)
    script = tmp_path / "zofl"
    script.write_text("#!/usr/bin/python3\nfrom zofl.binary import main\nmain()\n")
    script.chmod(0o755)
    with pytest.raises(zofl.MissingError, match="PATH"):  # pip's own script is not the program
        zofl.plan(dim=3)
    (tmp_path / "zofl").write_text("#!/bin/sh\necho zofl: no >&2; exit 7\n")
    (tmp_path / "zofl").chmod(0o755)
    with pytest.raises(zofl.Error, match="^no$") as e:
        zofl.plan(dim=3)
    assert e.value.code == 7
