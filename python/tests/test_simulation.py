"""Whole runs in one process, and tuning, with losses in Python."""

from __future__ import annotations

import logging
import math
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import DIM, bowl, small
from vectors import ROOT

import zofl

pytestmark = pytest.mark.usefixtures("zofl")


def target(device: str) -> int:
    return int(device[1:]) % 3


def loss(x: np.ndarray, batch: zofl.Batch) -> float:
    """A bowl for each device, with its minimum at 0, 1 or 2."""
    return float(np.mean((x - target(batch.device)) ** 2))


def test_simulate() -> None:
    devices: set[str] = set()
    heard: list[dict[str, Any]] = []

    def evaluate(x: np.ndarray, device: str) -> list[float]:
        devices.add(device)
        return [float(np.mean(x))]

    plan = small(step=0.2, mu=0.01, perturbations=5, metrics=["mean"], eval_every=10, eval_count=2,
                 best="mean")
    history = zofl.simulate(loss, plan, devices=12, seeds=3, rounds=30, evaluate=evaluate,
                            progress=heard.append)
    assert len(history) == 3 and repr(history) == "<3 runs of up to 30 rounds>"
    assert history.losses.shape == (3, 30)
    assert (history.losses[:, -1] < history.losses[:, 0]).all()
    assert len({r.seed for r in history}) == 3 and all(r.ended == "rounds" for r in history)
    assert not np.array_equal(history.losses[0], history.losses[1])
    for grows in (history.queries, history.bytes_up, history.bytes_down):
        assert grows.shape == (3, 30) and (np.diff(grows) > 0).all()
    assert history.queries[0, -1] == 30 * 2 * 6  # target=2 contribute, of 12
    mean = history.metrics["mean"]
    assert mean.shape == (3, 30) and np.isfinite(mean[:, -1]).all()
    assert np.isnan(mean).sum() > 3 * 20  # the others were not measured
    best = history[0].best
    assert best and best["n"] == best["round"] + 1 and best["x"].shape == (DIM,)
    assert best["value"] == pytest.approx(np.nanmax(mean[0]))
    assert devices and heard[-1]["event"] == "done"
    again = zofl.simulate(loss, plan, devices=12, rounds=30)
    assert np.array_equal(again[0].losses, history[0].losses)


def test_signal() -> None:
    plan = zofl.plan("zofl", dim=DIM, members=3, rounds=2)
    run = zofl.simulate(loss, plan, devices=3, progress=False)[0]
    assert run.signal_to_noise > 3 and 1 < run.losses_factor < 1.12
    set_by_hand = zofl.simulate(loss, small(mu=0.01), devices=12, rounds=1, progress=False)[0]
    assert math.isnan(set_by_hand.signal_to_noise) and math.isnan(set_by_hand.losses_factor)


def test_sweep_and_many_points() -> None:
    asked: set[int] = set()

    def losses(xs: np.ndarray, batch: zofl.Batch) -> np.ndarray:
        asked.add(len(xs))
        return np.mean((xs - 1) ** 2, axis=1)

    history = zofl.simulate(losses=losses, plan=small(perturbations=5), points=4, rounds=4,
                            sweep=["step=0.01,0.1"])
    assert [r.settings for r in history] == [{"step": "0.01"}, {"step": "0.1"}]
    assert history[1].losses[-1] < history[0].losses[-1]
    assert asked == {4, 2} and len(history[:1]) == 1


def test_losses_of_simulations_may_fail(caplog: pytest.LogCaptureFixture) -> None:
    def half(x: np.ndarray, batch: zofl.Batch) -> float:
        if batch.device == "d1":
            raise OSError("no camera")
        return bowl(x, batch)

    plan = small(members=4, target=4, quorum=2)
    history = zofl.simulate(half, plan, rounds=3, strict=False)
    assert history[0].column("contributors").tolist() == [3, 3, 3]
    assert "no camera" in caplog.text
    with pytest.raises(OSError, match="no camera") as e:
        zofl.simulate(half, plan, rounds=3)
    assert e.traceback[-1].name == "half"  # where a notebook points to
    with pytest.raises(OSError, match="no camera"):
        zofl.tune(half, plan, queries=3000)
    with pytest.raises(zofl.UsageError, match="rounds"):
        zofl.simulate(bowl, small(rounds=0))
    with pytest.raises(ValueError, match="no loss"):
        zofl.simulate(plan=small())
    with pytest.raises(ValueError, match="no plan"):
        zofl.simulate(bowl)
    with pytest.raises(ValueError, match="no plan"):
        zofl.tune(bowl)


