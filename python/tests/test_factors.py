"""Factors of directions of rank 1, as a loss gets them: docs/exec.md, section "Factors"."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import zofl
from zofl.protocol import Answers, Functions

ASKED = "device=pi-1 n=7 step=2 size=5 seed=1 points={} scales={} x={} left=29.5"
SHAPES = ((2, 3), (0, 1))  # 2x3,1: 7 parameters, 6 factors
X = np.array([1, 2, 3, 4, 5, 6, 7], np.float32)
SIGNS = np.array([[1, -1, 1, 1, -1, -1], [-1, -1, 1, -1, 1, 1]], np.int8)


def mapped(path: Path, functions: Functions, line: str = "factors=6 shapes=2x3,1") -> Answers:
    """Answers about a file of X and SIGNS."""
    path.write_bytes(X.astype("<f4").tobytes() + SIGNS.tobytes())
    answers = Answers(functions)
    said = f"map dim=7 points=2 {line} path={path}"
    assert answers.answer(said) == "ok"
    return answers


def functions(near: object, **more: object) -> Functions:
    return Functions(loss=lambda x, b: float(x.sum()), factors=near, **more)  # type: ignore


def test_hello() -> None:
    near = functions(lambda points, b: [0], dim=1 << 27, points=20)
    assert near.hello() == "hello 1 dim=134217728 points=20 factors=1"
    assert "factors" not in functions(lambda p, b: [0], gradient=lambda x, b: (0, x)).hello()
    with pytest.raises(ValueError, match="no loss"):
        Functions(factors=lambda points, b: [0])


def test_points(tmp_path: Path) -> None:
    seen: list[zofl.Factors] = []

    def near(points: zofl.Factors, batch: zofl.Batch) -> list[float]:
        assert batch.step == 2
        seen.append(points)
        return [float(points.point(i).sum()) for i in range(len(points))]

    answers = mapped(tmp_path / "a file", functions(near))
    assert answers.answer("loss " + ASKED.format(2, "0,0.5", 3)) == "loss 28.0 27.5"
    points = seen.pop()
    z = np.concatenate([np.outer(SIGNS[1, :2], SIGNS[1, 2:5]).ravel(), SIGNS[1, 5:]])
    assert points.point(1).tolist() == (X + np.float32(0.5) * z).tolist()
    assert points.point(0).tolist() == X.tolist()
    assert (points.version, points.shapes, points.scales.tolist()) == (3, SHAPES, [0, 0.5])
    assert [tuple(map(len, part)) for part in points.parts(0)] == [(2, 3), (0, 1)]
    for array in (points.x, points.scales, points.signs):
        assert not array.flags.writeable
    assert points.scales.dtype == points.x.dtype == np.float32 and points.signs.dtype == np.int8
    answers.close()


def test_evaluates_x(tmp_path: Path) -> None:
    f = functions(lambda points, b: [0], evaluate=lambda x, device: [x.sum()])
    answers = mapped(tmp_path / "x", f)
    assert answers.answer("evaluate device=pi-1 x=4 left=9") == "metrics 28.0 samples=1"
    answers.close()


@pytest.mark.parametrize("line", [
    "factors=7 shapes=2x3,1", "factors=6 shapes=2x3,2", "factors=6 shapes=", "factors=6",
    "factors=x shapes=2x3,1", "factors=6 shapes=2x3,-1,2", "factors=6 shapes=-2x3,1",
    "factors=6 shapes=2x3x1,1", "factors=6 shapes=6x1,0", "factors=99999999999999999999 shapes=7",
])
def test_hostile_maps(tmp_path: Path, line: str) -> None:
    (tmp_path / "x").write_bytes(bytes(4 * 7 + 2 * 6))
    answers = Answers(functions(lambda points, b: [0]))
    said = answers.answer(f"map dim=7 points=2 {line} path={tmp_path / 'x'}")
    assert said.startswith("error ") and answers.answer(
        "loss " + ASKED.format(1, "0", 1)).startswith("error ")


def test_short_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(4 * 7 + 2 * 6 - 1))
    answers = Answers(functions(lambda points, b: [0]))
    said = answers.answer(f"map dim=7 points=2 factors=6 shapes=2x3,1 path={tmp_path / 'x'}")
    assert said.startswith("error ValueError")


@pytest.mark.parametrize("points, scales, x", [
    ("0", "0", "1"), ("3", "0,0,0", "1"), ("-1", "0", "1"), ("2", "0", "1"), ("1", "0,0", "1"),
    ("1", "", "1"), ("1", "nan", "1"), ("1", "inf", "1"), ("1", "1e99", "1"), ("1", "a", "1"),
    ("1", "0", ""),
])
def test_hostile_requests(tmp_path: Path, points: str, scales: str, x: str) -> None:
    called: list[object] = []
    answers = mapped(tmp_path / "x", functions(lambda p, b: called.append(p) or [0] * len(p)))
    assert answers.answer("loss " + ASKED.format(points, scales, x)).startswith("error ")
    assert not called
    answers.close()


def test_wrong_losses(tmp_path: Path) -> None:
    f = functions(lambda points, b: [1.0])
    answers = mapped(tmp_path / "x", f)
    request = "loss " + ASKED.format(2, "0,1", 1)
    assert answers.answer(request).endswith("returned 1 losses of 2 points: return one for each")
    f.factors = lambda points, b: 3  # type: ignore
    assert "returned int: return 2 losses" in answers.answer(request)
    f.factors = lambda points, b: [math.nan, math.nan]
    assert "return a finite loss at the first model" in answers.answer(request)
    f.factors = None
    assert answers.answer(request) == "error ProtocolError: the program takes no factors"
    answers.close()


@pytest.mark.usefixtures("zofl")
def test_device() -> None:
    """Two devices, one of which takes factors, find the same model; each asks its own function."""
    start = {"w": np.zeros((40, 30), np.float32), "b": np.zeros(4, np.float32)}
    plan = zofl.plan(run="rank", initial=start, distribution="lowrank", members=2, target=2,
                     quorum=2, rounds=4, perturbations=5, deadline=20000)
    called: list[str] = []

    def bowl(x: np.ndarray) -> float:
        return float(((x.astype(np.float64) - 3) ** 2).mean())

    def loss(x: dict[str, np.ndarray]) -> float:
        called.append("points")
        return bowl(np.concatenate([part.ravel() for part in x.values()]))

    def near(points: zofl.Factors) -> list[float]:
        called.append("factors")
        return [bowl(points.point(i)) for i in range(len(points))]

    with zofl.serve(plan) as server:
        with zofl.Device(server.url, plan, "a", loss=loss) as one, \
                zofl.Device(server.url, plan, "b", loss=loss, factors=near) as other:
            first, second = one.wait(60), other.wait(60)
    assert first.ended and first.digest == second.digest and len(first.digest) > 0
    assert set(called) == {"points", "factors"}


def spread(x: np.ndarray, batch: zofl.Batch) -> float:
    """A bowl for each device."""
    return float(((x.astype(np.float64) - (batch.device == "d0")) ** 2).mean())


@pytest.mark.usefixtures("zofl")
def test_whole_runs_and_searches() -> None:
    """With factors the same runs, and the same step is found."""
    plan = zofl.plan("decomfl", run="rank", initial=np.zeros((40, 30), np.float32), mu=0.01, step=0.1,
                     distribution="lowrank", members=2, target=2, quorum=2, rounds=4, perturbations=2)
    asked: list[int] = []

    def near(points: zofl.Factors, batch: zofl.Batch) -> list[float]:
        asked.append(len(points))
        return [spread(points.point(i), batch) for i in range(len(points))]

    def flat(x: np.ndarray, batch: zofl.Batch) -> float:
        return spread(x.ravel(), batch)

    def never(x: np.ndarray, batch: zofl.Batch) -> float:
        raise AssertionError("loss is asked, with factors beside it")

    one = zofl.simulate(flat, plan, devices=3, progress=False)[0]
    two = zofl.simulate(never, plan, devices=3, progress=False, factors=near)[0]
    assert two.ended == "rounds" and one.model is not None
    assert np.array_equal(one.model, two.model) and asked
    asked.clear()
    given = {"queries": 400, "rounds": 3, "fields": ["step"], "seed": 1, "progress": False}
    found = zofl.tune(flat, plan, **given)
    again = zofl.tune(never, plan, factors=near, **given)
    assert again.plan["step"] == found.plan["step"] and sum(asked) >= again.queries > 0


@pytest.mark.usefixtures("zofl")
def test_factors_that_differ_from_one_time_to_the_next(caplog: pytest.LogCaptureFixture) -> None:
    plan = zofl.plan(run="rank", initial=np.ones((40, 30), np.float32), distribution="lowrank",
                     members=1, rounds=1)
    drawn = np.random.default_rng(1)
    zofl.simulate(lambda x: 0, plan, factors=lambda points: drawn.random(len(points)),
                  progress=False)
    assert "at the same parameters on the same minibatch" in caplog.text
