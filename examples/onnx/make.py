"""Makes the classifier, and the pictures of cameras that have changed.

    python make.py DIR

DIR/model.onnx has weights of int8, activations of uint8 and these inputs:

    images    uint8 [N, 784]
    adapters  float32 [Q, DIM]: points at which the model is asked, zeros for the model as it was

and the output logits, float32 [Q, N, 10]. The adapters of a point are a gain and an offset for each
of the hidden units, and an offset for each of the ten digits.

DIR/camera-1 to camera-4 have the pictures of a device each, DIR/test those that no device sees:
NAME.images has 784 bytes a picture, NAME.labels one. DIR/clean is test without the change.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import digits

PIXELS, HIDDEN, CLASSES = digits.SIZE**2, 64, 10
DIM = 2 * HIDDEN + CLASSES
CAMERAS, PICTURES = 4, 400


def train(images, labels, seed, epochs=12, batch=50):
    """The weights and biases of two layers: Adam on the cross-entropy, in float32."""
    rng = np.random.default_rng(seed)
    x = images.reshape(-1, PIXELS).astype(np.float32) / 255
    sizes = [(PIXELS, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,)]
    p = [rng.normal(0, (2 / s[0]) ** 0.5, s).astype(np.float32) * (len(s) > 1) for s in sizes]
    m, v = [np.zeros_like(q) for q in p], [np.zeros_like(q) for q in p]
    order = np.concatenate([rng.permutation(len(x)) for _ in range(epochs)]).reshape(-1, batch)
    for t, some in enumerate(order, 1):
        step = 0.002 * (1 - t / (len(order) + 1))
        for q, a, b, g in zip(p, m, v, gradient(p, x[some], labels[some])):
            a += 0.1 * (g - a)
            b += 0.001 * (g * g - b)
            q -= step * (a / (1 - 0.9**t)) / (np.sqrt(b / (1 - 0.999**t)) + 1e-8)
    return p


def gradient(p, x, labels):
    w1, b1, w2, b2 = p
    h = np.maximum(x @ w1 + b1, 0)
    z = h @ w2 + b2
    e = np.exp(z - z.max(1, keepdims=True))
    e /= e.sum(1, keepdims=True)
    e[np.arange(len(x)), labels] -= 1
    e /= len(x)
    back = (e @ w2.T) * (h > 0)
    return x.T @ back, back.sum(0), h.T @ e, e.sum(0)


def quantized(w):
    """Weights as int8, and the scale of each column.

    They take 7 of the 8 bits: processors without instructions for dot products of bytes add two
    products in 16 bits, which then suffice.
    """
    scale = abs(w).max(0) / 63
    return np.round(w / scale).astype(np.int8), scale.astype(np.float32)


def graph(p, images):
    """The model of int8, with its adapters."""
    w1, b1, w2, b2 = p
    q1, s1 = quantized(w1)
    q2, s2 = quantized(w2)
    hidden = np.maximum(images.reshape(-1, PIXELS) / np.float32(255) @ w1 + b1, 0)
    s1, sh = s1 / np.float32(255), np.float32(hidden.max() / 255)
    constants = {
        "w1": q1, "s1": s1, "b1": b1, "one": np.float32(1), "sh": sh, "zero": np.uint8(0),
        "w2": q2, "s2": s2 * sh, "b2": b2, "parts": np.array([HIDDEN, HIDDEN, CLASSES]),
        "middle": np.array([1]),
    }
    node = helper.make_node
    nodes = [
        node("Split", ["adapters", "parts"], ["g", "o1", "o2"], axis=1),
        node("Unsqueeze", ["g", "middle"], ["gain_less_one"]),  # [Q, 1, HIDDEN], and so on
        node("Unsqueeze", ["o1", "middle"], ["offset1"]),
        node("Unsqueeze", ["o2", "middle"], ["offset2"]),
        node("Add", ["gain_less_one", "one"], ["gain"]),
        # The first layer is computed once, however many points there are.
        node("MatMulInteger", ["images", "w1"], ["sum1"]),
        node("Cast", ["sum1"], ["float1"], to=TensorProto.FLOAT),
        node("Mul", ["float1", "s1"], ["scaled1"]),
        node("Add", ["scaled1", "b1"], ["hidden"]),
        node("Mul", ["hidden", "gain"], ["stretched"]),
        node("Add", ["stretched", "offset1"], ["adapted"]),
        # Bytes from 0 to 255: what is negative becomes 0, so this is the activation, too.
        node("QuantizeLinear", ["adapted", "sh", "zero"], ["bytes"]),
        node("MatMulInteger", ["bytes", "w2"], ["sum2"]),
        node("Cast", ["sum2"], ["float2"], to=TensorProto.FLOAT),
        node("Mul", ["float2", "s2"], ["scaled2"]),
        node("Add", ["scaled2", "b2"], ["biased2"]),
        node("Add", ["biased2", "offset2"], ["logits"]),
    ]
    value = helper.make_tensor_value_info
    made = helper.make_graph(
        nodes, "digits",
        [value("images", TensorProto.UINT8, ["N", PIXELS]),
         value("adapters", TensorProto.FLOAT, ["Q", DIM])],
        [value("logits", TensorProto.FLOAT, ["Q", "N", CLASSES])],
        [numpy_helper.from_array(np.asarray(c), name) for name, c in constants.items()])
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


def changed(images):
    """What a camera sees that was knocked, on a foggy day: shifted, at half contrast, in haze."""
    moved = np.zeros_like(images)
    moved[:, 1:, 1:] = images[:, :-1, :-1]
    return 27 + moved // 2


def save(directory, name, images, labels):
    (directory / f"{name}.images").write_bytes(images.tobytes())
    (directory / f"{name}.labels").write_bytes(labels.tobytes())


def main(directory):
    directory.mkdir(parents=True, exist_ok=True)
    images, labels = digits.draw(8000, seed=1)
    model = graph(train(images, labels, seed=1), images)
    (directory / "model.onnx").write_bytes(model.SerializeToString())
    for k in range(1, CAMERAS + 1):
        images, labels = digits.draw(PICTURES, seed=100 + k)
        save(directory, f"camera-{k}", changed(images), labels)
    images, labels = digits.draw(2000, seed=2)
    save(directory, "clean", images, labels)
    save(directory, "test", changed(images), labels)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
