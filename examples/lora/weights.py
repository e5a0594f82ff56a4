"""The weights of the model as NumPy arrays: in a file, in 8 bits, and where LoRA starts."""

import json

import numpy as np

from sizes import Sizes


def save(path, sizes, weights):
    """Stores weights in halves: they become bytes in the end."""
    halves = {name: w.astype(np.float16) for name, w in weights.items()}
    np.savez_compressed(path, sizes=json.dumps(sizes.fields()), **halves)


def load(path):
    """Returns the sizes and the weights of a pretrained model."""
    stored = np.load(path)
    weights = {name: stored[name].astype(np.float32) for name in stored.files if name != "sizes"}
    return Sizes(**json.loads(str(stored["sizes"]))), weights


def in_bytes(w):
    """Rounds a matrix to 8 bits. Returns it and the scale of each column, which its largest number
    needs."""
    scale = np.maximum(np.abs(w).max(axis=0), 1e-9).astype(np.float32) / 127
    return np.rint(w / scale).astype(np.int8), scale


def first_factors(sizes, seed):
    """Where LoRA's A starts, by the factors' names: uniform, as large as torch starts a linear map.
    B starts at zeros, and needs no constant."""
    random = np.random.default_rng(seed)
    reach = sizes.width**-0.5
    return {
        name: random.uniform(-reach, reach, shape).astype(np.float32)
        for name, shape in sizes.factors()
        if name.endswith(".A")
    }
