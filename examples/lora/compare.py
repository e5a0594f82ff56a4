"""Fine-tunes a language model on ten devices by MeZO, DeComFL and the preset zofl, at equal
queries, and prints the perplexity on held-out text, and the bytes of a device.

    python3 compare.py --zofl zofl model.onnx texts --rounds 100

A query is one loss of one minibatch. MeZO is a single device that has all ten texts, as in the
papers; the others are ten devices with one text each.
"""

import argparse
import pathlib
import signal
import sys
import tempfile
import time

import numpy as np

import judge
import text
from device import Model
from run import Run

DEVICES = [f"dev-{i}" for i in range(10)]

# What each method runs with besides its preset's choices, the queries of a round in which every
# device takes part, and those before the first. The steps of MeZO and DeComFL are the best that
# --set step found for 100 rounds; zofl finds its own, by 36 queries of each device.
METHODS = {
    "mezo": ({"step": 5e-3}, ["all"], 2, 0),
    "decomfl": ({"step": 0.2}, DEVICES, 110, 0),
    "zofl": ({}, DEVICES, 110, 360),
}


def setting(word):
    name, _, value = word.partition("=")
    return name, value


def fine_tune(args, method, directory):
    """Runs a method, and prints its row."""
    own, names, queries, before = METHODS[method]
    settings = {"batch": args.batch, **own, **dict(args.set)}
    settings["rounds"] = (args.rounds * 110 - before) // queries
    model, texts = Model(args.model), text.read(args.texts)
    rows = judge.held_out(model, texts)
    begin = time.monotonic()
    run = Run(args.zofl, directory / method, method, settings, names, args.model, args.texts,
              model.sizes.dim())  # fmt: skip
    took = time.monotonic() - begin
    if set(run.digests) != {run.verify()}:
        raise SystemExit(f"{method}: digests differ: {run.digests}")
    zeros = np.zeros(model.sizes.dim(), np.float32)
    course = [judge.perplexity(model, rows, zeros)]
    for part in range(1, 5):
        course.append(judge.perplexity(model, rows, run.after(run.records * part // 4)))
    print(
        f"{method:8} queries {run.queries:7} perplexity " + " ".join(f"{p:.3f}" for p in course),
        f"bytes of a device {max(map(sum, zip(run.sent, run.received)))}",
        f"digest {run.digests[0][:12]} {took:.0f} s",
        flush=True,
    )
    return run, course


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("model")
    flags.add_argument("texts")
    flags.add_argument("--zofl", default="zofl", help="the program")
    flags.add_argument("--rounds", type=int, default=100, help="of ten devices with ten directions")
    flags.add_argument("--batch", type=int, default=2, help="windows of text in a minibatch")
    flags.add_argument("--methods", default=",".join(METHODS))
    flags.add_argument("--set", type=setting, action="append", default=[], metavar="FIELD=VALUE")
    flags.add_argument("--keep", type=pathlib.Path, help="a new directory for plans and logs")
    args = flags.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and end what was started
    with tempfile.TemporaryDirectory() as scratch:
        for method in args.methods.split(","):
            fine_tune(args, method, args.keep or pathlib.Path(scratch))


if __name__ == "__main__":
    main()
