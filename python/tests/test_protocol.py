"""A loss's side of docs/exec.md, against requests typed in from that page."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zofl import faults
from zofl.protocol import Answers, Functions, Metrics

ASKED = "device=pi-1 n=7 step=2 size=5 seed=18446744073709551615 points={} left=29.5 new=1"


def mapped(path: Path, functions: Functions, *points: list[float]) -> Answers:
    """Answers about points in a file."""
    np.array(points, "<f4").tofile(path)
    answers = Answers(functions)
    said = f"map dim={len(points[0])} points={len(points)} path={path}\n"
    assert answers.answer(said) == "ok"
    return answers


@pytest.mark.parametrize("functions, said", [
    (Functions(loss=lambda x, b: 0, dim=3), "hello 1 dim=3 points=16"),
    (Functions(loss=lambda x, b: 0, dim=1 << 21), "hello 1 dim=2097152 points=2"),
    (Functions(loss=lambda x, b: 0, dim=1 << 30), "hello 1 dim=1073741824 points=1"),
    (Functions(loss=lambda x, b: 0, samples=9, evaluate=lambda x, d: [0]),
     "hello 1 dim=0 points=16 samples=9 evaluate=1"),
    (Functions(losses=lambda x, b: [0], points=4, dim=1 << 30), "hello 1 dim=1073741824 points=4"),
    (Functions(gradient=lambda x, b: (0, x)), "hello 1 dim=0 points=16 gradient=1"),
])
def test_hello(functions: Functions, said: str) -> None:
    assert Answers(functions).answer("hello 1\n") == said
    assert Answers(functions).answer("hello 2\n").startswith("error ProtocolError: version 2")


@pytest.mark.parametrize("wrong, name", [
    ({}, "no loss"), ({"loss": min, "losses": max}, "one of the two"),
    ({"loss": min, "dim": -1}, "dim=-1"), ({"loss": min, "points": 0}, "points=0"),
    ({"loss": min, "points": 4097}, "points=4097"),
])
def test_wrong_functions(wrong: dict[str, object], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Functions(**wrong)  # type: ignore[arg-type]


def test_loss(tmp_path: Path) -> None:
    seen = []

    def loss(x: np.ndarray, batch: object) -> np.float32:
        seen.append(batch)
        return x.sum()

    # The path is the rest of the line, spaces and all.
    answers = mapped(tmp_path / "a file", Functions(loss=loss), [1, 2], [0.5, 0.25], [1e30, 0])
    assert answers.answer("loss " + ASKED.format(3)) == "loss 3.0 0.75 1.0000000150474662e+30"
    b = seen[0]
    assert (b.device, b.n, b.step, b.size, b.seed, b.left) == ("pi-1", 7, 2, 5, (1 << 64) - 1, 29.5)
    assert seen == [b] * 3
    np.array([[8, 8]], "<f4").tofile(tmp_path / "other")
    with open(tmp_path / "a file", "r+b") as f:  # as the program does, between requests
        f.write(np.array([8, 8], "<f4").tobytes())
    assert answers.answer("loss " + ASKED.format(1)) == "loss 16.0"
    for word in ("0", "4", "x"):
        assert answers.answer("loss " + ASKED.format(word)).startswith("error ")
    answers.close()


@pytest.mark.parametrize("wrong, said", [
    (None, "None, as if its return were missing: return one number"),
    ("much", "the text 'much': return one number"),
    (np.zeros(20), "an array of shape (20,): return one number"),
])
def test_losses_that_are_no_numbers(tmp_path: Path, wrong: object, said: str) -> None:
    answers = mapped(tmp_path / "file", Functions(loss=lambda x, b: wrong), [1])  # type: ignore
    answer = answers.answer("loss " + ASKED.format(1))
    assert answer.startswith("error <lambda> (test_protocol.py:") and said in answer


def test_points_are_read_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def loss(x: np.ndarray, batch: object) -> float:
        assert x.dtype == np.float32 and x.shape == (2,)
        x[0] = 7
        return 0

    answers = mapped(tmp_path / "x", Functions(loss=loss), [1, 2])
    said = answers.answer("loss " + ASKED.format(1))
    assert said.startswith("error loss (test_protocol.py:") and said.endswith(
        "writes to x, which is read-only: begin with x = x.copy()")
    assert np.fromfile(tmp_path / "x", "<f4").tolist() == [1, 2]
    assert "in loss" in caplog.text  # the traceback
    answers.close()


def test_losses(tmp_path: Path) -> None:
    answers = mapped(tmp_path / "x", Functions(losses=lambda xs, b: xs.sum(1), points=2),
                     [1, 2], [3, 4])
    assert answers.answer("loss " + ASKED.format(2)) == "loss 3.0 7.0"
    assert answers.answer("loss " + ASKED.format(1)) == "loss 3.0"
    answers.functions.losses = lambda xs, b: [1.0]
    assert answers.answer("loss " + ASKED.format(2)).endswith("returned 1 losses of 2 points: "
                                                                        "return one for each")
    answers.close()


def test_gradient(tmp_path: Path) -> None:
    f = Functions(gradient=lambda x, b: (x @ x, 2 * x))
    answers = mapped(tmp_path / "x", f, [1, 2], [0, 0])
    assert answers.answer("gradient " + ASKED) == "loss 5.0"
    assert np.fromfile(tmp_path / "x", "<f4").tolist() == [1, 2, 2, 4]
    answers.functions.gradient = lambda x, b: (1.0, [1.0])
    assert "shape (1,)" in answers.answer("gradient " + ASKED)
    answers.functions.gradient = lambda x, b: 2 * x
    assert "return two values, the loss and its gradient" in answers.answer("gradient " + ASKED)
    answers.functions.gradient = lambda x, b: (x.sum(), x)
    assert answers.answer("loss " + ASKED.format(2)) == "loss 3.0 6.0"  # some plans ask for it
    answers.functions.loss = lambda x, b: 8
    assert answers.answer("loss " + ASKED.format(1)) == "loss 8.0"
    answers.close()


def test_losses_end_with_the_round(tmp_path: Path) -> None:
    asked = []
    f = Functions(loss=lambda x, b: asked.append(x) or time.sleep(0.002) or 0)
    answers = mapped(tmp_path / "x", f, [1], [2])
    request = "loss " + ASKED.format(2).replace("left=29.5", "left=0.001")
    assert answers.answer(request) == "error LateError: the round ended after 1 of 2 losses"
    assert len(asked) == 1
    answers.close()


def test_evaluate(tmp_path: Path) -> None:
    f = Functions(loss=lambda x, b: 0, evaluate=lambda x, d: Metrics([x[0], len(d)], 40), samples=3)
    answers = mapped(tmp_path / "x", f, [0.5, 2])
    assert answers.answer("evaluate device=pi-1 left=9") == "metrics 0.5 4.0 samples=40"
    f.evaluate = lambda x, d: [x[1]]
    assert answers.answer("evaluate device=pi-1 left=9") == "metrics 2.0 samples=3"
    answers.close()


@pytest.mark.parametrize("raised, said", [
    (ValueError("one\n two"), "error ValueError: one two"),
    (KeyError(), "error KeyError"),
    (RuntimeError("größer"), "error RuntimeError: gr\\xf6\\xdfer"),
    (RuntimeError("x" * 5000), "error RuntimeError: " + "x" * 986),
])
def test_exceptions(tmp_path: Path, caplog: pytest.LogCaptureFixture, raised: Exception,
                    said: str) -> None:
    def loss(x: np.ndarray, batch: object) -> float:
        raise raised

    answers = mapped(tmp_path / "x", Functions(loss=loss), [1])
    with caplog.at_level(logging.ERROR, "zofl"):
        assert answers.answer("loss " + ASKED.format(1)) == said
    assert "Traceback" in caplog.text
    answers.close()


@pytest.mark.parametrize("leaves", [KeyboardInterrupt, SystemExit])
def test_exits_leave(tmp_path: Path, leaves: type[BaseException]) -> None:
    def loss(x: np.ndarray, batch: object) -> float:
        raise leaves

    answers = mapped(tmp_path / "x", Functions(loss=loss), [1])
    with pytest.raises(leaves):
        answers.answer("loss " + ASKED.format(1))


def test_wrong_requests(tmp_path: Path) -> None:
    answers = Answers(Functions(loss=lambda x, b: 0, dim=3))
    for request in ("", "what", "loss", "loss n", "map", "map dim=3 points=1 path=/no/such/file",
                    "loss " + ASKED.format(1), "gradient " + ASKED, "evaluate device=a left=1",
                    f"map dim=2 points=1 path={tmp_path}/x"):
        assert answers.answer(request).startswith("error "), request
    assert answers.answer("hello 1") == "hello 1 dim=3 points=16"


def test_a_kept_view_outlives_the_file(tmp_path: Path) -> None:
    kept = []
    f = Functions(loss=lambda x, b: kept.append(x) or 0)
    answers = mapped(tmp_path / "x", f, [1, 2])
    answers.answer("loss " + ASKED.format(1))
    answers.close()
    assert kept[0].tolist() == [1, 2]


def test_batches() -> None:
    from zofl import Batch

    def batch(size: int, seed: int) -> Batch:
        return Batch(n=1, step=0, size=size, seed=seed, device="a", left=1)

    chosen = batch(5, 9).choose(20)
    assert len(set(chosen.tolist())) == 5 and chosen.tolist() == sorted(chosen)
    assert 0 <= chosen.min() and chosen.max() < 20
    assert chosen.tolist() == batch(5, 9).choose(20).tolist()
    assert chosen.tolist() != batch(5, 10).choose(20).tolist()
    for size in (0, 20, 99):
        assert batch(size, 1).choose(20).tolist() == list(range(20))


def test_columns_and_scale(tmp_path: Path) -> None:
    f = Functions(loss=lambda x, b: 0, dim=1, columns=[[1, np.nan], [3, np.inf]])
    assert f.hello().endswith(" columns=2")
    answers = mapped(tmp_path / "x", f, [0])
    assert answers.answer("columns device=pi-1") == \
        "columns 2.0 0.0 2.0 1.0 1.0 3.0 0.0 2.0 0.0 0.0 0.0 0.0"
    assert f.scaler is None
    assert answers.answer("scale 2.0 1.0 5 0") == "ok"
    assert f.scaler is not None
    assert f.scaler.transform([[1, 9], [np.nan, 5]]).tolist() == [[-1, 0], [0, 0]]
    assert answers.answer("scale 2.0 1.0 5").startswith("error ValueError")
    f.columns = None
    assert answers.answer("columns device=pi-1").startswith("error ProtocolError")
    answers.close()


class Tensor:
    """What torch.Tensor is to those who read a loss, where it requires a gradient."""

    __module__ = "torch"
    shape, dtype = (), object()

    def __init__(self, detached: bool = False) -> None:
        self.detached = detached

    def detach(self) -> Tensor:
        return Tensor(True)

    def is_complex(self) -> bool:
        return False

    def __array__(self, *_: Any) -> Any:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    def __float__(self) -> float:
        assert self.detached
        return 2.5


def test_a_tensor_that_requires_a_gradient_is_a_number() -> None:
    assert faults.number(Tensor(), None) == 2.5
