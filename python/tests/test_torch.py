"""A torch module as the model of a device. Without torch these tests are skipped."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_readme import blocks
from torches import torch_or_skip
from vectors import ROOT

import zofl
from zofl.batch import Batch
from zofl.protocol import Answers
from zofl.tree import Tree

torch = torch_or_skip()

from zofl.torch.data import Data  # noqa: E402
from zofl.torch.layout import segments_of  # noqa: E402
from zofl.torch.points import Points  # noqa: E402
from zofl.torch.start import Start  # noqa: E402

torch.set_num_threads(1)


class LoRA(torch.nn.Module):
    """A layer whose own weights stay, beside two small ones."""

    def __init__(self, inner: Any, rank: int = 2) -> None:
        super().__init__()
        self.base = inner
        self.lora_A = torch.nn.Parameter(torch.randn(rank, inner.in_features) / 4)
        self.lora_B = torch.nn.Parameter(torch.zeros(inner.out_features, rank))

    def forward(self, x: Any) -> Any:
        return self.base(x) + x @ self.lora_A.T @ self.lora_B.T


def head(seed: int = 1) -> Any:
    torch.manual_seed(seed)
    return torch.nn.Sequential(LoRA(torch.nn.Linear(6, 5)), torch.nn.Tanh(),
                               torch.nn.Linear(5, 2))


def rows(count: int = 48) -> list[tuple[Any, int]]:
    torch.manual_seed(7)
    x = torch.randn(count, 6)
    return [(row, int(row[0] > 0)) for row in x]


def entropy(model: Any, batch: Any) -> Any:
    x, y = batch
    return torch.nn.functional.cross_entropy(model(x), y)


def of(seed: int = 1, size: int = 0) -> Batch:
    return Batch(2, 0, size, seed, "pi-1", 60.0)


@pytest.mark.usefixtures("zofl")
def test_ten_lines_beside_a_loss_by_hand() -> None:
    """A LoRA head in a module, and the same loss from a vector: one run, the same digest."""
    model, data = head(), rows()
    plan = zofl.torch.plan(model, "*lora*", run="head", preset="decomfl", members=2, target=2,
                           quorum=2, rounds=25, step=0.3, mu=0.01, batch=16,
                           run_key="01" * 32)
    assert [s["name"] for s in plan["segments"]] == ["0_lora_A", "0_lora_B"]
    other, x, y = head(), torch.stack([r[0] for r in data]), torch.tensor([r[1] for r in data])

    def by_hand(v: Any, batch: Any) -> float:
        i = batch.choose(len(data))
        with torch.no_grad():
            other[0].lora_A.copy_(torch.tensor(v["0.lora_A"]))
            other[0].lora_B.copy_(torch.tensor(v["0.lora_B"]))
            return float(torch.nn.functional.cross_entropy(other(x[i]), y[i]))

    frozen = model[2].weight.detach().clone()
    first = float(entropy(model, (x, y)))
    seen: list[Any] = []

    class Told:
        def on_train_begin(self, state: Any) -> None:
            seen.append("begin")

        def on_round_end(self, state: Any) -> None:
            seen.append((state.round, float(state.model[0].lora_B.abs().sum())))

        def on_train_end(self, state: Any) -> None:
            seen.append("end")

    begin = {n: model.get_parameter(n).detach().numpy().copy() for n in ("0.lora_A", "0.lora_B")}
    with zofl.serve(plan) as server:
        plain = zofl.Device(server.url, "head", "pi-2", loss=by_hand, initial=begin).start()
        device = zofl.torch.Device(server.url, plan, "pi-1", model, loss=entropy, dataset=data,
                                   callbacks=[Told()])
        result = device.run()
        assert plain.wait(300).digest == result.digest
    assert result.ended and result.x is model and model.training
    assert float(entropy(model, (x, y))) < 0.9 * first
    assert model[2].weight.equal(frozen)
    assert result.model.tolist() == torch.cat([model[0].lora_A.flatten(),
                                               model[0].lora_B.flatten()]).tolist()
    assert seen[0] == "begin" and seen[-1] == "end" and seen[-2][0] == 25
    assert seen[-2][1] == float(model[0].lora_B.abs().sum())


def test_layouts() -> None:
    """Names decide, not the order in which a module has its tensors: as in a model file."""
    model = head()
    start = Start(model, ["*lora*", "2.*"])
    names = ["0.lora_A", "0.lora_B", "2.bias", "2.weight"]
    assert [leaf.name for leaf in start.tree.leaves] == names and start.dim == 34
    plain = Tree(model, ["*lora*", "2.*"])
    assert start.tree.vector.tolist() == plain.vector.tolist()
    x = np.arange(34, dtype=np.float32)
    assert start.tree.unravel(x) is model and model[2].bias.tolist() == [22, 23]
    assert (start.tree.ravel({n: model.get_parameter(n) for n in names}) == x).all()
    many = start.tree.unravel(np.stack([x, x + 1]))
    assert many["0.lora_B"].shape == (2, 5, 2) and many["2.bias"].tolist() == [[22, 23], [23, 24]]
    start.tree.restore()
    assert (model[0].lora_A.detach().numpy() == plain.vector[:12].reshape(2, 6)).all()
    again = pickle.loads(pickle.dumps(start))
    assert again.tree.vector.tolist() == plain.vector.tolist() and again.value is not model
    other = start.tree.copy(x)
    assert other is not model and other[2].bias.tolist() == [22, 23] != model[2].bias.tolist()


def test_tied_frozen_and_other_tensors() -> None:
    net = torch.nn.Module()
    net.tokens = torch.nn.Embedding(7, 4)
    net.head = torch.nn.Linear(4, 7, bias=False)
    net.head.weight = net.tokens.weight
    net.norm = torch.nn.BatchNorm1d(4)
    net.counts = torch.nn.Parameter(torch.zeros(3, dtype=torch.int32), requires_grad=False)
    assert list(Start(net).tree.parameters) == ["norm.bias", "norm.weight", "tokens.weight"]
    assert list(Start(net, "head.*").tree.parameters) == ["head.weight"]
    net.requires_grad_(False)
    assert Start(net, "*").dim == 28 + 8  # a frozen one that is named is trained, counts are not
    with pytest.raises(zofl.UsageError, match="requires_grad: name those to train"):
        Start(net)
    with pytest.raises(zofl.UsageError, match="names nothing in the module.*counts holds torch.int"):
        Start(net, "counts")
    net.part = torch.nn.Parameter(net.tokens.weight[1:3])
    with pytest.raises(zofl.UsageError, match="part and tokens.weight share|tokens.weight and part"):
        Start(net, "*")
    with pytest.raises(zofl.UsageError, match=r"0.weight holds torch.float64: call model.float"):
        Start(torch.nn.Sequential(torch.nn.Linear(2, 2)).double())
    with pytest.raises(TypeError, match="give a torch.nn.Module"):
        Start([1])
    with pytest.raises(zofl.UsageError, match="bias has numbers that are not finite"):
        linear = torch.nn.Linear(2, 2)
        linear.bias.data[1] = float("nan")
        Start(linear)


@pytest.mark.usefixtures("zofl")
def test_another_module_is_refused_by_the_name_of_a_tensor() -> None:
    plan = zofl.torch.plan(head(), ["*lora*", "2.*"], run="head", members=1, rounds=2)

    def device(model: Any, train: Any = None) -> Any:
        return zofl.torch.Device("nats://127.0.0.1:1", dict(plan), "pi-1", model, loss=entropy,
                                 dataset=rows(), train=train)

    same = head()
    assert list(device(same)._tree.parameters) == ["0.lora_A", "0.lora_B", "2.bias", "2.weight"]
    turned = torch.nn.Module()  # the same names and shapes, in another order
    for name in ("2", "1", "0"):
        turned.add_module(name, same[int(name)])
    assert list(device(turned)._tree.parameters) == list(device(same)._tree.parameters)
    wide = head()
    wide[2] = torch.nn.Linear(5, 3)
    with pytest.raises(zofl.UsageError, match=r"2.bias has the shape \(3,\) in the module, and 2"):
        device(wide)
    with pytest.raises(zofl.UsageError, match="the plan trains 2_bias, which the module does not"):
        device(same, "*lora*")
    with pytest.raises(zofl.UsageError, match=r"has 0.base.bias of the shape \(5,\), which the plan"):
        device(same, "*")
    other = torch.nn.Sequential(same[0], same[1])
    with pytest.raises(zofl.UsageError, match="the plan trains 2_bias"):
        device(other)
    with zofl.serve(plan) as server:  # of a device that knows the run's name alone
        with pytest.raises(zofl.UsageError, match="wrong initial parameters"):
            zofl.torch.Device(server.url, "head", "pi-1", head(2), loss=entropy, dataset=rows(),
                              train=["*lora*", "2.*"]).run()


@pytest.mark.usefixtures("zofl")
def test_segments_are_called_as_plans_call_them() -> None:
    names = ["a.b", "a_b", "plain", "base_model.model.model.layers.3.self_attn.q_proj.lora_A.weight"]
    found = zofl.plan(initial={n: np.ones(2) for n in names})["segments"]
    assert [s["name"] for s in found] == segments_of(sorted(names))


@pytest.mark.usefixtures("zofl")
@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_half_precision_beside_single(kind: Any) -> None:
    """x is float32 on both devices, bit for bit: a module of 16 bits gets rounded points."""
    one, two = head(), head()
    for p, q in zip(one.parameters(), two.parameters()):
        q.data.copy_(p.data.to(kind).float())
    one = one.to(kind)
    plan = zofl.torch.plan(two, "2.*", run="half", preset="decomfl", members=2, target=2, quorum=2,
                           rounds=6, step=0.1, mu=0.1)

    def square(model: Any, batch: Any) -> Any:
        p = model[2].weight
        assert p.dtype == (kind if model is one else torch.float32)
        return ((p.float() - 1) ** 2).mean() + (model[2].bias.float() ** 2).mean()

    with zofl.serve(plan) as server:
        first = zofl.torch.Device(server.url, dict(plan), "pi-1", one, loss=square).start()
        result = zofl.torch.Device(server.url, plan, "pi-2", two, loss=square).run()
        assert first.wait(300).digest == result.digest
    assert one[2].weight.equal(two[2].weight.to(kind)) and two[2].weight.dtype == torch.float32


def test_a_loss_that_changes_the_module(caplog: pytest.LogCaptureFixture) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.BatchNorm1d(5),
                              torch.nn.Dropout(0.5), torch.nn.Linear(5, 2))
    x = torch.stack([r[0] for r in rows()])

    def device(loss: Any, **more: Any) -> Any:
        return zofl.torch.Device("nats://127.0.0.1:1", "r", "pi-1", net, train="3.*", loss=loss,
                                 **more)

    def mean(model: Any) -> Any:
        return (model(x) ** 2).mean()

    def asked(d: Any, seed: int = 1) -> float:
        return float(d._functions.loss(d._tree.vector, of(seed)))

    still = device(mean)
    assert asked(still) == asked(still, 2) and not net.training
    assert "set to eval() while it is trained: BatchNorm1d" in caplog.text
    assert "changes" not in caplog.text
    still._setting.end()
    assert net.training
    own = device(mean, eval_mode=False)  # its draws are those of the minibatch
    assert asked(own, 1) == asked(own, 1) != asked(own, 2)
    assert "mean (test_torch.py:" in caplog.text
    assert caplog.text.count("changes 1.num_batches_tracked, a buffer of the module") == 1

    def decays(model: Any) -> Any:
        model[3].weight.mul_(0.5)
        model[0].bias.zero_()
        return mean(model)

    worn = device(decays)
    assert asked(worn) == asked(worn)
    assert "changes 3.weight, a trained parameter of the module: each loss begins" in caplog.text
    assert "changes 0.bias, a frozen parameter of the module: later losses begin" in caplog.text


def test_a_failing_loss_restores_the_tensors(zofl: Path, caplog: pytest.LogCaptureFixture) -> None:
    import zofl as package

    model, data = head(), rows()
    before = {n: p.detach().clone() for n, p in model.named_parameters()}
    plan = package.torch.plan(model, "*lora*", run="fails", preset="decomfl", members=1, rounds=5,
                              step=0.1, mu=0.01)

    def fails(model: Any, batch: Any) -> Any:
        if not model[0].lora_A.equal(before["0.lora_A"]):
            raise ZeroDivisionError("nothing to divide by")
        return entropy(model, batch)

    caplog.set_level(logging.CRITICAL)
    with package.serve(plan) as server, pytest.raises(package.Error, match="nothing to divide by"):
        package.torch.Device(server.url, plan, "pi-1", model, loss=fails, dataset=data).run()
    assert all(p.equal(before[n]) for n, p in model.named_parameters()) and model.training
    with pytest.raises(ZeroDivisionError):
        package.torch.minimize(fails, model, train="*lora*", dataset=data, progress=False)
    assert all(p.equal(before[n]) for n, p in model.named_parameters())


class Every(torch.nn.Module):
    """Takes numbers of its parameters in many ways."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.norm = torch.nn.Embedding(9, 6), torch.nn.LayerNorm(6)
        self.head = torch.nn.Linear(6, 9, bias=False)
        self.head.weight = self.words.weight
        self.filters = torch.nn.Conv1d(6, 4, 3, padding=1)
        self.planes = torch.nn.Conv2d(1, 3, 2, stride=2)
        self.memory = torch.nn.LSTM(4, 5, batch_first=True)
        self.mix = torch.nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)
        self.down, self.up = (torch.nn.Parameter(torch.randn(s)) for s in ((2, 6), (6, 2)))
        self.square, self.cube = (torch.nn.Parameter(torch.randn(s)) for s in ((6, 6), (2, 3, 4)))
        self.scale, self.stack = (torch.nn.Parameter(torch.randn(s)) for s in ((), (6, 6, 5)))

    def forward(self, ids: Any) -> Any:
        x = self.mix(self.norm(self.words(ids)))
        x = x + x @ self.down.T @ self.up.t() + x.matmul(self.square) * self.scale
        x = torch.addmm(self.square[0], x.reshape(-1, 6), self.square.transpose(0, 1)).view(x.shape)
        h, _ = self.memory(self.filters(x.transpose(1, 2)).transpose(1, 2))
        many = (x.reshape(-1, 6) @ self.stack).tanh().sum()
        many = many + torch.mm(x[0], mat2=self.square.transpose(dim0=0, dim1=1)).tanh().sum()
        odd = many + self.cube[1].sum() + (self.up @ self.down).sum()
        odd = odd + self.square[ids[0] % 6].prod(1).mean()
        return (self.head(x).logsumexp(-1).mean() + self.planes(x.unsqueeze(1)).tanh().mean()
                + h.tanh().sum() + odd + (self.square[:, 1] * 2).sum())


