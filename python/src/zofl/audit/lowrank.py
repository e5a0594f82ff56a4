"""Directions of rank 1, as docs/prng.md specifies them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .directions import F32, FACTORS, Address, signs

GROUP = 8


class Shape(NamedTuple):
    """Neighboring elements: a matrix row by row, or, without rows, as many as it has columns."""

    rows: int
    columns: int


def length(shapes: Sequence[Shape]) -> int:
    """The number of elements of a direction."""
    return sum(max(s.rows, 1) * s.columns for s in shapes)


def factors(shapes: Sequence[Shape]) -> int:
    """The number of signs of a direction."""
    return sum(s.rows + s.columns for s in shapes)


def directions(addresses: Sequence[Address], shapes: Sequence[Shape]) -> F32:
    """Whole directions, of shape (addresses, elements)."""
    bits = _bits(addresses, shapes)
    return np.stack([np.float32(1) - np.float32(2) * _whole(row, shapes) for row in bits])


def add_terms(x: F32, coefficients: Sequence[np.float32], addresses: Sequence[Address],
              shapes: Sequence[Shape]) -> None:
    """Adds the terms of one step to x, eight at a time."""
    for i in range(0, len(coefficients), GROUP):
        bits = _bits(addresses[i : i + GROUP], shapes)
        # Bit j of a byte is the sign of term j. Terms that the last group lacks are +0.
        codes = np.packbits(bits, axis=0, bitorder="little")[0]
        x += _sums(coefficients[i : i + GROUP])[_whole(codes, shapes)]


def _bits(addresses: Sequence[Address], shapes: Sequence[Shape]) -> NDArray[np.uint8]:
    """The factors of directions, 1 for a minus."""
    return signs([w._replace(domain=FACTORS) for w in addresses], factors(shapes))


def _whole(codes: NDArray[np.uint8], shapes: Sequence[Shape]) -> NDArray[np.uint8]:
    """The code of each element: the exclusive or of those of its row and its column."""
    out = np.empty(length(shapes), np.uint8)
    at = to = 0
    for rows, columns in shapes:
        a, b = codes[at : at + rows], codes[at + rows : at + rows + columns]
        part = out[to : to + max(rows, 1) * columns].reshape(-1, columns)
        np.bitwise_xor(a[:, None] if rows else np.zeros((1, 1), np.uint8), b, out=part)
        at, to = at + rows + columns, to + part.size
    return out


def _sums(coefficients: Sequence[np.float32]) -> F32:
    """The number that a group adds for each byte of signs."""
    c = np.zeros(GROUP, np.float32)
    c[: len(coefficients)] = coefficients
    low, high = _half(c[:4]), _half(c[4:])
    return (low[None, :] + high[:, None]).ravel()


def _half(c: F32) -> F32:
    """((±c0 ± c1) ± c2) ± c3 for each four signs."""
    minus = np.arange(16)[:, None] >> np.arange(4) & 1
    term = np.where(minus, -c, c)
    total: F32 = ((term[:, 0] + term[:, 1]) + term[:, 2]) + term[:, 3]
    return total
