"""Fine-tunes the LoRA factors by backpropagation with torch, on the weights of the ONNX model as it
rounded them: what the devices could reach if they could differentiate.

    python3 backprop.py model.npz texts --steps 300

Every step takes a minibatch of each device, and Adam the mean gradient.
"""

import argparse
import math
import time

import numpy as np
import torch

import network
import text
from sizes import cut
from weights import first_factors, in_bytes, load


def rounded(weights):
    """The weights as the ONNX model has them: matrices of 8 bits."""
    out = {}
    for name, w in weights.items():
        if w.ndim == 2:
            whole, scale = in_bytes(w)
            w = whole * scale
        out[name] = torch.tensor(w)
    return out


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("weights")
    flags.add_argument("texts")
    flags.add_argument("--steps", type=int, default=300)
    flags.add_argument("--batch", type=int, default=4, help="windows of a device")
    flags.add_argument("--step", type=float, default=2e-3)
    flags.add_argument("--seed", type=int, default=1)
    flags.add_argument("--every", type=int, default=50, help="steps between evaluations")
    args = flags.parse_args()
    torch.set_num_threads(1)
    sizes, weights = load(args.weights)
    start = {name: torch.tensor(a) for name, a in first_factors(sizes, args.seed).items()}
    weights = rounded(weights)
    halves = [text.halves(book) for book in text.read(args.texts)]
    held = [
        torch.tensor(text.windows(book, text.spread(book, sizes.context, 64), sizes.context))
        for _, book in halves
    ]
    x = torch.zeros(sizes.dim(), requires_grad=True)

    def factors():
        trained = cut(sizes, x).items()
        return {name: f + start[name] if name in start else f for name, f in trained}

    def report(step):
        with torch.no_grad():
            each = [network.loss(sizes, weights, rows, factors()).item() for rows in held]
        perplexity = math.exp(sum(each) / len(each))
        took = time.monotonic() - begin
        print(f"step {step} perplexity {perplexity:.3f} {took:.0f} s", flush=True)

    draw = np.random.default_rng(args.seed)
    adam = torch.optim.Adam([x], lr=args.step)
    begin = time.monotonic()
    for step in range(args.steps + 1):
        if step % args.every == 0:
            report(step)
        for group in adam.param_groups:
            group["lr"] = args.step * (0.5 + 0.5 * math.cos(math.pi * step / args.steps))
        rows = []
        for book, _ in halves:
            starts = draw.integers(0, len(book) - sizes.context, args.batch)
            rows.append(text.windows(book, starts, sizes.context))
        loss = network.loss(sizes, weights, torch.tensor(np.concatenate(rows)), factors())
        adam.zero_grad()
        loss.backward()
        adam.step()


if __name__ == "__main__":
    main()
