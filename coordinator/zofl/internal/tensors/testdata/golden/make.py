"""Writes the model files of this directory, with the real libraries:

    pip install numpy safetensors ml_dtypes onnx
    python3 make.py .

model.* is a model, and adapted.* is what training its head made of it. model.f32 and adapted.f32
have the head alone, sorted by name.
"""
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file

to = Path(sys.argv[1])
draw = np.random.default_rng(1)


def normal(*shape):
    return draw.standard_normal(shape).astype("float32")


head = {"head.weight": normal(2, 3), "head.bias": np.array([0.5, -0.0], "float32")}
adapted = {name: array + np.float32(1) for name, array in head.items()}
body = {
    "body.weight": normal(4, 3),
    "body.half": normal(5).astype("float16"),
    "body.codes": np.arange(-3, 4, dtype="int8"),
    "body.count": np.array(7, "int64"),
}
brain = {"body.brain": normal(3).astype(ml_dtypes.bfloat16)}
turned = {"body.turned": np.asfortranarray(normal(2, 2))}


def write_onnx(head, name):
    def floats(name, a):  # in float_data, not in raw_data
        return helper.make_tensor(name, TensorProto.FLOAT, a.shape, a.ravel().tolist())

    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "body.weight"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
        [floats("head.bias", head["head.bias"]),
         *[numpy_helper.from_array(a, name) for name, a in body.items()],
         numpy_helper.from_array(head["head.weight"], "head.weight"),
         helper.make_tensor("body.brain", TensorProto.BFLOAT16, [2], [1.0, 2.0])])
    model = helper.make_model(graph, producer_name="make.py", ir_version=8,
                              opset_imports=[helper.make_opsetid("", 17)])
    model.metadata_props.add(key="made", value="by hand")
    onnx.checker.check_model(model)
    onnx.save(model, to / name)


for name, head in [("model", head), ("adapted", adapted)]:
    save_file(head | body | brain, to / f"{name}.safetensors", metadata={"made": "by hand"})
    np.savez(to / f"{name}.npz", **head, **body, **turned)
    np.savez_compressed(to / f"{name}-packed.npz", **head, **body)
    np.save(to / f"{name}.npy", head["head.weight"])
    np.save(to / f"{name}-big.npy", head["head.weight"].astype(">f4"))
    write_onnx(head, f"{name}.onnx")
    flat = np.concatenate([head[key].ravel() for key in sorted(head)])
    flat.tofile(to / f"{name}.f32")
