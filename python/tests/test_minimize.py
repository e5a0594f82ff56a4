"""minimize, as somebody who knows scipy would use it."""

from __future__ import annotations

import asyncio
import pickle
import signal
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from torches import torch_or_skip
from vectors import ROOT

import zofl

pytestmark = pytest.mark.usefixtures("zofl")


def bowl(x: np.ndarray) -> float:
    return float(np.sum((x - 3) ** 2))


def test_an_array() -> None:
    rounds: list[int] = []
    r = zofl.minimize(bowl, np.zeros((2, 3)), callback=lambda run: rounds.append(len(run.rows)))
    assert r.x.shape == (2, 3) and r.x.dtype == np.float32 and r.success
    assert r.fun == bowl(r.x) < 1e-3 * r.fun0 and r.fun0 == bowl(np.zeros((2, 3)))
    assert r.nit == 300 == len(r.losses) == len(r.queries) and rounds == list(range(1, 301))
    assert r.losses[0] < 2 * r.fun0 and "all 300 rounds" in r.message
    assert zofl.minimize(bowl, np.zeros((2, 3)), method="zofl", rounds=1).losses[0] == r.fun0
    assert r["x"] is r.x and dict(r)["fun"] == r.fun
    assert len(repr(r).splitlines()) == 6 and "fun: " in repr(r)
    again = pickle.loads(pickle.dumps(r))
    assert (again.x == r.x).all() and again.message == r.message
    same = zofl.minimize(bowl, np.zeros((2, 3)))
    assert (same.x == r.x).all() and same.nfev == r.nfev
    assert (zofl.minimize(bowl, np.zeros((2, 3)), seed=2).losses[:9] != r.losses[:9]).any()


def test_evaluations_are_counted() -> None:
    asked = 0

    def loss(x: float) -> float:
        nonlocal asked
        asked += 1
        assert type(x) is float
        return (x - 2) ** 2

    r = zofl.minimize(loss, 1, queries=400)
    assert type(r.x) is float and abs(r.x - 2) < 0.5
    assert r.nfev == asked and 300 < asked <= 400
    assert "queries" in r.message and r.plan["rounds"] == r.nit
    r = zofl.minimize(loss, 1, rounds=9)
    assert r.nit == 9 and r.message == "all 9 rounds were run"
    r = zofl.minimize(loss, 1, rounds=1, method="zofl")
    assert r.fun == r.fun0 and r.message == (
        "1 round was run. The loss is that of x0: give more rounds, as with step=auto the first "
        "only measure")
    for method in (None, "zofl"):
        r = zofl.minimize(lambda x: 7.0, 1, rounds=2, step=0.1, mu=0.1, method=method)
        assert r.message == (
            "all 2 rounds were run. The loss is that of x0: see whether it depends on x")
    r = zofl.minimize(loss, 1, queries=30)
    assert r.fun < r.fun0 and r.message == "1 round was run, as many as queries allows"
    with pytest.raises(ValueError, match="x0 is missing"):
        zofl.minimize(loss)
    with pytest.raises(ValueError, match="queries=2: give more"):
        zofl.minimize(loss, 1, queries=2)
    with pytest.raises(ValueError, match="^queries: .* allow as many"):
        zofl.minimize(loss, 1, queries=10)
    assert zofl.minimize(loss, 1, queries=400, rounds=9).message == "all 9 rounds were run"


def test_the_same_loss_and_x0_on_devices() -> None:
    """What minimize took goes to a run on devices unchanged."""
    x0 = {"w": np.ones((2, 2)), "b": 5.0}

    def loss(x: dict[str, Any], batch: zofl.Batch) -> float:
        assert batch.device and x["w"].shape == (2, 2) and type(x["b"]) is float
        return float(np.sum((x["w"] - 2) ** 2)) + x["b"] ** 2

    r = zofl.minimize(loss, x0, devices=2, rounds=40)
    assert list(r.x) == ["w", "b"] and r.x["w"].shape == (2, 2) and r.fun < r.fun0
    with zofl.serve(r.plan) as server:
        devices = [zofl.Device(server.url, r.plan, "d0", loss=loss).start(),
                   zofl.Device(server.url, server.run, "d1", loss=loss, x0=x0).start()]
        results = [d.wait() for d in devices]
    assert results[0].digest == results[1].digest and results[0].ended
    for result in results:
        assert result.x["w"].shape == (2, 2) and type(result.x["b"]) is float
    assert loss(results[0].x, zofl.Batch(0, 0, 0, 0, "d", 1)) < r.fun0 / 4
    again = zofl.minimize(loss, plan=r.plan, devices=2)  # its x0 is that of the plan
    assert again.fun == r.fun and (again.x["w"] == r.x["w"]).all()


