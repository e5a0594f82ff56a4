"""CRC-32C (Castagnoli), a thousand bytes at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_STRIDE = 1024


def _tables() -> npt.NDArray[Any]:
    """tables[k][b]: what byte b does to the remainder when k more bytes follow it."""
    one: npt.NDArray[np.uint32] = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        one = np.where(one & 1, one >> 1 ^ 0x82F63B78, one >> 1).astype(np.uint32)
    tables = [one]
    for _ in range(_STRIDE - 1):
        tables.append(tables[-1] >> 8 ^ one[tables[-1] & 0xFF])
    return np.array(tables, np.uint32)


_TABLES = _tables()


def crc32c(data: bytes) -> int:
    """The checksum of the bytes."""
    crc = 0xFFFFFFFF
    for at in range(0, len(data), _STRIDE):
        piece = np.frombuffer(data, np.uint8, min(_STRIDE, len(data) - at), at).copy()
        start = np.frombuffer(crc.to_bytes(4, "little"), np.uint8)[: len(piece)]
        piece[: len(start)] ^= start  # the remainder so far acts like bytes of the data
        after = np.arange(len(piece) - 1, -1, -1)
        rest = crc >> 8 * len(piece)  # of a piece shorter than the remainder
        crc = int(np.bitwise_xor.reduce(_TABLES[after, piece])) ^ rest
    return crc ^ 0xFFFFFFFF
