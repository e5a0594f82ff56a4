"""Scalars as bytes: section 1 of docs/wire.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .errors import LogError

F32 = NDArray[np.float32]

# Bits of a code, and the step of codes in units of r.
_CODES = {"int8": (8, 1 / 32), "int4": (4, 5 / 16), "int2": (2, 255 / 256)}


def few_bits(precision: str) -> bool:
    return precision in _CODES


def decode(data: bytes, precision: str, steps: int, perturbations: int = 0) -> F32:
    """Scalars of a term, of shape (steps, P).

    P is what the length says, unless perturbations is given. Blocks need it.
    """
    if precision in _CODES:
        return _blocks(data, precision, steps, perturbations)
    kind = np.dtype("<f2" if precision == "half" else "<f4")
    if not data or len(data) % (kind.itemsize * steps):
        raise LogError(f"{len(data)} bytes of scalars for {steps} steps of {precision} precision")
    values = np.frombuffer(data, kind).astype(np.float32).reshape(steps, -1)
    if perturbations and values.shape[1] != perturbations:
        raise LogError(f"{values.shape[1]} scalars a step, not {perturbations}")
    return values


def _blocks(data: bytes, precision: str, steps: int, perturbations: int) -> F32:
    bits, step = _CODES[precision]
    size = 2 + 2 * (-(-perturbations * bits // 16))
    if len(data) != steps * size:
        raise LogError(f"{len(data)} bytes of scalars, not {steps} blocks of {size}")
    rows = np.frombuffer(data, np.uint8).reshape(steps, size)
    words = np.ascontiguousarray(rows[:, :2]).view("<u2")[:, 0]
    scale = words.view("<f2").astype(np.float64)
    if (words >= 0x7C00).any():  # a sign, infinite, or NaN
        raise LogError("a block whose scale is negative or not finite")
    flat = np.unpackbits(rows[:, 2:], axis=1, bitorder="little")
    if flat[:, perturbations * bits :].any():
        raise LogError("a block with bits behind its last code")
    codes = flat[:, : perturbations * bits].reshape(steps, perturbations, bits)
    weights = 1 << np.arange(bits)
    weights[-1] = -weights[-1]  # two's complement
    q = codes @ weights
    if (q[scale == 0] != 0).any():
        raise LogError("a block of scale 0 with other codes")
    exact = step * (q + 0.5) * scale[:, None]
    exact[scale == 0] = 0
    return exact.astype(np.float32)