def test_stops() -> None:
    r = zofl.minimize(bowl, np.zeros(4), callback=lambda run: len(run.losses) == 12)
    assert r.nit == 12 and r.message.startswith("callback ended the run after round 12")

    def raises(run: zofl.Run) -> None:
        raise StopIteration

    assert zofl.minimize(bowl, np.zeros(4), callback=raises).nit == 1
    r = zofl.minimize(bowl, np.zeros(4), patience=3)
    assert "patience ended" in r.message and r.nit < 200 and min(r.losses[-3:]) > min(r.losses)
    with pytest.raises(ValueError, match="patience=-1"):
        zofl.minimize(bowl, np.zeros(4), patience=-1)


def test_the_minimum_is_no_worse_than_itself() -> None:
    # x stays some 1e-3 off: a difference in the last digits of a float32
    r = zofl.minimize(lambda x: 100 + float(np.sum(x * x)), np.zeros(2), rounds=40)
    assert r.success and "The loss is that of x0" in r.message, r.message


def test_a_run_that_ends_worse_says_so() -> None:
    """It begins near the minimum, with steps that are too long."""
    r = zofl.minimize(bowl, np.full(50, 3.001), rounds=12, step=0.5, diverge=0)
    assert r.fun > r.fun0 and not r.success and "worse than it began" in r.message
    r = zofl.minimize(bowl, np.full(50, 3.01), rounds=60, step=3, method="zofl")
    assert r.fun > r.fun0 and r.run.ended == "diverged" and not r.success
    assert r.message.startswith("diverged: ") and "give step=" in r.message
    assert "zofl" not in r.message
    r = zofl.minimize(lambda x: 7.0, np.ones(2), method="zofl")
    assert not r.success and r.nit == 0 and r.message.startswith("paused: survey of mu")
    r = zofl.minimize(lambda x: np.nan if x[0] > 1 else bowl(x), np.zeros(3))
    assert r.success and abs(r.fun - 4) < 1e-3 and r.message == (
        f"the loss no longer fell: the run ended after round {r.nit}")
    r = zofl.minimize(lambda x: np.nan if x[0] > 1 else bowl(x), np.zeros(3), method="zofl")
    assert not r.success and r.message.startswith(
        f"paused after round {r.nit}: the loss is not finite: NaN at step 0, perturbation ")


def test_what_a_loss_raises_comes_at_once() -> None:
    def broken(x: np.ndarray) -> float:
        raise KeyError("no camera")

    with pytest.raises(KeyError, match="no camera") as e:
        zofl.minimize(broken, np.zeros(3))
    assert e.traceback[-1].name == "broken"
    calls = 0

    def later(x: np.ndarray) -> float:
        nonlocal calls
        calls += 1
        if calls > 200:
            raise OSError("no camera")
        return bowl(x)

    with pytest.raises(OSError, match="no camera") as f:
        zofl.minimize(later, np.zeros(3))
    assert f.traceback[-1].name == "later" and calls == 201
    with pytest.raises(ZeroDivisionError):
        zofl.minimize(bowl, np.zeros(3), callback=lambda run: 1 / 0)


