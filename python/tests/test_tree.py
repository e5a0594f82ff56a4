"""The structure of an x0, and its vector."""

from __future__ import annotations

import json
import struct
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zofl.calls import functions
from zofl.tree import Tree

Point = namedtuple("Point", "a b")
ONE = np.ones(2)


@pytest.mark.parametrize("x0, shown, vector", [
    (3, 3.0, [3]),
    (np.float64(2.5), 2.5, [2.5]),
    (np.array(2), np.float32(2), [2]),
    ([1, 2], np.float32([1, 2]), [1, 2]),
    (((1, 2), (3, 4)), np.float32([[1, 2], [3, 4]]), [1, 2, 3, 4]),
    (np.asfortranarray([[1, 2], [3, 4]]), np.float32([[1, 2], [3, 4]]), [1, 2, 3, 4]),
    ({"b": ONE, "a": [3, 4]}, {"b": ONE, "a": np.float32([3, 4])}, [3, 4, 1, 1]),
    ([ONE, {"z": 7, "y": (np.zeros(1),)}], [ONE, {"z": 7.0, "y": (np.zeros(1),)}], [1, 1, 0, 7]),
    (Point(5, ONE), Point(5.0, ONE), [5, 1, 1]),
    ([np.array(float(i)) for i in range(11)], [np.float32(i) for i in range(11)], range(11)),
])
def test_structures(x0: Any, shown: Any, vector: Any) -> None:
    tree = Tree(x0)
    assert tree.vector.dtype == np.float32 and tree.vector.tolist() == list(vector)
    found = tree.unravel(tree.vector)
    assert_same(found, shown)
    assert tree.ravel(found).tolist() == tree.vector.tolist()
    assert_same(tree.keep(tree.vector), shown)


def assert_same(a: Any, b: Any) -> None:
    """Equal values, in the same structure, of which arrays are float32."""
    if isinstance(b, dict):
        assert list(a) == list(b)
        for key in b:
            assert_same(a[key], b[key])
    elif isinstance(b, (list, tuple)):
        assert type(a) is type(b) and len(a) == len(b)
        for one, other in zip(a, b):
            assert_same(one, other)
    elif isinstance(b, float):
        assert type(a) is float and a == b
    else:
        assert a.dtype == np.float32 and a.shape == b.shape and (a == b).all()


@pytest.mark.parametrize("x0, kind, text", [
    ([], ValueError, "no numbers"), ({}, ValueError, "no numbers"),
    (np.empty((0, 3)), ValueError, "no numbers"),
    (None, TypeError, "NoneType"), ("a.npy", TypeError, "read it first"),
    (1j, TypeError, "complex"), (np.ones(2, complex), TypeError, "complex"),
    (np.array([1, None]), TypeError, "object"), ({"a": None}, TypeError, r"x0\['a'\] is"),
    ([[1], [1, 2]], ValueError, "unlike length"), (iter([1]), TypeError, "give a number"),
    (np.nan, ValueError, "x0 is nan"), ([0, 1e300], ValueError, r"x0\[1\] is inf"),
    ({"a": np.float64([[0, np.inf]])}, ValueError, r"x0\['a'\]\[0\]\[1\]"),
    ({"a": {"b": 1}, "a.b": 2}, ValueError, "two leaves"),
])
def test_what_is_no_x0(x0: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        Tree(x0)


def test_views_and_copies() -> None:
    tree = Tree({"w": np.zeros((2, 3)), "b": np.zeros(3)})
    x = np.arange(9, dtype=np.float32)
    x.flags.writeable = False
    found = tree.unravel(x)
    assert found["w"].base is not None and not found["w"].flags.writeable
    kept = tree.keep(x)["w"]
    assert kept.flags.writeable and not np.shares_memory(kept, x)
    many = tree.unravel(np.stack([x, x + 1]))
    assert many["w"].shape == (2, 2, 3) and many["b"].tolist() == [[0, 1, 2], [1, 2, 3]]


def test_trained_leaves() -> None:
    x0 = {"head": {"w": ONE, "b": 3}, "body": np.zeros(4)}
    tree = Tree(x0, "head.*")
    assert tree.vector.tolist() == [3, 1, 1]
    found = tree.unravel(np.float32([9, 8, 7]))
    assert found["head"]["b"] == 9 and found["head"]["w"].tolist() == [8, 7]
    assert found["body"].tolist() == [0] * 4
    assert Tree(x0, ["*", "!body"]).dim == 3 == Tree(x0, "!body").dim
    with pytest.raises(ValueError, match="did you mean head.w"):
        Tree(x0, "haed.w")
    with pytest.raises(ValueError, match="leaves out all"):
        Tree(x0, ["head.w", "!*"])
    with pytest.raises(ValueError, match="leave train out"):
        Tree(ONE, "w")


def test_gradients() -> None:
    tree = Tree({"w": np.zeros((2, 2)), "b": 0})
    assert tree.ravel({"b": 1, "w": np.full((2, 2), 2)}).tolist() == [1, 2, 2, 2, 2]
    assert tree.ravel(np.arange(5)).tolist() == [0, 1, 2, 3, 4]
    for wrong, text in [({"w": np.ones((2, 2))}, "no part 'b'"), ([1], "no part"),
                        ({"b": 1, "w": 1}, r"shape \(\)")]:
        with pytest.raises(ValueError, match=text):
            tree.ravel(wrong)


def test_files(tmp_path: Path) -> None:
    assert np.load(Tree([1, 2]).save(tmp_path)).tolist() == [1, 2]
    raw = Tree({"b": ONE, "a": {"ä": [[3, 4]]}}).save(tmp_path).read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + size])
    assert size % 8 == 0 and head["a.ä"] == {"dtype": "F32", "shape": [1, 2],
                                            "data_offsets": [0, 8]}
    assert np.frombuffer(raw[8 + size:], "<f4").tolist() == [3, 4, 1, 1]


class Callable:
    def __call__(self, x: Any, *, batch: str) -> tuple[Any, ...]:
        return x, batch


@pytest.mark.parametrize("function, both", [
    (lambda x: (x,), False), (lambda x, b: (x, b), True), (lambda x, batch=None: (x, batch), True),
    (lambda x, scale=2: (x,), False), (lambda *a: a, True), (Callable(), True),
    (np.negative, False),
])
def test_what_a_function_takes(function: Any, both: bool) -> None:
    f = functions(function, None, None, None)
    assert f.loss is not None
    found = f.loss(np.float32([1]), "batch")
    assert (len(found) == 2 and found[1] == "batch") if both else len(found) == 1


def test_a_loss_gets_the_structure_of_x0() -> None:
    x0 = {"w": np.zeros((2, 2)), "b": 0.0}
    f = functions(lambda x: x["w"].sum() + x["b"], None, lambda x: (0, {"w": x["w"], "b": 1}),
                  lambda x, device: [x["b"]], tree=Tree(x0), samples=4, points=2)
    assert f.loss and f.gradient and f.evaluate and (f.dim, f.samples, f.points) == (5, 4, 2)
    x = np.float32([10, 1, 2, 3, 4])
    assert f.loss(x, None) == 20 and f.evaluate(x, "d0") == [10]
    assert np.asarray(f.gradient(x, None)[1]).tolist() == [1, 1, 2, 3, 4]
    many = functions(None, lambda xs: xs["b"], None, None, tree=Tree(x0)).losses
    assert many and np.asarray(many(np.stack([x, x]), None)).tolist() == [10, 10]
