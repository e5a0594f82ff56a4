"""What a loss of zofl.torch costs beside a plain forward pass: python3 tests/torchcost.py [--help].

All parameters of a transformer of SmolLM2-135M's shape are trained, on one thread. Nothing is
fetched: the weights are random. Seconds are those of the processor, the least of some.
"""

from __future__ import annotations

import argparse
import mmap
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import zofl
from zofl.batch import Batch

KINDS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class Block(torch.nn.Module):
    """Attention and a gated layer, as in SmolLM2."""

    def __init__(self, width: int, inner: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.q, self.o = (torch.nn.Linear(width, width, bias=False) for _ in range(2))
        self.k, self.v = (torch.nn.Linear(width, width // 3, bias=False) for _ in range(2))
        self.gate, self.up = (torch.nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = torch.nn.Linear(inner, width, bias=False)

    def forward(self, x: Any) -> Any:
        many, long, width = x.shape
        h = self.before(x)
        q, k, v = (f(h).view(many, long, -1, width // self.heads).transpose(1, 2)
                   for f in (self.q, self.k, self.v))
        k, v = (t.repeat_interleave(3, 1) for t in (k, v))
        mask = torch.full((long, long), -1e4, dtype=x.dtype).triu(1)
        score = (q @ k.transpose(2, 3) / (width / self.heads) ** 0.5 + mask).softmax(-1)
        x = x + self.o((score @ v).transpose(1, 2).reshape(x.shape))
        h = self.between(x)
        return x + self.down(torch.nn.functional.silu(self.gate(h)) * self.up(h))


class Model(torch.nn.Module):
    def __init__(self, layers: int, width: int = 576, inner: int = 1536, words: int = 49152) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(words, width)
        self.layers = torch.nn.ModuleList(Block(width, inner, 9) for _ in range(layers))
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, ids: Any) -> Any:
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)[:, -1] @ self.words.weight[:2].T  # two words' logits, as in a verbalizer


def spent(f: Callable[[], Any]) -> float:
    """Processor seconds of a call."""
    begin = time.process_time()
    f()
    return time.process_time() - begin


def memory() -> tuple[int, int]:
    """MB of this process: its own, and those of files and shared maps."""
    said = dict(line.split(":") for line in open("/proc/self/status") if line.startswith("Rss"))
    mb = {name: int(text.split()[0]) // 1000 for name, text in said.items()}
    return mb["RssAnon"], mb["RssFile"] + mb["RssShmem"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kind", choices=KINDS, default="float32", help="of the weights")
    parser.add_argument("--layers", type=int, default=30)
    parser.add_argument("--rows", type=int, default=16, help="sentences of a minibatch")
    parser.add_argument("--words", type=int, default=32, help="of a sentence")
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--train", default="*")
    parser.add_argument("--lowrank", action="store_true", help="a point of rank 1, by its factors")
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = Model(given.layers).to(KINDS[given.kind]).eval()
    ids = torch.randint(0, 49152, (given.rows, given.words))

    def loss(model: Any) -> Any:
        labels = torch.zeros(given.rows, dtype=torch.long)
        return torch.nn.functional.cross_entropy(model(ids).float(), labels)

    with torch.no_grad():
        loss(model)
        own, shared = memory()
        print(f"forward pass: {own} MB and {shared} MB of files")
        device = zofl.torch.Device("nats://127.0.0.1:1", "cost", "d", model, loss=loss,
                                   train=given.train)
        tree, batch = device._tree, Batch(1, 0, 0, 1, "d", 600.0)
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
            file.write(tree.vector.data)
            file.flush()
            x = np.frombuffer(mmap.mmap(file.fileno(), 4 * tree.dim), np.float32)
            if given.lowrank:
                points = factors(tree, x)
                call = lambda: device._functions.factors(points, batch)  # noqa: E731
            else:
                call = lambda: device._functions.loss(x, batch)  # noqa: E731
            call()
            own, shared = memory()
            times = []
            for _ in range(given.times):
                with device.holding() as plain:
                    times.append((spent(lambda: loss(plain)), spent(call)))
            plain_, at = (min(t) for t in zip(*times))
        print(f"loss of zofl.torch at {tree.dim:,} parameters: {at:.3f} s, {at / plain_:.3f} times a "
              f"forward pass of {plain_:.3f} s; {own} MB and {shared} MB of files and maps")


def factors(tree: Any, x: Any) -> zofl.Factors:
    """One point of rank 1 beside x."""
    shapes = [(s[0], leaf.start.size // s[0]) if len(s) > 1 else (0, leaf.start.size)
              for leaf in tree.leaves for s in [leaf.start.shape]]
    signs = np.random.default_rng(1).choice([-1, 1], (1, sum(map(sum, shapes)))).astype(np.int8)
    return zofl.Factors(x, np.array([1e-3], np.float32), signs, tuple(shapes), 1)


if __name__ == "__main__":
    main()
