"""Models in objects of other libraries, where these are installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torches import torch_or_skip

from zofl.tree import Tree


def test_torch_modules() -> None:
    torch = torch_or_skip()
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1))
    net[0].bias.requires_grad_(False)
    before = [p.detach().clone() for p in net.parameters()]
    tree = Tree(net)
    assert [leaf.name for leaf in tree.leaves] == ["0.weight", "1.bias", "1.weight"]
    assert tree.unravel(np.arange(9, dtype=np.float32)) is net
    assert net[0].weight.tolist() == [[0, 1, 2], [3, 4, 5]] and net[1].weight.tolist() == [[7, 8]]
    assert net[0].bias.equal(before[1]) and net[1].weight.requires_grad
    other = tree.copy(np.ones(9, np.float32))
    assert other is not net and other[1].bias.item() == 1
    tree.restore()
    assert all(p.equal(b) for p, b in zip(net.parameters(), before))
    # In the module's own order, by name, and as one vector.
    loss = net(torch.ones(3)).sum()
    own = torch.autograd.grad(loss, [net[0].weight, net[1].weight, net[1].bias])
    flat = tree.ravel(own)
    assert flat[6] == 1 and (tree.ravel(flat) == flat).all()
    assert (tree.ravel(dict(zip(["0.weight", "1.weight", "1.bias"], own))) == flat).all()
    assert Tree(net, "0.*").dim == 8  # what is named is trained, frozen or not
    with pytest.raises(ValueError, match="did you mean 1.weight"):
        Tree(net, "2.weight")
    for p in net.parameters():
        p.requires_grad_(False)
    with pytest.raises(ValueError, match="requires_grad"):
        Tree(net)


def test_tied_parameters_and_tensors() -> None:
    torch = torch_or_skip()
    net = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False))
    net[1].weight = net[0].weight
    assert Tree(net).dim == 4 == Tree(net, "1.*").dim
    x0 = {"w": torch.ones(2, 2, dtype=torch.float64), "steps": torch.tensor(3)}
    tree = Tree(x0)
    found = tree.unravel(np.arange(4, dtype=np.float32))
    assert found["w"].dtype == torch.float64 and found["w"].tolist() == [[0, 1], [2, 3]]
    assert found["steps"] is x0["steps"]  # integers are no parameters
    assert Tree(net.state_dict()).dim == 8


def test_estimators() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    rows, classes = np.random.default_rng(1).normal(size=(20, 3)), np.arange(20) % 2
    model = linear.SGDClassifier(random_state=1).fit(rows, classes)
    before = model.coef_.copy()
    tree = Tree(model)
    assert [leaf.name for leaf in tree.leaves] == ["coef_", "intercept_"] and tree.dim == 4
    assert tree.unravel(np.float32([1, 2, 3, 4])) is model
    assert model.coef_.tolist() == [[1, 2, 3]] and model.coef_.dtype == before.dtype
    assert model.intercept_.tolist() == [4] and model.predict(rows).shape == (20,)
    assert tree.copy(np.zeros(4, np.float32)).coef_.tolist() == [[0, 0, 0]]
    tree.restore()
    assert (model.coef_ == before).all()
    assert Tree(model, "coef_").dim == 3
    plain = linear.LinearRegression(fit_intercept=False).fit(rows, classes)
    assert Tree(plain).unravel(np.float32([1, 2, 3, 0.5])).intercept_ == 0.5
    with pytest.raises(ValueError, match="fit it first"):
        Tree(linear.LogisticRegression())
    network = pytest.importorskip("sklearn.neural_network")
    layers = network.MLPClassifier((2,), max_iter=2).fit(rows, classes)
    tree = Tree(layers)
    assert tree.dim == 3 * 2 + 2 + 2 + 1
    found = tree.unravel(np.arange(11, dtype=np.float32))
    assert found.coefs_[0].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert found.intercepts_[1].tolist() == [10]


def test_onnx_models() -> None:
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    def initializer(name: str, a: Any) -> Any:
        return numpy_helper.from_array(np.array(a), name)

    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1])],
        [initializer("w", np.float32([[1], [2]])), initializer("b", np.float32([3])),
         initializer("n", np.int64([4]))])
    model = helper.make_model(graph)
    before = model.SerializeToString()
    tree = Tree(model)
    assert tree.vector.tolist() == [3, 1, 2]
    found = tree.unravel(np.float32([6, 7, 8]))
    assert sorted(found) == ["b", "w"] and found["w"].tolist() == [[7], [8]]
    assert model.SerializeToString() == before
    tree.keep(np.float32([6, 7, 8]))
    assert onnx.numpy_helper.to_array(model.graph.initializer[0]).tolist() == [[7], [8]]
    tree.restore()
    assert model.SerializeToString() == before
    assert Tree(model, "w").dim == 2
