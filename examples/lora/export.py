"""Writes the pretrained model as an ONNX graph with weights of 8 bits, whose inputs are text and
the LoRA factors, and whose output is the loss of each byte.

    python3 export.py model.npz model.onnx

Trained factors are added to a fixed start: A to small random numbers, B to zeros. So all parameters
at zero are the pretrained model, and a plan's model may start there.
"""

import argparse
import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from weights import first_factors, in_bytes, load

OPSET = 17
EPSILON = 1e-5  # of layer norms, as torch has it


class Graph:
    """Nodes and constants of a graph that grows from inputs to outputs."""

    def __init__(self, weights):
        self.weights = weights
        self.nodes, self.constants, self.named = [], [], set()

    def constant(self, name, value):
        if name not in self.named:
            self.named.add(name)
            self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def shape(self, *sides):
        return self.constant("shape" + "x".join(map(str, sides)), np.array(sides, np.int64))

    def node(self, kind, *inputs, **attributes):
        out = f"{kind}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [out], name=out, **attributes))
        return out

    def weight(self, name):
        """A weight matrix of 8 bits."""
        w, scale = in_bytes(self.weights[name])
        self.constant(name, w)
        self.constant(name + ".scale8", scale)
        return self.node("DequantizeLinear", name, name + ".scale8", axis=1)

    def norm(self, x, name):
        scale = self.constant(name + ".scale", self.weights[name + ".scale"])
        shift = self.constant(name + ".shift", self.weights[name + ".shift"])
        return self.node("LayerNormalization", x, scale, shift, epsilon=EPSILON)

    def linear(self, x, name):
        return self.node("MatMul", x, self.weight(name))

    def adapted(self, x, name):
        """A linear map and the product of its LoRA factors."""
        start = self.constant(name + ".A0", self.weights[name + ".A0"])
        a = self.node("Add", start, name + ".A")
        low = self.node("MatMul", self.node("MatMul", x, a), name + ".B")
        return self.node("Add", self.linear(x, name), low)


def attention(g, sizes, x, layer):
    d, heads = sizes.width, sizes.heads
    split = g.shape(0, sizes.context, heads, d // heads)
    q, k, v = g.adapted(x, layer + "q"), g.linear(x, layer + "k"), g.adapted(x, layer + "v")
    q = g.node("Transpose", g.node("Reshape", q, split), perm=[0, 2, 1, 3])
    k = g.node("Transpose", g.node("Reshape", k, split), perm=[0, 2, 3, 1])
    v = g.node("Transpose", g.node("Reshape", v, split), perm=[0, 2, 1, 3])
    narrow = g.constant("narrow", np.float32((d // heads) ** -0.5))
    ahead = g.constant("ahead", np.triu(np.full((sizes.context,) * 2, -1e9, np.float32), 1))
    scores = g.node("Add", g.node("Mul", g.node("MatMul", q, k), narrow), ahead)
    mixed = g.node("MatMul", g.node("Softmax", scores, axis=-1), v)
    mixed = g.node("Transpose", mixed, perm=[0, 2, 1, 3])
    return g.linear(g.node("Reshape", mixed, g.shape(0, sizes.context, d)), layer + "out")


def losses(g, sizes, rows):
    """The loss of each byte of rows of context+1 bytes but the first."""
    context = sizes.context
    inputs = g.node("Slice", rows, g.shape(0), g.shape(context), g.shape(1))
    targets = g.node("Slice", rows, g.shape(1), g.shape(context + 1), g.shape(1))
    x = g.node("Add", g.node("Gather", g.weight("bytes"), inputs), g.weight("places"))
    for i in range(sizes.layers):
        layer = f"layer{i}."
        x = g.node("Add", x, attention(g, sizes, g.norm(x, layer + "norm1"), layer))
        up = g.node("Relu", g.linear(g.norm(x, layer + "norm2"), layer + "up"))
        x = g.node("Add", x, g.linear(up, layer + "down"))
    scores = g.node("LogSoftmax", g.linear(g.norm(x, "norm"), "head"), axis=-1)
    targets = g.node("Unsqueeze", targets, g.shape(2))
    chosen = g.node("GatherElements", scores, targets, axis=2)
    return g.node("Neg", g.node("Squeeze", chosen, g.shape(2)))


def model(sizes, weights, start):
    """Returns the ONNX model. start has the first A of LoRA."""
    g = Graph(weights | {name + "0": a for name, a in start.items()})
    out = losses(g, sizes, "rows")
    g.nodes.append(helper.make_node("Identity", [out], ["losses"]))
    inputs = [helper.make_tensor_value_info("rows", TensorProto.INT64, ["n", sizes.context + 1])]
    for name, shape in sizes.factors():
        inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    outputs = [helper.make_tensor_value_info("losses", TensorProto.FLOAT, ["n", sizes.context])]
    graph = helper.make_graph(g.nodes, "language", inputs, outputs, g.constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    helper.set_model_props(made, {"sizes": json.dumps(sizes.fields())})
    onnx.checker.check_model(made, full_check=True)
    return made


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("weights")
    flags.add_argument("write")
    flags.add_argument("--seed", type=int, default=1, help="of LoRA's A")
    args = flags.parse_args()
    sizes, weights = load(args.weights)
    made = model(sizes, weights, first_factors(sizes, args.seed))
    onnx.save(made, args.write)
    print(f"{args.write}: {made.ByteSize()} bytes, dim={sizes.dim()}")


if __name__ == "__main__":
    main()
