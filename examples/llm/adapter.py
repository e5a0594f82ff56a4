"""LoRA's factors, by the names that PEFT gives them, and the folder that PEFT loads."""

import json
import pathlib
import struct

import numpy as np
import torch

MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct"
RANK = ALPHA = 8  # alpha / rank, by which PEFT scales what the factors add, is 1
NAME = "base_model.model.model.layers.{}.self_attn.{}.lora_{}.weight"
PROJECTIONS = ("q_proj", "v_proj")


def start(model, layers, seed=1):
    """As PEFT begins: A random, B zero, for the last layers. So the model is what it was."""
    rng = np.random.default_rng(seed)
    bound, out = model.width**-0.5, {}
    for i in range(model.depth - layers, model.depth):
        for projection in PROJECTIONS:
            rows = len(model.layers[i][f"self_attn.{projection}"])
            a = rng.uniform(-bound, bound, (RANK, model.width))
            out[NAME.format(i, projection, "A")] = a.astype(np.float32)
            out[NAME.format(i, projection, "B")] = np.zeros((rows, RANK), np.float32)
    return out


def factors(tensors, first, last):
    """As the model takes them: A and B of each layer and projection, with all points in front."""
    out = {}
    for i in range(first, last):
        for projection in PROJECTIONS:
            pair = (tensors[NAME.format(i, projection, which)] for which in "AB")
            out[i, projection] = tuple(at_points(factor) for factor in pair)
    return out


def at_points(factor):
    """A copy as a tensor, of three dimensions: the first is the point."""
    if not torch.is_tensor(factor):
        factor = torch.from_numpy(np.array(factor, np.float32))
    return factor if factor.dim() == 3 else factor[None]


def save(directory, tensors):
    """Writes what PeftModel.from_pretrained(model, directory) loads."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    head, data = {"__metadata__": {"format": "pt"}}, b""
    for name, w in sorted(tensors.items()):
        raw = np.asarray(w, "<f4").tobytes()
        offsets = [len(data), len(data) + len(raw)]
        head[name] = {"dtype": "F32", "shape": list(w.shape), "data_offsets": offsets}
        data += raw
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    file = directory / "adapter_model.safetensors"
    file.write_bytes(struct.pack("<Q", len(text)) + text + data)
    layers = sorted({int(name.split(".")[4]) for name in tensors})
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": MODEL,
        "r": RANK,
        "lora_alpha": ALPHA,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": list(PROJECTIONS),
        "layers_to_transform": layers,
        "layers_pattern": "layers",
        "inference_mode": True,
    }
    (directory / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n")