def factors(start: Any, seed: int = 1) -> Any:
    """Three points, the last of which is x."""
    shapes = [(s[0], leaf.start.size // s[0]) if len(s) > 1 else (0, leaf.start.size)
              for leaf in start.tree.leaves for s in [leaf.start.shape]]
    signs = np.random.default_rng(seed).choice([-1, 1], (3, sum(map(sum, shapes))))
    x = np.array(start.tree.vector)
    return zofl.Factors(x, np.float32([0.01, -0.01, 0]), signs.astype(np.int8), tuple(shapes), seed)


def near(model: Any, loss: Any) -> tuple[Points, list[float]]:
    """Losses by factors, which are those at the points written out, and leave the module plain."""
    start = Start(model, "*")
    points = factors(start)
    x, asked = points.x.copy(), Points(start, lambda model, batch: loss(model))
    with torch.no_grad():
        written = [float(loss(start.tree.unravel(points.point(i)))) for i in range(3)]
        start.tree.restore()
        found = [float(v) for v in asked(points, of())]
        assert found == [float(v) for v in asked(points, of())]
    assert np.array_equal(points.x, x) and np.allclose(found, written, 1e-5)
    assert all(type(p) is torch.nn.Parameter and not vars(p) for p in model.parameters())
    start.tree.restore()
    for p in model.parameters():  # in memory of its own
        assert not np.shares_memory(p.detach().numpy(), points.x)
    return asked, found


def test_points_of_rank_1_are_not_written() -> None:
    torch.manual_seed(3)
    net, ids = Every().eval(), torch.randint(0, 9, (3, 7))
    asked, found = near(net, lambda model: model(ids))
    assert not asked._written and len(set(found)) == 3

    def changes(model: Any) -> Any:
        before = model(ids)
        model.words.weight[0] = 0
        model.square.view(-1).clamp_(-1, 1)
        model.down.data.mul_(0.5)
        model.norm.bias += 1
        other = pickle.loads(pickle.dumps([copy.deepcopy(model.norm), model.square]))
        return before + model(ids) + other[0].bias.sum() + other[1].sum()

    asked, _ = near(net, changes)
    assert not asked._written

    def differentiates(model: Any) -> Any:
        with torch.enable_grad():
            return model(ids) + torch.autograd.grad(model(ids), model.square)[0].norm()

    asked, _ = near(net, differentiates)
    assert "square" in asked._written
    mixed = torch.nn.Sequential(torch.nn.Linear(6, 9), torch.jit.script(torch.nn.Linear(9, 6)))
    asked, _ = near(mixed, lambda model: model(torch.ones(2, 6)).square().sum())
    assert asked._written == {"1.bias", "1.weight"}


def test_layers_of_which_sums_are_made() -> None:
    """Some layers have no product by factors: grouped filters, words of a bounded norm, and
    products of two parameters."""
    torch.manual_seed(5)
    net, ids = torch.nn.Sequential(
        torch.nn.Embedding(9, 6, max_norm=1.0), torch.nn.Conv1d(6, 4, 3, groups=2, bias=False),
        torch.nn.Linear(6, 3, bias=False), torch.nn.Linear(6, 3, bias=False),
    ), torch.randint(0, 9, (3, 7))

    def loss(model: Any) -> Any:
        h = model[1](model[0](ids).transpose(1, 2))
        return h.tanh().mean() + torch.nn.functional.linear(model[2].weight, model[3].weight).mean()

    asked, found = near(net, loss)
    assert not asked._written and len(set(found)) == 3


def test_a_failing_loss_leaves_plain_parameters() -> None:
    start = Start(head(), "*")

    def fails(model: Any, batch: Any) -> Any:
        model[2].weight.mul_(2)
        raise ZeroDivisionError(type(model[2].weight).__name__)

    points = factors(start)
    before = points.x.copy()
    with torch.no_grad(), pytest.raises(ZeroDivisionError, match="Sheet"):
        Points(start, fails)(points, of())
    assert type(start.value[2].weight) is torch.nn.Parameter and (points.x == before).all()


def test_rank_1_beside_half_precision() -> None:
    torch.manual_seed(4)
    net = torch.nn.Sequential(torch.nn.Embedding(9, 64), torch.nn.Linear(64, 3)).bfloat16()
    start, ids = Start(net, "*"), torch.arange(9)
    points = factors(start)
    asked = Points(start, lambda model, batch: (model(ids).float() ** 2).mean())
    expected = []
    with torch.no_grad():
        found = [float(v) for v in asked(points, of())]
        single = net.float()
        for i in range(3):
            start.tree.unravel(points.point(i))
            expected.append(float((single(ids) ** 2).mean()))
    assert np.allclose(found, expected, 0.01) and len(set(found)) == 3


def test_rank_1_around_another_x() -> None:
    """A module of half precision holds a copy of x, which points of another x do not take."""
    start = Start(torch.nn.Linear(6, 3, bias=False).bfloat16(), "*")
    points = factors(start)
    moved = zofl.Factors(points.x + 1, points.scales, points.signs, points.shapes, version=2)
    asked = Points(start, lambda model, batch: (model(torch.ones(6).bfloat16()).float() ** 2).sum())

    def losses(points: Any) -> list[float]:
        with torch.no_grad():
            return [float(v) for v in asked(points, of())]

    first = losses(points)
    start.tree.unravel(moved.x)  # as an evaluation does
    assert losses(points) == first
    assert losses(moved)[2] > first[2] + 3


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_an_evaluation_takes_no_copy_and_does_no_harm(
        kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Metrics of the x that zofl shares, by a function that writes to it."""
    seen = []

    def metrics(model: Any, rows: Any) -> list[float]:
        seen.append(model.weight.detach().float().flatten().tolist())
        with torch.no_grad():
            model.weight += 1
        return [float(model.weight.float().mean())]

    device = zofl.torch.Device("nats://127.0.0.1:1", "harm", "d", torch.nn.Linear(
        6, 3, bias=False).to(kind), train="*", loss=lambda model, batch: (model(torch.ones(
            6, dtype=kind)).float() ** 2).sum(), compute_metrics=metrics)
    start: Any = device._initial
    points = factors(start)
    x = np.memmap(tmp_path / "x", "<f4", "w+", shape=(36,))  # and room for the signs
    x[:18], x.view(np.int8)[72:99] = points.x, points.signs.flat
    answers = Answers(device._functions, strict=True)
    asked = "loss n=2 step=0 size=0 seed=1 points=3 scales=0.01,-0.01,0 x={0}"
    assert answers.answer(f"map dim=18 points=3 factors=9 shapes=3x6 path={tmp_path / 'x'}") == "ok"
    first = answers.answer(asked.format(1))
    monkeypatch.setattr(type(start.tree), "own", lambda tree, name: pytest.fail("a copy"))
    for _ in range(2):
        answers.answer("evaluate x=1")
    assert seen[0] == seen[1] and np.allclose(seen[0], points.x, 0.01) and x[0] == points.x[0]
    assert answers.answer(asked.format(1)) == first
    x[:18] = 3
    answers.answer("evaluate x=2")
    assert seen[2] == [3] * 18 and answers.answer(asked.format(2)).endswith(" 972.0")
    monkeypatch.undo()
    answers.close()
    assert start.tree.unravel(points.x).weight.shape == (3, 6)


def test_matrices_of_other_rows_are_written() -> None:
    start = Start(torch.nn.Linear(6, 3, bias=False), "*")
    points = factors(start)
    turned = zofl.Factors(points.x, points.scales, points.signs, ((6, 3),), points.version)
    asked = Points(start, lambda model, batch: model(torch.arange(6.0)).square().sum())
    with torch.no_grad():
        found = [float(v) for v in asked(turned, of())]
    assert np.allclose(found, [((turned.point(i).reshape(3, 6) @ np.arange(6)) ** 2).sum()
                               for i in range(3)])


@pytest.mark.parametrize("kind, targets", [
    ("Llama", ["q_proj", "v_proj"]), ("Llama", ["embed_tokens", "down_proj"]), ("GPT2", ["c_attn"])])
def test_adapters_of_peft(kind: str, targets: list[str]) -> None:
    """Where PEFT is installed: .ci/setup leaves it out."""
    peft, hub = pytest.importorskip("peft"), pytest.importorskip("transformers")
    torch.manual_seed(6)
    sizes = {"vocab_size": 50, "num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32}
    more = {"intermediate_size": 64} if kind == "Llama" else {"bos_token_id": 0, "eos_token_id": 0}
    net = getattr(hub, f"{kind}LMHeadModel" if kind == "GPT2" else f"{kind}ForCausalLM")(
        getattr(hub, f"{kind}Config")(**sizes, **more))
    net = peft.get_peft_model(net, peft.LoraConfig(
        r=4, target_modules=targets, fan_in_fan_out=kind == "GPT2", task_type="CAUSAL_LM")).eval()
    start, ids = Start(net), torch.randint(0, 50, (3, 7))
    with torch.no_grad():
        for p in start.tree.parameters.values():  # B is zero at first
            p.normal_(0, 0.1)
    start = Start(net)
    points = factors(start)
    asked = Points(start, lambda model, batch: model(input_ids=ids, labels=ids).loss)
    with torch.no_grad():
        found = [float(v) for v in asked(points, of())]
        for i in range(3):
            start.tree.unravel(points.point(i))
            assert abs(float(net(input_ids=ids, labels=ids).loss) - found[i]) < 1e-5
    assert not asked._written and len(set(found)) == 3


@pytest.mark.usefixtures("zofl")
def test_rounding_that_hides_the_points_is_told(caplog: pytest.LogCaptureFixture) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(6, 80), torch.nn.LayerNorm(80)).bfloat16()

    def told(kind: str, mu: Any) -> str:
        plan = zofl.torch.plan(net, run="low", members=1, mu=mu, distribution=kind)
        caplog.clear()
        zofl.torch.Device("nats://127.0.0.1:1", plan, "pi-1", net, loss=len)
        return caplog.text

    assert "1.weight holds bfloat16: 100% of its numbers" in told("rademacher", 1e-3)
    assert "1.weight holds bfloat16: 100% of its numbers" in told("lowrank", 1e-3)
    assert not told("rademacher", "auto") and not told("rademacher", 0.1)
    torch.nn.init.zeros_(net[0].bias)
    net[1].float()
    assert "0.weight holds bfloat16" in told("rademacher", 1e-4) and not told("lowrank", 1e-4)


@pytest.mark.usefixtures("zofl")
def test_directions_of_rank_1() -> None:
    """The plan knows which tensors are matrices, and a module has to have the same ones."""
    net = torch.nn.Sequential(torch.nn.Linear(6, 80), torch.nn.Tanh(), torch.nn.Linear(80, 3))
    plan = zofl.torch.plan(net, run="low", preset="decomfl", members=1, rounds=3, step=0.1, mu=0.01,
                           distribution="lowrank")
    assert [s.get("rows", 0) for s in plan["segments"]] == [0, 80, 0, 3]
    x, kinds = torch.ones(4, 6), set()

    def seen(model: Any) -> Any:
        kinds.add(type(model[0].weight).__name__)
        return (model(x) ** 2).mean()

    with zofl.serve(plan) as server:
        result = zofl.torch.Device(server.url, dict(plan), "pi-1", net,
                                   loss=seen).run()
    assert kinds == {"Sheet"} and not vars(net[0].weight)
    assert result.ended and net[0].weight.flatten().tolist() == result.model[80:560].tolist()
    net[2] = torch.nn.Linear(120, 2)  # as many parameters, in other rows
    with pytest.raises(zofl.UsageError, match="2.bias has the shape"):
        zofl.torch.Device(server.url, plan, "pi-1", torch.nn.Sequential(*net), loss=len, train="*")
    net[2] = torch.nn.Linear(80, 3)
    net[0].weight = torch.nn.Parameter(torch.ones(6, 80))
    with pytest.raises(zofl.UsageError, match=r"0.weight has the shape \(6, 80\).* and 80 rows"):
        zofl.torch.Device(server.url, plan, "pi-1", torch.nn.Sequential(*net), loss=len, train="*")


@pytest.mark.usefixtures("zofl")
def test_minimize_metrics_and_gradients() -> None:
    model, data = head(), rows()

    def accuracy(model: Any, data: Any) -> dict[str, float]:
        right = [int(model(x).argmax()) == y for x, y in data]
        return {"accuracy": sum(right) / len(right), "wrong": float(right.count(False))}

    r = zofl.torch.minimize(entropy, model, train="*", dataset=data, gradient=True, rounds=20,
                            compute_metrics=accuracy, metrics=["accuracy"], eval_every=10,
                            progress=False)
    assert r.success and r.x is model and r.fun < 0.7 * r.fun0
    assert r.metrics["accuracy"][-1] == accuracy(model, data)["accuracy"] > 0.7
    assert all(p.grad is None and p.requires_grad for p in model.parameters())
    frozen = head().requires_grad_(False)
    zofl.torch.minimize(entropy, frozen, train="2.*", dataset=data, gradient=True, rounds=2,
                        progress=False)
    assert not any(p.requires_grad for p in frozen.parameters())


@pytest.mark.usefixtures("zofl")
def test_many_points_at_once_and_saving(tmp_path: Path) -> None:
    model, data = head(), rows()
    x, y = torch.stack([r[0] for r in data]), torch.tensor([r[1] for r in data])

    def many(model: Any, points: dict[str, Any], batch: Any) -> Any:
        hidden = torch.tanh(model[0](x))
        logits = hidden @ points["2.weight"].transpose(1, 2) + points["2.bias"][:, None]
        return torch.stack([torch.nn.functional.cross_entropy(part, y) for part in logits])

    plan = zofl.torch.plan(model, "2.*", run="many", preset="decomfl", members=1, rounds=4,
                           step=0.1, mu=0.01)
    with zofl.serve(plan) as server:
        device = zofl.torch.Device(server.url, plan, "pi-1", model, losses=many)
        with pytest.raises(zofl.UsageError, match="Sequential has no save_pretrained: use torch.sav"):
            device.save_pretrained(tmp_path / "model")
        model.save_pretrained = lambda path: torch.save(model.state_dict(), path)
        result = device.run()
        device.save_pretrained(tmp_path / "model")
    saved = torch.load(tmp_path / "model")
    assert saved["2.bias"].tolist() == result.model[:2].tolist() != head()[2].bias.tolist()


def test_minibatches() -> None:
    seen: list[list[int]] = []

    def collate(items: list[int]) -> Any:
        seen.append(items)
        return {"x": torch.tensor(items), "names": [str(i) for i in items]}

    data = Data(range(20), collate, torch.device("cpu"))
    first = data.of(of(5, 4))
    assert data.of(of(5, 4)) is first and len(seen) == 1
    assert seen[0] == of(5, 4).choose(20).tolist() == first["x"].tolist()
    assert len(data.of(of(6))["names"]) == 20

    class Many(list):  # type: ignore[type-arg]
        def __getitems__(self, chosen: list[int]) -> list[int]:
            return [10 * self[i] for i in chosen]

    assert Data(Many([1, 2]), None, torch.device("cpu")).of(of()).tolist() == [10, 20]
    with pytest.raises(TypeError, match="dataset is a generator: give what has a length"):
        Data((i for i in range(3)), None, None)
    with pytest.raises(ValueError, match="no rows"):
        Data([], None, None)
    with pytest.raises(zofl.UsageError, match="loss is missing"):
        zofl.torch.Device("nats://127.0.0.1:1", "r", "pi-1", head())


class Answering(torch.nn.Module):
    """Computes its own loss, as models of transformers do."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x: Any, labels: Any = None) -> Any:
        return {"loss": ((self.scale * x - labels) ** 2).mean()} if labels is not None else {}


@pytest.mark.usefixtures("zofl")
def test_the_page() -> None:
    page = ROOT / "docs/torch.md"
    (line, text), = blocks(page)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile("\n" * line + text, str(page), "exec"), names)
    assert names["result"].ended and names["result"].x is names["model"]


@pytest.mark.usefixtures("zofl")
def test_a_model_with_its_own_loss() -> None:
    model, data = Answering(), [{"x": float(i), "labels": 2.0 * i} for i in range(5)]
    r = zofl.torch.minimize(None, model, dataset=data, rounds=40, progress=False)
    assert abs(float(model.scale) - 2) < 0.1 and r.fun < r.fun0 / 10
    with pytest.raises(TypeError, match="the model returned no loss"):
        zofl.torch.minimize(None, Answering(), dataset=[{"x": 1.0}], progress=False)
    with pytest.raises(TypeError, match="loss is missing: .* no mappings of names, but (list|tuple)"):
        zofl.torch.minimize(None, Answering(), dataset=[(1.0, 2.0)], progress=False)


def test_the_package_does_not_import_torch() -> None:
    said = subprocess.run(
        [sys.executable, "-c", "import json, sys, zofl; print(json.dumps('torch' in sys.modules)); "
         "zofl.torch.Device; print(json.dumps('torch' in sys.modules))"],
        env={"PYTHONPATH": str(ROOT / "python/src")}, capture_output=True, text=True, check=True)
    assert [json.loads(line) for line in said.stdout.splitlines()] == [False, True]
