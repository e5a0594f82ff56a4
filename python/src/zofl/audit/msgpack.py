"""The msgpack of frames, shortest forms only: section 1 of docs/wire.md."""

from __future__ import annotations

import math
import struct

from .errors import FrameError

# For each kind of value the range of its short form, and the codes of its longer ones.
_SHORT = {"uint": (0x00, 0x7F), "str": (0xA0, 0xBF), "array": (0x90, 0x9F), "map": (0x80, 0x8F)}
_LONG = {
    "uint": {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8},
    "bin": {0xC4: 1, 0xC5: 2, 0xC6: 4},
    "str": {0xD9: 1, 0xDA: 2, 0xDB: 4},
    "array": {0xDC: 2, 0xDD: 4},
    "map": {0xDE: 2, 0xDF: 4},
}


class Reader:
    """Takes values from the front of a frame."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise FrameError("truncated", f"{count} bytes at {self.at} of {len(self.data)}")
        self.at += count
        return self.data[self.at - count : self.at]

    def _head(self, kind: str) -> int:
        code = self.take(1)[0]
        low, high = _SHORT.get(kind, (1, 0))
        if low <= code <= high:
            return code - low
        width = _LONG[kind].get(code)
        if width is None:
            raise FrameError("form", f"code {code:02x} at {self.at - 1} begins no {kind}")
        value = int.from_bytes(self.take(width), "big")
        smaller = [w for w in _LONG[kind].values() if w < width]
        least = 1 << 8 * max(smaller) if smaller else high - low + 1 if low <= high else 0
        if value < least:
            raise FrameError("form", f"{kind} of {value} is not in its shortest form")
        return value

    def uint(self, limit: int, what: str) -> int:
        """An integer up to limit."""
        value = self._head("uint")
        if value > limit:
            raise FrameError("limit", f"{what} {value} is above {limit}")
        return value

    def length(self, kind: str, limit: int, what: str, least: int = 1) -> int:
        """The length of a bin, str, array or map, whose elements have least bytes or more."""
        value = self._head(kind)
        if value > limit:
            raise FrameError("limit", f"{what} has {value} elements, at most {limit}")
        if kind != "map" and value > (len(self.data) - self.at) // least:
            raise FrameError("truncated", f"{what} of {value} elements at {self.at}")
        return value

    def bin(self, limit: int, what: str) -> bytes:
        return self.take(self.length("bin", limit, what))

    def exact(self, count: int, what: str) -> bytes:
        """A bin of one length."""
        length = self._head("bin")
        if length > 1 << 16:
            raise FrameError("limit", f"{what} has {length} bytes, more than a frame")
        if length != count:
            raise FrameError("form", f"{what} has {length} bytes, not {count}")
        return self.take(count)

    def text(self, limit: int, what: str) -> str:
        data = self.take(self.length("str", limit, what))
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise FrameError("value", f"{what} is not UTF-8") from None

    def finite(self, what: str) -> float:
        """A finite float32, -0 excepted."""
        return self._float(b"\xca", ">f", what)

    def double(self, what: str) -> float:
        """A finite float64, -0 excepted."""
        return self._float(b"\xcb", ">d", what)

    def _float(self, code: bytes, form: str, what: str) -> float:
        if self.take(1) != code:
            raise FrameError("form", f"{what} is no float{8 * struct.calcsize(form)}")
        value: float = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
            raise FrameError("value", f"{what} is {value}")
        return value


def uint(value: int) -> bytes:
    """The shortest form of an integer."""
    return _head(value, 0x00, 0x80, {1: 0xCC, 2: 0xCD, 4: 0xCE, 8: 0xCF})


def float32(value: float) -> bytes:
    return b"\xca" + struct.pack(">f", value)


def float64(value: float) -> bytes:
    return b"\xcb" + struct.pack(">d", value)


def bin_(value: bytes) -> bytes:
    return _head(len(value), 0, 0, {1: 0xC4, 2: 0xC5, 4: 0xC6}) + value


def str_(value: str) -> bytes:
    text = value.encode()
    return _head(len(text), 0xA0, 32, {1: 0xD9, 2: 0xDA, 4: 0xDB}) + text


def array(length: int) -> bytes:
    return _head(length, 0x90, 16, {2: 0xDC, 4: 0xDD})


def map_(length: int) -> bytes:
    return _head(length, 0x80, 16, {2: 0xDE, 4: 0xDF})


def _head(value: int, short: int, count: int, long: dict[int, int]) -> bytes:
    if value < count:
        return bytes([short + value])
    for width, code in long.items():
        if value < 1 << 8 * width:
            return bytes([code]) + value.to_bytes(width, "big")
    raise ValueError(f"{value} is too large for a frame")
