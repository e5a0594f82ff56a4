"""Devices in Python beside devices of the program, in real runs."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import DIM, Running, bowl, client, goes_on, small, successor
from vectors import ROOT

import zofl
from zofl import audit

pytestmark = pytest.mark.usefixtures("zofl")


def test_devices_agree(tmp_path: Path) -> None:
    """Devices of both kinds come to one digest, which is that of the log."""
    heard: list[dict[str, Any]] = []
    plan = small(members=3, target=3, quorum=3, rounds=20, step=0.1, mu=0.01)
    with zofl.serve(plan, tmp_path / "log") as server:
        with client(server, "go-1", heard.append) as other:
            devices = [Running(server, "py-1", store=tmp_path / "py-1"), Running(server, "py-2")]
            results = [d.got() for d in devices]
            assert other.wait(300) == 0
        model = server.export()
    digest = audit.verify(tmp_path / "log").digest
    assert heard[-1]["digest"] == digest
    for r in results:
        assert r.ended and r.digest == digest and r.record == heard[-1]["n"]
        assert r.model.dtype == np.float32 and r.model.tobytes() == model.tobytes()
        assert r.queries > 20


def test_kinds_of_losses(tmp_path: Path) -> None:
    """Losses one by one, together, and gradients train one model, and metrics come with it."""
    asked: dict[str, set[int]] = {"losses": set(), "gradient": set()}

    def losses(xs: np.ndarray, batch: zofl.Batch) -> np.ndarray:
        asked["losses"].add(len(xs))
        return np.mean((xs - 1) ** 2, axis=1)

    def gradient(x: np.ndarray, batch: zofl.Batch) -> tuple[float, np.ndarray]:
        asked["gradient"].add(batch.n)
        return bowl(x, batch), 2 * (x - 1) / len(x)

    plan = small(members=3, target=3, quorum=3, rounds=40, step=0.5, mu=0.01, perturbations=7,
                 metrics=["loss", "largest"], eval_every=10, eval_count=3, best="loss")
    with zofl.serve(plan) as server:
        devices = [
            Running(server, "one", evaluate=lambda x, device: [bowl(x, None), x.max()], samples=10),
            Running(server, "all", losses=losses, points=3,
                    evaluate=lambda x, device: zofl.Metrics([bowl(x, None), x.max()], 5)),
            Running(server, "back", gradient=gradient),
        ]
        events = list(server.events())
        results = [d.got() for d in devices]
        best = server.status()["best"]
        assert best["metric"] == "loss" and best["lowest"] and best["n"] >= 30
        assert np.array_equal(server.best(), server.export(at=best["n"]))
    assert len({r.digest for r in results}) == 1
    assert asked["losses"] == {3, 2}  # 8 losses, by at most 3
    assert len(asked["gradient"]) == 40
    rounds = [e["loss"] for e in events if e["event"] == "round"]
    assert rounds[-1] < 0.5 * rounds[0]
    metrics = [e for e in events if e["event"] == "evaluated"]
    assert metrics and all(len(e["metrics"]) == 2 and e["devices"] == 2 for e in metrics)


def test_wrong_losses_cost_rounds_only(caplog: pytest.LogCaptureFixture) -> None:
    def loss(x: np.ndarray, batch: zofl.Batch) -> float:
        if batch.n % 3 == 0:
            raise LookupError("no sensor")
        return float("nan") if batch.n % 3 == 1 else bowl(x, batch)

    with zofl.serve(small(quorum=1, rounds=9, diverge=0)) as server:
        devices = [Running(server, "good"), Running(server, "bad", loss=loss)]
        rounds = [e for e in server.events() if e["event"] == "round"]
        good, bad = (d.got() for d in devices)
    assert good.digest == bad.digest and good.ended and bad.ended
    both = {e["n"] for e in rounds if e["contributors"] == 2}
    assert both and both <= {2, 5, 8}
    assert "LookupError: no sensor" in caplog.text and "in loss" in caplog.text
    assert "the loss is not finite: NaN" in caplog.text  # the program's warning


def test_a_loss_that_always_fails_is_final(caplog: pytest.LogCaptureFixture) -> None:
    """One traceback, one error, and a coordinator that goes on saying why."""
    def loss(x: np.ndarray, batch: zofl.Batch) -> float:
        raise LookupError("no sensor")

    with zofl.serve(small(members=1, target=1, quorum=1, deadline=2000)) as server:
        device = Running(server, "bad", loss=loss)
        with pytest.raises(zofl.Error, match="no sensor.*strict=False"):
            device.got()
        assert caplog.text.count("Traceback") == 1
        until = time.monotonic() + 60
        while server.status()["state"] != "paused" and time.monotonic() < until:
            time.sleep(0.2)
        assert "1 declined: 1 loss failed" in server.status()["reason"]


def test_a_device_says_for_whom_the_run_waits(caplog: pytest.LogCaptureFixture) -> None:
    """At the level of warnings, which is Python's default, and once."""
    with zofl.serve(small(members=10)) as server:
        running = Running(server, "a")
        until = time.monotonic() + 60
        while "1 of 10 devices" not in caplog.text and time.monotonic() < until:
            time.sleep(0.05)
        running.device.stop()
        running.got()
    said = [r for r in caplog.records if "1 of 10 devices" in r.getMessage()]
    assert [r.levelname for r in said] == ["WARNING"]


