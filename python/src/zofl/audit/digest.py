"""The digest of a state: section 8 of docs/wire.md."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

import numpy as np

from .directions import BLOCK, F32


def root(vectors: Sequence[F32], dim: int, registers: Sequence[int] | None = None) -> bytes:
    """SHA-256 of the root, with registers if the plan has any kind of them."""
    h = hashlib.sha256(b"zofl/1 state\0" + dim.to_bytes(8, "little")
                       + len(vectors).to_bytes(4, "little"))
    for vector in vectors:
        data = memoryview(canonical(vector))
        for at in range(0, 4 * dim, 4 * BLOCK):
            h.update(hashlib.sha256(data[at : at + 4 * BLOCK]).digest())
    if registers is not None:
        h.update(len(registers).to_bytes(4, "little"))
        for register in registers:
            h.update(register.to_bytes(8, "little"))
    return h.digest()


def canonical(vector: F32) -> bytes:
    """Little-endian elements, each NaN as 7fc00000."""
    words = np.array(vector, np.float32).view(np.uint32)
    words[np.isnan(vector)] = 0x7FC00000
    return words.astype("<u4").tobytes()


def keyed(key: bytes, plain: bytes) -> bytes:
    """The digest in a run whose run key is secret."""
    return hmac.new(key, b"zofl/1 digest\0" + plain, hashlib.sha256).digest()


def bits32(value: float | np.float32) -> int:
    v = np.float32(value)
    return 0x7FC00000 if np.isnan(v) else int(v.view(np.uint32))


def bits64(value: float | np.float64) -> int:
    v = np.float64(value)
    return 0x7FF8000000000000 if np.isnan(v) else int(v.view(np.uint64))
