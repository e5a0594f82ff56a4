"""One scale for devices that share no data, found in real runs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import Running, bowl, goes_on, small

from zofl import Batch, Device, Scaler, Server, serve

pytestmark = pytest.mark.usefixtures("zofl")

_rng = np.random.default_rng(40)
#: Rows of three devices, as unlike as they come: columns of unlike size, one far from 0, one
#: constant, one with gaps.
SHARES = [np.column_stack([1e-3 * _rng.normal(i, 1, n), 1e9 + 1e3 * _rng.normal(size=n),
                           np.full(n, 0.1), np.where(_rng.random(n) < 0.3, np.nan, i)])
          for i, n in enumerate((3, 400, 41))]
COLUMNS = 4


def pooled() -> dict[str, np.ndarray]:
    x = np.concatenate(SHARES)
    return {"count": np.isfinite(x).sum(0), "missing": np.isnan(x).sum(0),
            "mean": np.nanmean(x, 0), "std": np.nanstd(x, 0), "min": np.nanmin(x, 0),
            "max": np.nanmax(x, 0)}


def found(program: Path, *flags: object) -> list[dict[str, Any]]:
    """What `zofl stats` prints."""
    out = subprocess.run([program, "stats", *map(str, flags), "--json"], check=True,
                         capture_output=True).stdout
    columns: list[dict[str, Any]] = json.loads(out)
    return columns


def check(columns: list[dict[str, Any]], extremes: bool = True) -> None:
    want = pooled()
    for name in want:
        got = np.array([c.get(name, 0) for c in columns])
        if name in ("min", "max") and not extremes:
            assert all(name not in c for c in columns)
            continue
        level = 1e-9 if name == "std" else 0  # the constant column
        np.testing.assert_allclose(got, want[name], rtol=1e-9, atol=level)


def member(server: Server, i: int, **options: Any) -> Running:
    return Running(server, f"d{i}", columns=SHARES[i], **options)


def test_statistics_are_those_of_all_rows(zofl: Path, tmp_path: Path) -> None:
    """Also after a restart, for a device that joins late, and beside the exported model."""
    log, model = tmp_path / "log", tmp_path / "model.npy"
    plan = small(members=3, target=3, quorum=2, rounds=40, columns=COLUMNS)
    first: list[np.ndarray | None] = []

    def loss(x: np.ndarray, batch: Batch) -> float:
        scaler = device.device.scaler
        first.append(scaler and scaler.mean)
        return bowl(x, batch)

    with serve(plan, log) as server:
        device = member(server, 0, loss=loss)
        devices = [device, member(server, 1), member(server, 2)]
        goes_on(server)
        check(found(zofl, "--url", server.url, "--run", server.run))
        for d in devices:
            d.device.stop()
            d.got()
    assert first[0] is not None  # a device's first loss finds a scale
    check(found(zofl, "--store", log))
    with serve(None, log) as server:
        devices = [member(server, 0), member(server, 1),
                   Running(server, "late", columns=np.zeros((0, COLUMNS)))]
        results = [d.got() for d in devices]
        scalers = [d.device.scaler for d in devices]
    assert len({r.digest for r in results}) == 1
    subprocess.run([zofl, "export", "--store", log, "--out", model], check=True)
    x = np.concatenate(SHARES)
    want = np.nan_to_num((x - np.nanmean(x, 0)) / np.where([1, 1, 0, 1], np.nanstd(x, 0), np.inf))
    for scaler in [*scalers, Scaler.load(f"{model}.stats.json")]:
        assert scaler is not None
        np.testing.assert_allclose(scaler.transform(x), want, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(scaler.inverse_transform(want)[:, 1], x[:, 1], rtol=1e-9)


@pytest.mark.parametrize("lists", ["believed", "agreed"])
def test_sums_under_masks(zofl: Path, tmp_path: Path, lists: str) -> None:
    """The coordinator sees sums only: the same statistics, without min and max."""
    key = tmp_path / "key"
    plan = small(members=3, target=3, quorum=3, rounds=2, columns=COLUMNS, secure="sum",
                 secure_lists=lists, secret=key)
    with serve(plan, tmp_path / "log") as server:
        devices = [member(server, i, secret=key) for i in range(3)]
        results = [d.got() for d in devices]
        columns = found(zofl, "--url", server.url, "--run", server.run)
    assert len({r.digest for r in results}) == 1
    check(columns, extremes=False)


def test_a_device_without_columns_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with serve(small(members=1, target=1, quorum=1, columns=2, deadline=2000)) as server:
        running = Running(server, "d0")
        while "asks for the statistics of 2 columns, and this device has 0" not in caplog.text:
            assert running.is_alive()
        running.device.stop()
        running.got()


def test_scaler_refuses_other_rows() -> None:
    scaler = Scaler(np.zeros(2), np.ones(2))
    with pytest.raises(ValueError, match="2 columns"):
        scaler.transform(np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"shape \(n, columns\)"):
        Device("nats://x", "r", "d", loss=bowl, dim=1, columns=[1, 2, 3])
