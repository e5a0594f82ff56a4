"""The language model in torch, a function of its weights: for pretraining and backpropagation."""

import torch
from torch.nn import functional


def start(sizes, seed):
    """Returns random weights."""
    random = torch.Generator().manual_seed(seed)
    out = {}
    for name, shape in sizes.weights():
        if name.endswith("scale"):
            w = torch.ones(shape)
        elif name.endswith("shift"):
            w = torch.zeros(shape)
        elif name in ("bytes", "places"):
            w = 0.02 * torch.randn(shape, generator=random)
        else:
            w = torch.randn(shape, generator=random) * shape[0] ** -0.5
            if name.endswith(("out", "down")):  # what is added up over the layers
                w *= (2 * sizes.layers) ** -0.5
        out[name] = w
    return out


def logits(sizes, w, inputs, factors=None):
    """Returns the scores of the next byte after each input. factors are LoRA's A and B by name."""
    rows, length = inputs.shape
    heads, d = sizes.heads, sizes.width
    factors = factors or {}

    def norm(x, name):
        return functional.layer_norm(x, (d,), w[name + ".scale"], w[name + ".shift"])

    def linear(x, name):
        y = x @ w[name]
        if name + ".A" in factors:
            y = y + (x @ factors[name + ".A"]) @ factors[name + ".B"]
        return y

    def split(x):
        return x.view(rows, length, heads, d // heads).transpose(1, 2)

    ahead = torch.full((length, length), -1e9).triu(1)
    x = w["bytes"][inputs] + w["places"][:length]
    for i in range(sizes.layers):
        layer = f"layer{i}."
        h = norm(x, layer + "norm1")
        q, k, v = (split(linear(h, layer + name)) for name in ("q", "k", "v"))
        scores = (q @ k.transpose(2, 3)) * (d // heads) ** -0.5 + ahead
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(rows, length, d)
        x = x + linear(mixed, layer + "out")
        h = norm(x, layer + "norm2")
        x = x + linear(linear(h, layer + "up").relu(), layer + "down")
    return norm(x, "norm") @ w["head"]


def loss(sizes, w, rows, factors=None):
    """Returns the mean cross-entropy of rows of context+1 tokens, in nats a byte."""
    scores = logits(sizes, w, rows[:, :-1], factors)
    return functional.cross_entropy(scores.reshape(-1, sizes.vocabulary), rows[:, 1:].reshape(-1))
