"""Directions of scheme 1, as docs/prng.md specifies them."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
U64 = NDArray[np.uint64]

BLOCK = 4096
LANES = 8

# Domains of an address.
DIRECTION, SUBSPACE, INITIAL, POOL, FACTORS = 0, 1, 2, 3, 5

NORMAL, RADEMACHER, UNIFORM = "normal", "rademacher", "uniform"

_MASK = np.uint64(0xFFFFFFFF)
_TABLE = np.frombuffer(
    (resources.files(__package__) / "normal.bin").read_bytes(), "<u4"
).reshape(-1, 2)
_C1 = np.ascontiguousarray(_TABLE[:, 0]).view(np.float32)
_C0 = np.ascontiguousarray(_TABLE[:, 1]).view(np.float32)


class Address(NamedTuple):
    """Where a direction is: section 1 of docs/prng.md."""

    key: int
    step: int = 0
    perturbation: int = 0
    source: int = 0
    domain: int = DIRECTION


def record_key(run_key: bytes, n: int) -> int:
    """The key of record n, of n = 0 that of the initial parameters."""
    mac = hmac.new(run_key, n.to_bytes(8, "little"), hashlib.sha256).digest()
    return int.from_bytes(mac[:8], "little")


def philox(counter: Sequence[Any], key: Sequence[Any]) -> tuple[U64, U64, U64, U64]:
    """Philox4x32-10 of four counter words and two key words, arrays of u64 below 2^32."""
    c0, c1, c2, c3 = (np.asarray(c, np.uint64) for c in counter)
    k0, k1 = (np.asarray(k, np.uint64) for k in key)
    half = np.uint64(32)
    for _ in range(10):
        p = np.uint64(0xD2511F53) * c0
        q = np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (q >> half) ^ c1 ^ k0, q & _MASK, (p >> half) ^ c3 ^ k1, p & _MASK
        k0 = (k0 + np.uint64(0x9E3779B9)) & _MASK
        k1 = (k1 + np.uint64(0xBB67AE85)) & _MASK
    return c0, c1, c2, c3


def _outputs(addresses: Sequence[Address], first: int, blocks: int, count: int) -> U64:
    """Outputs of xoroshiro128++, of shape (addresses, blocks, count, lanes)."""
    table = np.array(
        [(a.key & 0xFFFFFFFF, a.key >> 32, a.step << 16 | a.perturbation, a.source, a.domain)
         for a in addresses], np.uint64).T[:, :, None]
    lanes = np.arange(LANES * first, LANES * (first + blocks), dtype=np.uint64)[None, :]
    w0, w1, w2, w3 = philox((lanes, table[2], table[3], table[4]), (table[0], table[1]))
    s0, s1 = w0 | w1 << np.uint64(32), w2 | w3 << np.uint64(32)
    out = np.empty((count, len(addresses), blocks * LANES), np.uint64)
    word = np.empty_like(s0)
    turned = np.empty_like(s0)

    def rotate(value: U64, bits: int, into: U64) -> None:
        np.left_shift(value, np.uint64(bits), out=turned)
        np.right_shift(value, np.uint64(64 - bits), out=into)
        np.bitwise_or(into, turned, out=into)

    for row in out:
        np.add(s0, s1, out=word)
        rotate(word, 17, row)
        np.add(row, s0, out=row)
        np.bitwise_xor(s1, s0, out=s1)
        rotate(s0, 49, word)
        np.bitwise_xor(word, s1, out=s0)
        np.left_shift(s1, np.uint64(21), out=turned)
        np.bitwise_xor(s0, turned, out=s0)
        rotate(s1, 28, word)
        s1, word = word, s1
    shaped = out.reshape(count, len(addresses), blocks, LANES)
    return np.ascontiguousarray(shaped.transpose(1, 2, 0, 3))


def directions(
    addresses: Sequence[Address], distribution: str, length: int, block: int = 0
) -> F32:
    """Elements of directions from the given block on, of shape (addresses, length)."""
    blocks = -(-length // BLOCK)
    shape = (len(addresses), blocks * BLOCK)
    if not addresses or not length:
        return np.zeros((len(addresses), length), np.float32)
    if distribution == RADEMACHER:
        return np.float32(1) - np.float32(2) * signs(addresses, length, block)
    words32 = _outputs(addresses, block, blocks, 256).astype("<u8").view("<u4")
    words32 = words32.reshape(shape)[:, :length]
    if distribution == UNIFORM:
        uniform: F32 = words32.view("<i4").astype(np.float32)
        uniform *= np.float32(2.0**-31)
        return uniform
    return _normals(words32)


def signs(addresses: Sequence[Address], length: int, block: int = 0) -> NDArray[np.uint8]:
    """Signs of directions from the given block on, 1 for a minus."""
    words = _outputs(addresses, block, -(-length // BLOCK), 8).astype("<u8")
    # Element 512 r + 64 l + b is bit b of output r of lane l.
    return np.unpackbits(words.view(np.uint8).reshape(len(addresses), -1), axis=1,
                         bitorder="little")[:, :length]


def _normals(words: NDArray[np.uint32]) -> F32:
    m = (words | np.uint32(1)).view("<i4")
    f = m.astype(np.float32)
    size = np.abs(f)
    k = (size.view(np.uint32) >> np.uint32(17)) - np.uint32(8128)
    z = _C1[k] * size
    z += _C0[k]
    signed: F32 = np.where(m < 0, -z, z)
    return signed


def squared_norm(x: F32) -> float:
    """The squared norm in float64: ascending within blocks, then the blocks' sums."""
    return blocked_sum(x.astype(np.float64) ** 2)


def blocked_sum(products: NDArray[np.float64]) -> float:
    """The sum of products, ascending within blocks of 4096, then over blocks."""
    blocks = -(-len(products) // BLOCK)
    padded = np.zeros(blocks * BLOCK)
    padded[: len(products)] = products  # adding the zeros at the end changes nothing
    # Accumulating adds strictly one after another; sum() would add in pairs.
    parts = np.add.accumulate(padded.reshape(blocks, BLOCK), axis=1)[:, -1]
    total = 0.0
    for part in parts:
        total += float(part)
    return total


def add_terms(x: F32, coefficients: Sequence[np.float32], z: F32, signs: bool) -> None:
    """Adds the terms of one step to x: section 4 of docs/prng.md.

    z has a direction a row. Where all are signs, eight at a time make a group.
    """
    i, count = 0, len(coefficients)
    while i < count:
        if not signs or i + 8 > count:
            x += coefficients[i] * z[i]
            i += 1
            continue
        group = coefficients[i] * z[i]
        for j in range(i + 1, i + 8):
            group += coefficients[j] * z[j]
        x += group
        i += 8