def test_a_loss_may_refuse_far_points() -> None:
    """Surveys ask far from the model, where a simulator may have no loss."""
    def loss(x: np.ndarray, batch: zofl.Batch) -> float:
        if np.abs(x).max() > 30:
            raise ValueError("out of range")
        return float(np.mean((x - 1) ** 2))

    plan = zofl.plan(run="far", dim=4, members=2, target=2, quorum=2, rounds=30)
    for points in (1, 16):
        with zofl.serve(plan) as server:
            devices = [zofl.Device(server.url, "far", f"d{i}", loss=loss, dim=4,
                                   points=points).start() for i in range(2)]
            assert all(d.wait(60).ended for d in devices)
    (run,) = zofl.simulate(loss, plan, devices=2)
    assert run.ended == "rounds" and run.losses[-1] < run.losses[0]


def test_waiting_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with zofl.serve(small(members=10, target=10, quorum=10)) as server:
        with zofl.Device(server.url, server.run, "a", loss=bowl, dim=DIM):
            until = time.monotonic() + 30
            while "1 of 10 joined" not in caplog.text and time.monotonic() < until:
                time.sleep(0.2)
    assert "waiting for devices: 1 of 10 joined" in caplog.text


def test_stop_and_come_back(tmp_path: Path) -> None:
    """A device that was stopped goes on from its store."""
    with zofl.serve(small(members=1, target=1, quorum=1, rounds=0)) as server:
        held = threading.Event()
        d = Running(server, "pi-1", store=tmp_path / "pi-1",
                    progress=lambda event: event["n"] > 3 and held.set())
        assert held.wait(300)
        d.device.stop()
        first = d.got()
        assert not first.ended and first.record > 3 and len(first.model) == DIM
        assert first.model.tobytes() == server.export(at=first.record).tobytes()
        began: list[int] = []
        again = Running(server, "pi-1", store=tmp_path / "pi-1",
                        progress=lambda event: began.append(event["n"]))
        while server.status()["n"] < first.record + 5:
            goes_on(server)
        again.device.stop()
        second = again.got()
    assert second.record > first.record and min(began) >= first.record


def test_stop_at_once() -> None:
    """Whenever stop() comes, run() returns."""
    with zofl.serve(small()) as server:
        device = zofl.Device(server.url, server.run, "a", loss=bowl, dim=DIM)
        for _ in range(3):
            device.stop()
            r = device.run()
            assert (r.record, r.ended, len(r.model)) == (0, False, 0)


def test_devices_in_threads() -> None:
    with zofl.serve(small(members=2, rounds=0)) as server:
        with zofl.Device(server.url, server.run, "a", loss=bowl, dim=DIM) as device:
            other = zofl.Device(server.url, server.run, "b", loss=bowl, dim=DIM).start()
            goes_on(server)
            with pytest.raises(TimeoutError, match="0 seconds"):
                device.wait(0)
            with pytest.raises(RuntimeError, match="runs"):
                device.start()
        assert device.wait().record > 0  # the end of the block stopped it
        other.stop()
        assert not other.wait(300).ended
        other = zofl.Device(server.url, "none!", "b", loss=bowl, dim=DIM).start()
        with pytest.raises(zofl.UsageError, match="none!"):
            other.wait()
    with pytest.raises(RuntimeError, match="not started"):
        zofl.Device("", "", "", loss=bowl, dim=DIM).wait()


@pytest.mark.parametrize("flags, error, said", [
    ({"id": "a b"}, zofl.UsageError, "^id: "),
    ({"url": "nats://example.org:1"}, zofl.UsageError, "TLS"),
    ({"creds": "/no/such/file"}, zofl.UsageError, "creds="),
    ({"no_such_flag": 1}, zofl.UsageError, "no_such_flag"),
])
def test_wrong_flags(flags: dict[str, Any], error: type[zofl.Error], said: str) -> None:
    given = {"url": "nats://127.0.0.1:1", "run": "small", "id": "a", **flags}
    with pytest.raises(error, match=said):
        zofl.Device(given.pop("url"), given.pop("run"), given.pop("id"), loss=bowl, dim=DIM,
                    **given).run()


def test_wrong_dim() -> None:
    with pytest.raises(ValueError, match="dim=-1"):
        zofl.Device("", "", "", loss=bowl, dim=-1)
    with zofl.serve(small()) as server:
        with pytest.raises(zofl.UsageError, match="7"):
            zofl.Device(server.url, server.run, "a", loss=bowl, dim=7).run()