def test_a_loss_on_other_samples_each_time(caplog: pytest.LogCaptureFixture) -> None:
    data = np.random.default_rng(1).normal(size=500)

    def drawn(rng: np.random.Generator, x: np.ndarray) -> float:
        return float(np.mean(x)) * float(rng.choice(data, 20).mean())

    def seeded(x: np.ndarray, batch: zofl.Batch) -> float:
        return drawn(batch.rng(), x)

    always = np.random.default_rng(2)

    def fresh(x: np.ndarray, batch: zofl.Batch) -> float:
        return drawn(always, x)

    def many(xs: np.ndarray, batch: zofl.Batch) -> list[float]:
        return [fresh(x, batch) for x in xs]

    plan = small(diverge=0)
    zofl.simulate(seeded, plan, rounds=5)
    zofl.tune(seeded, plan, queries=3000, fields=["mu"])
    assert "batch.choose" not in caplog.text
    zofl.simulate(fresh, plan, rounds=5)
    assert caplog.text.count("batch.choose") == 1
    zofl.simulate(losses=many, plan=plan, rounds=5)
    assert caplog.text.count("batch.choose") == 2
    zofl.tune(fresh, plan, queries=3000, fields=["mu"])
    assert caplog.text.count("batch.choose") == 3


@pytest.mark.parametrize("wrong", [None, "much", np.zeros(20)])
def test_a_loss_that_is_no_number(wrong: object) -> None:
    with pytest.raises(TypeError, match="return one number"):
        zofl.simulate(lambda x, batch: wrong, small())  # type: ignore[arg-type,return-value]


def test_a_loss_that_overflows_is_infinite() -> None:
    """Far from the model, where devices look for mu, math.exp raises OverflowError."""
    def logistic(x: np.ndarray, batch: zofl.Batch) -> float:
        signs = [1.0 if i % 3 else -1.0 for i in range(len(x))]
        return sum(math.log(1 + math.exp(-20 * s * float(v))) for s, v in zip(signs, x))

    with pytest.raises(OverflowError):
        logistic(np.full(DIM, -100, np.float32), zofl.Batch(1, 0, 0, 0, "d0", 1.0))
    plan = zofl.plan(run="kitchen", dim=DIM, members=2, target=2, quorum=2)
    history = zofl.simulate(logistic, plan, rounds=20)
    assert history[0].ended == "rounds"
    assert history.losses[0, -1] < history.losses[0, 0] / 2


@pytest.mark.parametrize("wrong", [1.0, 100.0, 2.0, 0.5, 0.01, -1.0])
def test_a_gradient_of_another_loss(wrong: float, caplog: pytest.LogCaptureFixture) -> None:
    def gradient(x: np.ndarray, batch: zofl.Batch) -> tuple[float, np.ndarray]:
        return loss(x, batch), wrong * 2 * (x - target(batch.device)) / len(x)

    plan = small(step=0.2, mu=0.01, perturbations=5)
    for functions in ({"loss": loss}, {"losses": lambda xs, b: [loss(x, b) for x in xs]}, {}):
        caplog.clear()
        zofl.simulate(plan=plan, devices=3, rounds=2, points=2, gradient=gradient, **functions)
        assert caplog.text.count("return the gradient of the mean loss") == (wrong != 1)


def test_a_gradient_of_a_noisy_loss(caplog: pytest.LogCaptureFixture) -> None:
    """Noise that is as large as any slope tells nothing."""
    rng = np.random.default_rng(1)

    def noisy(x: np.ndarray, batch: zofl.Batch) -> float:
        return loss(x, batch) + 10 * rng.normal()

    def gradient(x: np.ndarray, batch: zofl.Batch) -> tuple[float, np.ndarray]:
        return noisy(x, batch), 2 * (x - target(batch.device)) / len(x)

    for _ in range(3):
        zofl.simulate(noisy, small(step=0.2, mu=0.01, perturbations=5), devices=3, rounds=2,
                      gradient=gradient)
    assert "return the gradient" not in caplog.text


def test_a_run_that_diverges_has_a_history(caplog: pytest.LogCaptureFixture) -> None:
    history = zofl.simulate(loss, small(step=1e3, diverge=1), rounds=20)
    assert history[0].ended == "diverged" and "diverged" in history[0].error
    assert history[0].losses[-1] > history[0].losses[0]
    assert "no run came to its end" in caplog.text


def test_tune(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "zofl"):
        tuned = zofl.tune(bowl, small(members=4, step=1e-6), devices=4, queries=3000, rounds=10,
                          fields=["step"])
    assert tuned.plan["step"] > 1e-4 and tuned.reasons
    assert tuned.trials and {"stage", "step", "loss"} <= tuned.trials[0].keys()
    assert 0 < tuned.queries <= 3000
    with pytest.raises(zofl.UsageError, match="nothing"):
        zofl.tune(bowl, small(), fields=["nothing"])


SCRIPT = """if True:
    import sys
    sys.path[:0] = {paths!r}
    import signal
    import zofl
    from runs import bowl, small
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    try:
        zofl.simulate(bowl, small(), rounds=10**9,
                      progress=lambda e: e["event"] == "round" and print("round", flush=True))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_simulation() -> None:
    text = SCRIPT.format(paths=[str(ROOT / "python" / d) for d in ("src", "tests")])
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as p:
        assert p.stdout and p.stdout.readline() == "round\n"
        p.send_signal(signal.SIGINT)
        out, _ = p.communicate(timeout=300)
    assert out.endswith("interrupted\n") and p.returncode == 0
