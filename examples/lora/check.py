"""Checks the example end to end on small sizes: ten devices fine-tune a transformer of 33,000
weights, by each method, over a real broker.

    python3 check.py ZOFL
"""

import argparse
import pathlib
import tempfile

import numpy as np
import onnx

import compare
import export
import judge
import text
from device import Device, Model
from weights import first_factors, load

TESTDATA = pathlib.Path(__file__).parent / "testdata"
MOST = 1_000_000  # bytes of a device in all
# Steps for the small model. zofl finds its own.
STEPS = {"mezo": [("step", 5e-3)], "decomfl": [("step", 0.1)]}


def want(condition, what):
    if not condition:
        raise SystemExit(f"check.py: {what}")


def check_rows(device):
    """The same seed draws the same text, another seed or device another."""

    def rows(name, seed):
        return device.rows({"device": name, "size": "4", "seed": str(seed)}).tolist()

    want(rows("dev-1", 2**64 - 1) == rows("dev-1", 2**64 - 1), "a seed draws different minibatches")
    want(rows("dev-1", 1) != rows("dev-1", 2), "different seeds draw the same minibatch")
    want(rows("dev-1", 1) != rows("dev-2", 1), "different devices draw the same text")


def check_factors(model, rows):
    """Any A changes nothing while B is zero; B does."""
    x = np.zeros(model.sizes.dim(), np.float32)
    start = model.loss(x, rows)
    spans, at = {}, 0
    for name, (a, b) in model.sizes.factors():
        spans[name], at = slice(at, at + a * b), at + a * b
    for name, span in spans.items():
        moved = x.copy()
        moved[span] = 0.5
        changed = model.loss(moved, rows) != start
        want(changed == name.endswith(".B"), f"{name} alone: changed = {changed}")


def check_methods(zofl, model, texts, directory, rounds):
    """Perplexity falls by each method, bytes stay few, and replicas agree."""
    flags = argparse.Namespace(zofl=zofl, model=model, texts=texts, rounds=rounds, batch=4)
    for method in compare.METHODS:
        flags.set = STEPS.get(method, [])
        run, course = compare.fine_tune(flags, method, directory)
        want(course[-1] < course[0], f"{method}: perplexity {course[0]} became {course[-1]}")
        if method != "mezo":  # which is alone, and talks to nobody but itself
            most = max(map(sum, zip(run.sent, run.received)))
            want(most < MOST, f"{method}: {most} bytes of a device, want less than {MOST}")


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("zofl")
    flags.add_argument("--rounds", type=int, default=60)
    args = flags.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        path, texts = directory / "tiny.onnx", TESTDATA / "texts"
        sizes, weights = load(TESTDATA / "tiny.npz")
        onnx.save(export.model(sizes, weights, first_factors(sizes, 1)), path)
        model, books = Model(path), text.read(texts)
        check_rows(Device(model, books))
        check_factors(model, judge.held_out(model, books)[0])
        check_methods(args.zofl, path, texts, directory, args.rounds)
    print("check.py: all is well")


if __name__ == "__main__":
    main()
