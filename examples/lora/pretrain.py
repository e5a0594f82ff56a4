"""Pretrains the language model with torch on the Bible's stories, and stores its float weights.

    python3 pretrain.py --write model.npz

It needs Debian's python3-torch, libopenblas0, bible-kjv and bible-kjv-text. It stores the weights
every 500 steps.
"""

import argparse
import math
import time

import numpy as np
import torch

import network
import text
from sizes import Sizes
from weights import save


def arrays(weights):
    return {name: w.detach().numpy() for name, w in weights.items()}


def share(step, steps):
    """The share of the step size: a line up for a hundredth of the steps, half a cosine down."""
    warm = max(1, steps // 100)
    return min(step / warm, 0.5 + 0.5 * math.cos(math.pi * step / steps))


def train(sizes, stories, args):
    """Trains by Adam, and returns the weights."""
    weights = network.start(sizes, args.seed)
    for w in weights.values():
        w.requires_grad_()
    adam = torch.optim.AdamW(weights.values(), lr=args.step, betas=(0.9, 0.98), weight_decay=0.01)
    draw = np.random.default_rng(args.seed)
    seen, begin = 0.0, time.monotonic()
    for step in range(1, args.steps + 1):
        for group in adam.param_groups:
            group["lr"] = args.step * share(step, args.steps)
        starts = draw.integers(0, len(stories) - sizes.context, args.batch)
        rows = torch.tensor(text.windows(stories, starts, sizes.context))
        loss = network.loss(sizes, weights, rows)
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(weights.values()), 1.0)
        adam.step()
        seen += loss.item()
        if step % 100 == 0:
            perplexity, seen = math.exp(seen / 100), 0.0
            took = time.monotonic() - begin
            print(f"step {step} perplexity {perplexity:.3f} {took:.0f} s", flush=True)
        if step % 500 == 0:
            save(args.write, sizes, arrays(weights))
    return weights


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--write", default="model.npz")
    flags.add_argument("--steps", type=int, default=2400)
    flags.add_argument("--batch", type=int, default=32)
    flags.add_argument("--step", type=float, default=2e-3)
    flags.add_argument("--seed", type=int, default=1)
    for field, value in Sizes().fields().items():
        flags.add_argument("--" + field, type=int, default=value)
    args = flags.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    sizes = Sizes(**{field: getattr(args, field) for field in Sizes().fields()})
    all_books = text.books()
    stories = text.tokens("".join(all_books[name] for name in text.STORIES.split()))
    count = sum(math.prod(shape) for _, shape in sizes.weights())
    print(f"{count} weights, {sizes.dim()} of LoRA, {len(stories)} bytes of stories", flush=True)
    save(args.write, sizes, arrays(train(sizes, stories, args)))


if __name__ == "__main__":
    main()
