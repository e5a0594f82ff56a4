"""A device of the language model: answers `zofl exec` and `zofl simulate` with losses on its book.

    zofl exec RUN --id dev-03 -- python3 device.py model.onnx texts

texts is a directory of files, 0.txt to 9.txt. A device has the one whose number its name ends in;
a device whose name has no number has all. It trains on the first four fifths, and evaluates on the
last.
The protocol is docs/exec.md's.
"""

import json
import re
import sys

import numpy as np
import onnxruntime

import text
from sizes import Sizes, cut

HELD_OUT = 64  # windows of held-out text, at most, that evaluate looks at
TOGETHER = 32  # windows that the engine takes at once


class Model:
    """The graph in ONNX Runtime on one thread."""

    def __init__(self, path, rounded=False):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        if not rounded:
            # Otherwise the engine rounds what flows between layers to 8 bits too, and a loss has
            # steps of 1e-4: too coarse for differences over a small mu.
            options.add_session_config_entry("session.disable_quant_qdq", "1")
        cpu = ["CPUExecutionProvider"]
        self.session = onnxruntime.InferenceSession(path, options, providers=cpu)
        properties = self.session.get_modelmeta().custom_metadata_map
        self.sizes = Sizes(**json.loads(properties["sizes"]))

    def loss(self, x, rows):
        """Returns the mean loss of parameters x on rows of tokens, in nats a byte."""
        total, factors = 0.0, cut(self.sizes, x)
        for at in range(0, len(rows), TOGETHER):
            part = rows[at : at + TOGETHER]
            total += self.session.run(None, {"rows": part, **factors})[0].sum(dtype=np.float64)
        return float(total / (len(rows) * self.sizes.context))


def texts_of(device, texts):
    """The texts of a device: all if its name does not end in a number."""
    digits = re.search(r"\d+$", device)
    return [texts[int(digits[0]) % len(texts)]] if digits else texts


class Device:
    """Answers requests, for one device or many."""

    def __init__(self, model, texts):
        self.model, self.texts = model, texts
        self.x = None  # points x dim

    def rows(self, args):
        """The minibatch that a request asks for."""
        books = [text.halves(book)[0] for book in texts_of(args["device"], self.texts)]
        context, size = self.model.sizes.context, int(args["size"])
        if size == 0:
            return self.spread(books)
        draw = np.random.default_rng(int(args["seed"]))
        chosen = [books[i] for i in draw.integers(0, len(books), size)]
        return np.concatenate(
            [text.windows(book, [draw.integers(len(book) - context)], context) for book in chosen]
        )

    def spread(self, books):
        context = self.model.sizes.context
        return np.concatenate(
            [text.windows(book, text.spread(book, context, HELD_OUT), context) for book in books]
        )

    def hello(self, _):
        return f"hello 1 dim={self.model.sizes.dim()} points=64 evaluate=1"

    def map(self, args):
        shape = int(args["points"]), int(args["dim"])
        self.x = np.memmap(args["path"], "<f4", "r", shape=shape)
        return "ok"

    def loss(self, args):
        rows, points = self.rows(args), self.x[: int(args["points"])]
        return "loss " + " ".join(repr(self.model.loss(x, rows)) for x in points)

    def evaluate(self, args):
        rows = self.spread([text.halves(book)[1] for book in texts_of(args["device"], self.texts)])
        return f"metrics {self.model.loss(self.x[0], rows)!r} samples={len(rows)}"


def arguments(line):
    """Reads key=value words. A path is the rest of its line."""
    head, _, path = line.partition(" path=")
    args = dict(word.split("=", 1) for word in head.split() if "=" in word)
    return args | ({"path": path} if path else {})


def answer(device, line):
    verb = line.split(" ", 1)[0]
    handler = {
        "hello": device.hello,
        "map": device.map,
        "loss": device.loss,
        "evaluate": device.evaluate,
    }.get(verb)
    if handler is None:
        return f"error {verb} is not known"
    try:
        return handler(arguments(line))
    except Exception as err:  # whatever it is, it costs a round and not the device
        return "error " + " ".join(str(err).split())


def main():
    model, texts = sys.argv[1], sys.argv[2]
    device = Device(Model(model, rounded="--rounded" in sys.argv[3:]), text.read(texts))
    for line in sys.stdin:
        print(answer(device, line.rstrip("\n")), flush=True)


if __name__ == "__main__":
    main()
