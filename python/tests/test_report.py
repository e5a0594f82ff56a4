"""Numbers of the app's own: from a loss, from a callback, and on to MLflow and W&B."""

from __future__ import annotations

import json
import math
import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import Running, bowl, small
from vectors import ROOT

import zofl as package
from zofl.binary import run
from zofl.report import Reporter

pytestmark = pytest.mark.usefixtures("zofl")


class FakeChild:
    """Takes what a device says to the program."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def answer(self, line: str) -> None:
        self.said.append(line)


def test_reporter() -> None:
    """The last value of a name waits for the program; names that cannot be reported are named."""
    reporter = Reporter(None)
    reporter.report({"a": 1})
    reporter.report({"a": np.float32(2), "train/loss": 0.5, "bad": math.nan})
    child = FakeChild()
    reporter.began(child)  # type: ignore[arg-type]
    reporter.report({"b": np.array(3)})
    assert child.said == ["report a=2.0 train/loss=0.5", "report b=3.0"]
    for name, value in (("a b", 1), ("", 1), ("9", 1), ("a", "x"), ("a", [1, 2]), ("ä", 1)):
        with pytest.raises(ValueError, match="a name is a letter|give one number"):
            reporter.report({name: value})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="at most 16"):
        reporter.report({f"v{i}": i for i in range(17)})
    assert len(child.said) == 2


def test_callback(caplog: pytest.LogCaptureFixture) -> None:
    """A callback is asked now and then; what it raises is logged, and costs nothing else."""
    child, calls = FakeChild(), iter((1.0, "no number"))
    reporter = Reporter(lambda: {"n": next(calls)})  # type: ignore[dict-item]
    reporter.began(child)  # type: ignore[arg-type]
    for _ in range(3):
        reporter.ask()
    assert child.said == ["report n=1.0"]
    reporter._asked = -math.inf
    reporter.ask()
    assert "report failed" in caplog.text and len(child.said) == 1


@pytest.fixture(scope="module")
def history(zofl: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The history of a run whose devices report numbers."""
    log = tmp_path_factory.mktemp("reported") / "log"
    devices: list[Running] = []

    def loss(x: np.ndarray, batch: Any) -> float:
        devices[0].device.report(error=abs(float(x[0]) - 1), heat=31.5)
        return bowl(x, batch)

    plan = small(rounds=20, metrics=["loss"], eval_every=5, eval_count=2)
    with package.serve(plan, log) as server:
        def evaluate(x: np.ndarray, device: str) -> list[float]:
            return [float(np.mean((x - 1) ** 2))]

        devices.append(Running(server, "py-1", loss=loss, evaluate=evaluate))
        devices.append(Running(server, "py-2", report=lambda: {"heat": 40}, evaluate=evaluate))
        for d in devices:
            d.got()
        shown = json.loads(run("devices", f"--url={server.url}", "--run=small", "--json"))
    assert {d["id"]: d["reported"]["heat"] for d in shown["devices"]} == {"py-1": 31.5, "py-2": 40}
    found: dict[str, Any] = json.loads(run("history", "--json", f"--store={log}"))
    return found


def test_reported(history: dict[str, Any]) -> None:
    """The history has what both devices reported, and the last values are there."""
    heats = [p["reported"]["heat"] for p in history["points"] if "heat" in p.get("reported", {})]
    assert min(h["min"] for h in heats) == 31.5 and max(h["max"] for h in heats) == 40
    last = history["points"][-1]["reported"]
    assert last["error"]["reporters"] == 1 and last["error"]["median"] >= 0


def log_to(script: str, history: dict[str, Any], home: Path, **env: str) -> None:
    """Runs an example."""
    done = subprocess.run([sys.executable, ROOT / "examples/python" / script, "small"], cwd=home,
                          input=json.dumps(history), text=True, capture_output=True,
                          env={**os.environ, **env}, check=False)
    assert done.returncode == 0, done.stderr


def test_mlflow(history: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MLflow has the losses, metrics and reported numbers of all rounds."""
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    log_to("to_mlflow.py", history, tmp_path, MLFLOW_TRACKING_URI=f"file:{tmp_path}/mlruns")
    client = mlflow.MlflowClient(f"file:{tmp_path}/mlruns")
    experiment = client.get_experiment_by_name("zofl")
    [logged] = client.search_runs([experiment.experiment_id])
    rounds = [p for p in history["points"] if p["contributors"] > 0]
    losses = {m.step: m.value for m in client.get_metric_history(logged.info.run_id, "loss")}
    assert losses == {p["n"]: p["loss"] for p in rounds}
    assert {"metrics/loss", "reported/heat", "reported/error"} <= logged.data.metrics.keys()
    assert logged.data.tags["zofl.ended"]


def test_wandb(history: dict[str, Any], tmp_path: Path) -> None:
    """W&B, offline, has a step for each point, with the losses and reported numbers."""
    pytest.importorskip("wandb")
    log_to("to_wandb.py", history, tmp_path, WANDB_MODE="offline", WANDB_DIR=str(tmp_path),
           WANDB_SILENT="true")
    [file] = tmp_path.glob("wandb/offline-run-*/*.wandb")
    rows = list(logged_rows(file))
    assert [int(row["_step"]) for row in rows] == [p["n"] for p in history["points"]]
    assert [float(row["loss"]) for row in rows if "loss" in row] == [
        p["loss"] for p in history["points"] if p["loss"] is not None]
    assert any("reported/heat" in row for row in rows) and any("metrics/loss" in r for r in rows)


def logged_rows(file: Path) -> Iterator[dict[str, str]]:
    """The rows of W&B's offline file, a log in the form of LevelDB."""
    from wandb.proto import wandb_internal_pb2

    pb: Any = wandb_internal_pb2

    data, at, whole = file.read_bytes(), 7, b""
    while at + 7 <= len(data):
        if (left := 32768 - at % 32768) < 7:  # the rest of a block is empty
            at += left
            continue
        _, length, kind = struct.unpack("<IHB", data[at:at + 7])
        whole += data[at + 7:at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # a record, or the last part of one
            record, whole = pb.Record.FromString(whole), b""
            if record.WhichOneof("record_type") == "history":
                yield {item.key or "/".join(item.nested_key): item.value_json
                       for item in record.history.item}
