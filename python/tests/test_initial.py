"""Runs that begin with parameters by value, or with a model file."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vectors import ROOT

import zofl

pytestmark = pytest.mark.usefixtures("zofl")

GOLDEN = ROOT / "coordinator/zofl/internal/tensors/testdata/golden"
START = np.linspace(-1, 1, 6, dtype=np.float32)


def bowl(x: np.ndarray) -> float:
    return float(np.sum((x - 3) ** 2))


def small(initial: Any, **fields: Any) -> zofl.Plan:
    return zofl.plan("decomfl", run="begun", initial=initial, **{
        "members": 1, "target": 1, "quorum": 1, "rounds": 4, "step": 0.05, "mu": 0.01, **fields})


def test_by_value() -> None:
    """Nobody says a dim, a digest or a file."""
    plan = small(START)
    assert (plan["dim"], plan["initial"], len(plan["initial_digest"])) == (6, "given", 64)
    with zofl.serve(plan) as server:
        result = zofl.Device(server.url, plan, "a", loss=bowl).run()
        assert np.array_equal(server.export(at=1), START)
        assert server.export().tobytes() == result.model.tobytes()
    assert result.ended and bowl(result.model) < bowl(START)


def test_a_device_elsewhere(tmp_path: Path) -> None:
    """It has the name of the run alone, or the parameters again; with a store it fetches once."""
    plan = small(START, members=3, target=3, quorum=3)
    with zofl.serve(plan) as server:
        given = zofl.Device(server.url, "begun", "a", loss=bowl, initial=START.copy()).start()
        fetches = zofl.Device(server.url, "begun", "b", loss=bowl, store=tmp_path / "b").start()
        last = zofl.Device(server.url, "begun", "c", loss=bowl).run()
        assert {given.wait().digest, fetches.wait().digest} == {last.digest}
        again = zofl.Device(server.url, "begun", "b", loss=bowl, store=tmp_path / "b").run()
        assert again.digest == last.digest
    assert (tmp_path / "b" / "initial").stat().st_size == 4 * 6


def test_the_structure_comes_to_the_loss() -> None:
    x0 = {"w": np.ones((2, 3), np.float32), "b": [1.0, 2.0]}

    def loss(x: dict[str, Any], batch: zofl.Batch) -> float:
        assert x["w"].shape == (2, 3)
        return float(np.sum(np.square(x["w"])) + np.sum(np.square(x["b"])))

    plan = small(x0)
    assert plan["dim"] == 8 and {s["name"] for s in plan["segments"]} == {"w", "b"}
    with zofl.serve(plan) as server:
        device = zofl.Device(server.url, plan, "a", loss=loss)
        result = device.run()
        model = device.model()
    assert result.x["w"].shape == (2, 3) and loss(result.x, None) < 11  # type: ignore[arg-type]
    assert model.record == result.record
    assert np.array_equal(model.x["w"], result.x["w"]) and model.x["w"] is not result.x["w"]


@pytest.mark.parametrize("name", ["safetensors", "npz", "onnx", "npy", "f32"])
def test_files(name: str, tmp_path: Path) -> None:
    train = None if name in ("npy", "f32") else "head.*"
    file = GOLDEN / f"model.{name}"
    plan = small(file, train=train)
    with zofl.serve(plan) as server:
        result = zofl.Device(server.url, "begun", "a", loss=bowl).run()
        again = zofl.Device(server.url, "begun", "b", loss=bowl, initial=str(file), train=train).run()
        assert result.digest == again.digest and len(result.model) == plan["dim"]
        plan.save(tmp_path / "plan.json")
    with zofl.serve(tmp_path / "plan.json", initial=file, train=train) as server:
        assert zofl.Device(server.url, "begun", "a", loss=bowl).run().digest == result.digest


def test_simulate_and_tune_take_the_plan() -> None:
    plan = small({"w": START})
    (run,) = zofl.simulate(lambda x: bowl(x["w"]), plan, rounds=3)
    assert run.losses[0] == pytest.approx(bowl(START), rel=1e-4)
    tuned = zofl.tune(lambda x: bowl(x["w"]), plan, queries=1000, rounds=5, fields=["step"])
    assert tuned.plan["dim"] == 6


def test_pickles() -> None:
    x0 = {"w": START.copy()}
    plan = small(x0)
    x0["w"][:] = 9  # what is pickled is what the plan was made of
    copy = pickle.loads(pickle.dumps(plan))
    assert copy == plan and copy.cost == plan.cost
    with zofl.serve(copy) as server:
        device = pickle.loads(pickle.dumps(zofl.Device(server.url, copy, "a", loss=loss_of_w)))
        result = device.run()
        assert np.array_equal(server.export(at=1), START)
    again = pickle.loads(pickle.dumps(result))
    assert again.digest == result.digest and np.array_equal(again.x["w"], result.x["w"])


def loss_of_w(x: dict[str, np.ndarray]) -> float:
    return bowl(x["w"])


@pytest.mark.parametrize("more, said", [
    ({"dim": 5}, "dim=5.*6 parameters"),
    ({"initial": "modle", "dim": 6}, "initial.*seeded, given"),
    ({"initial": "model.pt"}, "model.pt.*npy"),
    ({"initial": "nothing.npy"}, "initial=nothing.npy"),
    ({"initial": [1.0, float("nan")]}, r"initial\[1\] is nan"),
    ({"initial": None, "train": "head.*", "dim": 6}, "train=.*initial"),
    ({"initial": str(GOLDEN / "model.npy"), "dim": 5}, "dim.*5.*model.npy has 6"),
    ({"initial": str(GOLDEN / "model.npz"), "train": "haed.*"}, "haed"),
])
def test_wrong(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        small(**{"initial": START, **more})


def test_a_device_of_another_model() -> None:
    plan = small(START)
    with pytest.raises(zofl.UsageError, match="dim=5.*dim=6"):
        zofl.Device("nats://127.0.0.1:1", plan, "a", loss=bowl, dim=5)
    with pytest.raises(zofl.UsageError, match="dim=6.*5 parameters"):
        zofl.Device("nats://127.0.0.1:1", plan, "a", loss=bowl, initial=START[:5])
    with zofl.serve(plan) as server:
        with pytest.raises(zofl.UsageError, match="initial") as e:
            zofl.Device(server.url, "begun", "a", loss=bowl, initial=START + 1).run()
        assert "digest" in str(e.value) and "--" not in str(e.value)
        with pytest.raises(zofl.UsageError, match="6 parameters.*dim=7"):
            zofl.Device(server.url, "begun", "a", loss=bowl, dim=7).run()


def test_where_nobody_offers_it(tmp_path: Path) -> None:
    small(START).save(tmp_path / "plan.json")
    with zofl.serve(tmp_path / "plan.json") as server:
        with pytest.raises(zofl.UsageError, match="initial= is missing.*nobody offers") as e:
            zofl.Device(server.url, "begun", "a", loss=bowl).run()
        assert "--" not in str(e.value)


def test_private_runs_offer_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    plan = small(START, secret=tmp_path / "key")
    with caplog.at_level(logging.INFO, "zofl"), zofl.serve(plan) as server:
        result = zofl.Device(server.url, plan, "a", loss=bowl, secret=tmp_path / "key").run()
    assert result.ended and "offering" not in caplog.text