SCRIPT = """
import logging, sys
sys.path[:0] = {paths!r}
import signal
import zofl
from runs import bowl

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
logging.basicConfig(level=logging.INFO)
def loss(x, batch):
    print("asked", batch.n, flush=True)
    return bowl(x, batch)
device = zofl.Device({url!r}, {run!r}, "pi-1", loss=loss, dim=30, store={store!r})
try:
    device.run()
except KeyboardInterrupt:
    print("interrupted", flush=True)
    raise
"""


def script(server: zofl.Server, store: Path) -> subprocess.Popen[str]:
    """A Python process with a device, once its loss was asked for."""
    paths = [str(ROOT / "python" / d) for d in ("src", "tests")]
    text = SCRIPT.format(paths=paths, url=server.url, run=server.run, store=str(store))
    p = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True,
                         stderr=subprocess.PIPE, start_new_session=True)
    assert p.stdout and p.stdout.readline().startswith("asked")
    return p


def test_ctrl_c(tmp_path: Path) -> None:
    """Ctrl-C raises KeyboardInterrupt, when the device's state is stored."""
    with zofl.serve(small(members=1, target=1, quorum=1, rounds=0)) as server:
        p = script(server, tmp_path / "pi-1")
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=300)
        assert p.returncode == -signal.SIGINT  # as Python ends by KeyboardInterrupt
        assert out.endswith("interrupted\n") and "KeyboardInterrupt" in err
        assert (tmp_path / "pi-1" / "checkpoint").exists()
        d = Running(server, "pi-1", store=tmp_path / "pi-1")  # at once: nobody holds the store
        goes_on(server)
        d.device.stop()
        d.got()


def test_killed_python(tmp_path: Path) -> None:
    """The program ends with the Python process that started it."""
    with zofl.serve(small(members=1, target=1, quorum=1, rounds=0)) as server:
        p = script(server, tmp_path / "pi-1")
        p.kill()
        p.communicate(timeout=300)
        d = successor(server, "pi-1", tmp_path / "pi-1")
        goes_on(server)
        d.device.stop()
        assert d.got().record > 0


def test_a_coordinator_ends_with_python() -> None:
    """However Python ends, so does the coordinator that it started."""
    text = """if True:
        import sys
        sys.path[:0] = {paths!r}
        import zofl
        from runs import small
        server = zofl.serve(small())
        print(server.url, flush=True)
        input()
    """.format(paths=[str(ROOT / "python" / d) for d in ("src", "tests")])
    with subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        assert p.stdout
        url = p.stdout.readline().strip()
        assert zofl.status(url, "small")["run"] == "small"
        p.kill()
    until = time.monotonic() + 60
    with pytest.raises(zofl.AbsentError):
        while time.monotonic() < until:
            zofl.status(url, "small")


def test_killed_program(tmp_path: Path) -> None:
    asked = threading.Event()
    with zofl.serve(small(members=1, target=1, quorum=1, rounds=0)) as server:
        d = Running(server, "pi-1", loss=lambda x, batch: asked.set() or bowl(x, batch),
                    store=tmp_path / "pi-1")
        assert asked.wait(300)
        assert d.device._child is not None
        d.device._child._process.kill()
        with pytest.raises(zofl.Error, match="signal 9"):
            d.got()
        again = Running(server, "pi-1", store=tmp_path / "pi-1")
        goes_on(server)
        again.device.stop()
        assert again.got().record > 0


def test_a_loss_may_take_longer_than_its_round() -> None:
    """The device declines rounds meanwhile, and takes part in later ones."""
    go_on, asked = threading.Event(), threading.Event()

    def loss(x: np.ndarray, batch: zofl.Batch) -> float:
        asked.set()
        assert go_on.wait(300)
        return bowl(x, batch)

    plan = small(quorum=1, rounds=0, deadline=300, reannounce=100)
    with zofl.serve(plan) as server:
        slow, good = Running(server, "slow", loss=loss), Running(server, "good")
        assert asked.wait(300)
        rounds = (e for e in server.events() if e["event"] == "round")
        next(e for e in rounds if e["contributors"] == 1)
        go_on.set()
        next(e for e in rounds if e["contributors"] == 2)
        for d in (slow, good):
            d.device.stop()
            d.got()


def test_messages_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A broker that does not answer is a warning; the device waits for it until it is stopped."""
    told = threading.Event()

    class Tell(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno >= logging.WARNING:
                told.set()

    handler = Tell()
    logging.getLogger("zofl").addHandler(handler)
    try:
        device = zofl.Device("nats://127.0.0.1:1", "small", "a", loss=bowl, dim=DIM)
        thread = threading.Thread(target=device.run)
        thread.start()
        assert told.wait(300)
        device.stop()
        thread.join(300)
        assert not thread.is_alive() and "127.0.0.1:1" in caplog.text
    finally:
        logging.getLogger("zofl").removeHandler(handler)
