"""The device of device.py over a real broker, beside devices in Go."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from zofl.audit.verify import verify


def port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def listens(at: int) -> None:
    """Waits for the broker."""
    for _ in range(200):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", at)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("the broker does not listen")


@pytest.mark.parametrize("preset", ["zofl", "decomfl"])
def test_same_digest(zofl: Path, tmp_path: Path, preset: str) -> None:
    at = port()
    url = f"nats://127.0.0.1:{at}"
    plan, log = tmp_path / "plan.json", tmp_path / "log"
    subprocess.run([zofl, "plan", "--preset", preset, "--run", "kit", "--dim", "6", "--set",
                    "rounds=20", "--set", "members=3", "--set", "digest_every=4", "--set",
                    "target=3", "--set", "quorum=3", "--write", plan], check=True,
                   capture_output=True)
    serve = subprocess.Popen([zofl, "serve", plan, "--store", log, "--listen",
                              f"127.0.0.1:{at}"], stderr=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL)
    others: list[subprocess.Popen[bytes]] = []
    try:
        for name in ("g1", "g2"):
            others.append(subprocess.Popen(
                [zofl, "client", "--url", url, "--run", "kit", "--id", name, "--objective", "bowl",
                 "--dim", "6"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        device = Path(__file__).with_name("overnats.py")
        listens(at)
        out = subprocess.run([sys.executable, device, "127.0.0.1", str(at), "kit", "py", "1"],
                             check=True, capture_output=True, text=True, timeout=120).stdout
        status = subprocess.run([zofl, "status", "--url", url, "--run", "kit"], check=True,
                                capture_output=True, text=True).stdout
    finally:
        for process in [serve, *others]:
            process.terminate()
            process.wait()
    log_end = verify(log)
    assert out.split() == [str(log_end.records), "20", log_end.digest]
    assert "3 devices" in status and ": 2 devices" not in status