@pytest.mark.parametrize("loss, kind, text", [
    (lambda x: np.nan, ValueError, "at x0 is nan"),
    (lambda x: np.inf, ValueError, "at x0 is inf"),
    (lambda x: None, TypeError, "return one number"),
    (lambda x: x, TypeError, "return one number"),
    (lambda x, y, z: 0, TypeError, r"takes \(x, y, z\)"),
    (lambda: 0, TypeError, r"takes \(\)"), (5, TypeError, "5 is no function"),
    (None, ValueError, "no loss"),
])
def test_losses_that_are_none(loss: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        zofl.minimize(loss, np.zeros(3))


@pytest.mark.parametrize("arguments, text", [
    ({"devices": 0}, "devices=0"), ({"plan": {"dim": 4}, "method": "mezo"}, "both given"),
    ({"stpe": 1}, r"minimize\(\) .* did you mean step"), ({"method": "zolf"}, "zolf"),
    ({"bounds": (1, 2)}, "begin within them"), ({"bounds": (1, -1)}, "the lower one first"),
    ({"bounds": [(0, None)] * 3}, "two finite"),
    ({"bounds": [(-1, 1)] * 2}, "3 pairs"), ({"bounds": (-np.inf, 1)}, "finite"),
    ({"bounds": "high"}, "no pairs"),
])
def test_arguments_that_are_wrong(arguments: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        zofl.minimize(bowl, np.zeros(3), **arguments)


@pytest.mark.parametrize("name, text", [("maxiter", "rounds"), ("jac", "gradient"),
                                        ("args", "lambda x"), ("n_trials", "queries")])
def test_words_of_other_libraries(name: str, text: str) -> None:
    with pytest.raises(TypeError, match=f"argument '{name}': .*{text}"):
        zofl.minimize(bowl, np.zeros(3), **{name: 1})


def test_the_preset_that_suits() -> None:
    """The rule of docs/choose.md, which a name overrides."""
    r = zofl.minimize(bowl, np.zeros(4), queries=500)
    assert r.plan["preset"] == "cma" and r.fun < 1e-6 * r.fun0
    assert zofl.minimize(bowl, np.zeros(4), method="zofl", rounds=8).plan["preset"] == "zofl"
    assert zofl.minimize(bowl, np.zeros(101), rounds=8).plan["preset"] == "zofl"
    sloped = zofl.minimize(x0=np.zeros(4), gradient=lambda x: (bowl(x), 2 * (x - 3)), rounds=8)
    assert sloped.plan["preset"] == "zofl"
    wide = zofl.minimize(bowl, np.zeros(101), bounds=(-5, 5), rounds=1)
    assert wide.plan["preset"] == "fzoos" and wide.plan["features"] == 1000


def test_noise_is_seen() -> None:
    """With a budget more candidates are asked where the loss has noise, or is said to have some."""
    rng = np.random.default_rng(1)
    x0 = np.zeros(20)
    usual = zofl.minimize(bowl, x0, queries=400).plan["perturbations"]
    seen = zofl.minimize(lambda x: bowl(x) + rng.normal(), x0, queries=400)
    assert seen.plan["perturbations"] == 4 * usual
    assert zofl.minimize(bowl, x0, queries=400, noise=True).plan["perturbations"] == 4 * usual
    told = zofl.minimize(lambda x: bowl(x) + rng.normal(), x0, queries=400, noise=False)
    assert told.plan["perturbations"] == usual


def test_bounds() -> None:
    def loss(x: np.ndarray) -> float:
        assert (x >= [0, 0, -1]).all() and (x <= [2, 2, 5]).all(), x
        return bowl(x)

    r = zofl.minimize(loss, np.ones(3), bounds=[(0, 2), (0, 2), (-1, 5)], rounds=8)
    assert r.fun < r.fun0 and r.x[0] > 1.5


def test_a_plan() -> None:
    plan = zofl.plan("decomfl", run="own", dim=3, step=0.1, mu=1e-2, rounds=20, members=1,
                     target=1, quorum=1)
    r = zofl.minimize(bowl, np.ones(3), plan=plan)
    assert r.nit == 20 and r.plan["run"] == "own" and r.fun < r.fun0 == 12
    assert zofl.minimize(bowl, np.ones(3), plan=plan, rounds=3).nit == 3
    with pytest.raises(ValueError, match="dim is 3, and the model has 4"):
        zofl.minimize(bowl, np.ones(4), plan=plan)


def test_metrics() -> None:
    r = zofl.minimize(bowl, np.zeros(3), rounds=20, evaluate=lambda x: [x[0]], metrics=["first"])
    first = r.metrics["first"]
    assert np.isfinite(first).sum() == 3 and first[-1] == r.x[0]
    with pytest.raises(ValueError, match="metrics="):
        zofl.minimize(bowl, np.zeros(3), evaluate=lambda x: [x[0]])


def test_the_best_model() -> None:
    r = zofl.minimize(bowl, np.zeros(3), rounds=40, evaluate=lambda x: [x[0]], best="first")
    assert r.best and r.best["metric"] == "first" and r.best["x"].shape == (3,)
    assert r.best["x"][0] == np.float32(r.best["value"]) == max(
        v for v in r.metrics["first"] if np.isfinite(v))
    short = zofl.minimize(bowl, np.zeros(3), evaluate=lambda x: [1], best="same", patience=2)
    assert "patience ended" in short.message and short.nit < 40


def test_many_points_and_gradients() -> None:
    r = zofl.minimize(losses=lambda xs: np.sum((xs["a"] - 3) ** 2, axis=1), x0={"a": np.zeros(4)},
                      points=8, rounds=60)
    assert r.fun < r.fun0 / 10
    r = zofl.minimize(x0=[1.0, 2.0], gradient=lambda x: (bowl(x), 2 * (x - 3)), rounds=60)
    assert r.fun < r.fun0 / 10


def test_in_a_loop_and_in_a_thread() -> None:
    async def inside() -> zofl.OptimizeResult:
        return zofl.minimize(bowl, np.zeros(3), rounds=5)

    assert asyncio.run(inside()).nit == 5
    found: list[zofl.OptimizeResult] = []
    thread = threading.Thread(
        target=lambda: found.append(zofl.minimize(bowl, np.zeros(3), rounds=5)))
    thread.start()
    thread.join(300)
    assert found[0].nit == 5


def test_modules_of_torch() -> None:
    torch = torch_or_skip()
    net, rows = torch.nn.Linear(3, 1), torch.randn(20, 3)
    r = zofl.minimize(lambda net: ((net(rows) - 1) ** 2).mean(), net, rounds=60)
    assert r.x is net and r.fun < r.fun0 / 2
    assert abs(float(((net(rows) - 1) ** 2).mean()) - r.fun) < 1e-6
    before = net.weight.detach().clone()
    with pytest.raises(ZeroDivisionError):
        zofl.minimize(lambda net: 1 / 0 if (net.weight != before).any() else 1.0, net)
    assert net.weight.equal(before)


def test_results_in_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    r = zofl.minimize(bowl, np.zeros(3), rounds=12)
    assert "<svg" in r._repr_html_() and "<td" in r._repr_html_()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        r.to_frame()
    for name in ("matplotlib", "matplotlib.pyplot"):  # of which pycma imports both
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"zofl\[plot\]"):
        r.plot()


def test_frames_of_pandas() -> None:
    pytest.importorskip("pandas")
    r = zofl.minimize(bowl, np.zeros(3), rounds=12)
    frame = r.to_frame()
    assert len(frame) == 12 and (frame["loss"] == r.losses).all() and frame["queries"].iloc[-1] > 12


SCRIPT = """if True:
    import sys
    sys.path[:0] = {paths!r}
    import signal
    import numpy as np
    import zofl
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
    try:
        zofl.minimize(lambda x: np.sum(x ** 2), np.ones(3), rounds=10**8,
                      progress=lambda e: e["event"] == "round" and print("round", flush=True))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_ctrl_c() -> None:
    text = SCRIPT.format(paths=[str(ROOT / "python" / d) for d in ("src", "tests")])
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as p:
        assert p.stdout and p.stdout.readline() == "round\n"
        p.send_signal(signal.SIGINT)
        out, _ = p.communicate(timeout=300)
    assert out.endswith("interrupted\n") and p.returncode == 0
