"""Models of simulations and searches, and who follows them."""

from __future__ import annotations

import io
import math
import sys
import types
from typing import Any

import numpy as np
import pytest
from runs import bowl, small

import zofl
from zofl import chart, live

pytestmark = pytest.mark.usefixtures("zofl")


def test_simulations_return_models() -> None:
    history = zofl.simulate(bowl, small(mu=0.01, perturbations=5), rounds=20, seed=7, seeds=2,
                            sweep=["step=1e-6,0.2"])
    assert [r.seed for r in history] == [7, 7, 8, 8]
    best = history.best
    assert best is not None and best.settings == {"step": "0.2"}
    assert best.loss == min(r.loss for r in history) and best.model is best.x
    assert best.x.shape == (30,) and bowl(best.x, None) < 0.7  # type: ignore[arg-type]
    assert len(repr(best)) < 120 and "loss" in repr(best)
    assert "<svg" in best._repr_html_() and history._repr_html_().count("<path d=\"M") > 4
    assert zofl.History().best is None and "<svg" in zofl.History()._repr_html_()


def test_simulations_begin_at_a_structure() -> None:
    def loss(x: dict[str, Any], batch: zofl.Batch) -> float:
        return float(np.mean((x["a"] - 1) ** 2)) + x["b"] ** 2

    initial = {"b": 3.0, "a": np.zeros((2, 2))}
    plan = zofl.plan(
        "decomfl", run="small", dim=5, members=2, target=2, quorum=2, step=0.1, mu=0.01, rounds=30)
    history = zofl.simulate(loss, plan, initial=initial)
    assert history[0].losses[0] == 10 and history[0].x["a"].shape == (2, 2)
    assert abs(history[0].x["b"]) < 2 and history[0].model[-1] == np.float32(history[0].x["b"])
    tuned = zofl.tune(loss, plan, initial=initial, queries=3000, fields=["step"])
    assert tuned.loss_before == 10 and tuned.x["a"].shape == (2, 2) and tuned.loss < 9
    with pytest.raises(ValueError, match="dim is 5, and the model has 2"):
        zofl.simulate(loss, plan, initial=[1, 2])


def test_callbacks_end_runs() -> None:
    seen: list[int] = []

    def callback(run: zofl.Run) -> bool:
        seen.append(len(run.rows))
        return run.seed == 2 and len(run.rows) == 3

    events: list[str] = []
    history = zofl.simulate(bowl, small(), rounds=6, seeds=3, callback=callback,
                            progress=lambda e: events.append(e["event"]))
    assert [len(r.rows) for r in history] == [6, 3, 6]
    assert [r.ended for r in history] == ["rounds", "callback", "rounds"]
    assert seen == [1, 2, 3, 4, 5, 6, 1, 2, 3, 1, 2, 3, 4, 5, 6]
    assert events.count("round") == 15 and events[0] == "begin" and events[-1] == "done"
    assert math.isfinite(history[1].loss) and history[1].x is not None
    history = zofl.simulate(lambda x: 1.0, small(diverge=0), rounds=50, patience=4)
    assert history[0].ended == "patience" and len(history[0].rows) == 5
    with pytest.raises(KeyError, match="mine"):
        zofl.simulate(bowl, small(), callback=lambda run: {}["mine"])


def test_budgets() -> None:
    asked: list[float] = []

    def loss(x: np.ndarray) -> float:
        asked.append(0)
        return bowl(x, None)  # type: ignore[arg-type]

    history = zofl.simulate(loss, small(), rounds=100, queries=300)
    assert 200 < len(asked) <= 301 and history[0].ended == "rounds"
    with pytest.raises(zofl.UsageError, match="queries"):
        zofl.simulate(loss, small(), queries=3)


def test_searches_are_followed() -> None:
    trials: list[dict[str, Any]] = []
    plan = small(members=4, step=1e-6)
    tuned = zofl.tune(bowl, plan, queries=3000, rounds=10, fields=["step"], seed=3,
                      callback=trials.append, progress=False)
    assert len(trials) == len(tuned.trials) and trials[-1]["budget"] == 3000
    assert tuned.loss < tuned.loss_before and bowl(tuned.x, None) < 1  # type: ignore[arg-type]
    assert len(repr(tuned)) < 120 and "<table" in tuned._repr_html_()
    short = zofl.tune(bowl, plan, queries=3000, rounds=10, fields=["step"],
                      callback=lambda t: t["stage"] == "bracket")
    assert len(short.trials) < len(tuned.trials) and "ended the search" in short.reasons[-1]
    with pytest.raises(ZeroDivisionError):
        zofl.tune(bowl, plan, callback=lambda t: 1 / 0)


def test_frames() -> None:
    pytest.importorskip("pandas")
    plan = small(metrics=["far"], eval_every=1, eval_count=1)
    history = zofl.simulate(bowl, plan, seeds=2, sweep=["step=1e-3"],
                            evaluate=lambda x: [float(x[0])])
    frame = history.to_frame()
    assert len(frame) == 10 and set(frame["seed"]) == {1, 2} and set(frame["step"])
    assert frame["far"].notna().all() and len(history[0].to_frame()) == 5
    assert len(zofl.tune(bowl, small(), queries=3000, fields=["mu"]).to_frame()) > 2


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_QUICK", 0.0)
    monkeypatch.setattr(live, "_EVERY", 1e9)  # the last text is drawn all the same
    monkeypatch.setattr(live, "_notebook", lambda: None)
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "stderr", terminal)
    zofl.simulate(bowl, small(), rounds=3)
    assert "\rsimulate  round 3 of 3  loss " in terminal.getvalue()
    assert terminal.getvalue().endswith("evaluations\x1b[K\n")
    monkeypatch.setenv("COLUMNS", "20")
    zofl.simulate(bowl, small(), rounds=3)
    assert terminal.getvalue().endswith("\rsimulate  round 3 o\x1b[K\n")
    monkeypatch.setenv("COLUMNS", "200")
    zofl.tune(bowl, small(), queries=3000, fields=["mu"])
    assert " of 3,000 evaluations" in terminal.getvalue()
    monkeypatch.setattr(sys, "stderr", plain := io.StringIO())
    zofl.simulate(bowl, small(), rounds=3)
    assert plain.getvalue() == ""
    drawn: list[str] = []
    display = types.SimpleNamespace(update=lambda data, raw: drawn.append(data["text/plain"]))
    module = types.ModuleType("IPython.display")
    module.display = lambda data, raw, display_id: (  # type: ignore[attr-defined]
        drawn.append(data["text/plain"]), display)[1]
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr(live, "_notebook", lambda: object())
    zofl.simulate(bowl, small(), rounds=3)
    assert drawn[0].startswith("simulate  round 1 of 3") and "round 3 of 3" in drawn[-1]
    assert plain.getvalue() == ""


@pytest.mark.parametrize("values", [
    [], [np.nan], [1.0], [2.0, 2.0], [0.0, 0.0, 0.0], [5.0, 1e-9], [-1.0, 3.0], [1.0, np.nan, 2.0],
    [1e300, 1e-300], list(np.linspace(1, 0, 5000)),
])
def test_drawings(values: list[float]) -> None:
    from xml.etree import ElementTree

    text = chart.svg({"a < b": np.array(values), "c": np.array(values)}, alone=True)
    ElementTree.fromstring(text)
    assert "nan" not in text and "inf" not in text and len(text) < 50_000
