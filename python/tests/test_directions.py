"""The vectors of scheme 1."""

from __future__ import annotations

import hashlib
import re
import struct

import numpy as np
import pytest
from vectors import ROOT, paragraphs

from zofl.audit import directions as prng

VECTORS = list(paragraphs("prng/testdata/scheme1.txt"))


def test_count() -> None:
    assert len(VECTORS) == 47


def test_table() -> None:
    text = (ROOT / "prng/table.go").read_text()
    pairs = re.findall(r"\{0x([0-9a-f]{8}), 0x([0-9a-f]{8})\}", text)
    want = b"".join(struct.pack("<II", int(a, 16), int(b, 16)) for a, b in pairs)
    assert prng._TABLE.tobytes() == want


def address(v: dict[str, str], more: int = 0) -> prng.Address:
    return prng.Address(int(v["key"], 16), int(v["step"]), int(v["perturbation"]) + more,
                        int(v["source"]), int(v["domain"]))


def floats(text: str) -> list[np.float32]:
    return list(np.array([int(w, 16) for w in text.split()], np.uint32).view(np.float32))


def summed(v: dict[str, str], x: prng.F32) -> prng.F32:
    """Terms of both kinds in one sum: groups are of eight signs in a row."""
    a, length, block = floats(v["a"]), int(v["length"]), int(v["block"])
    i, pattern = 0, v["pattern"]
    while i < len(pattern):
        signs = pattern.startswith("r" * 8, i)
        count = 8 if signs else 1
        kind = prng.RADEMACHER if pattern[i] == "r" else prng.NORMAL
        z = prng.directions([address(v, i + j) for j in range(count)], kind, length, block)
        prng.add_terms(x, a[i : i + count], z, signs)
        i += count
    return x


def result(v: dict[str, str]) -> prng.F32:
    length, block = int(v["length"]), int(v["block"])
    start = prng.Address(1, domain=prng.INITIAL)
    x = prng.directions([start], prng.UNIFORM, length, block)[0].copy()
    if v["op"] == "sum":
        return summed(v, x)
    kind = prng.UNIFORM if v["op"] == "uniform" else v["distribution"]
    z = prng.directions([address(v)], kind, length, block)
    if v["op"] in ("fill", "uniform"):
        return z[0]
    prng.add_terms(x, floats(v["a"]), z, kind == prng.RADEMACHER)
    return x


@pytest.mark.parametrize("v", VECTORS, ids=lambda v: v["op"])
def test_vector(v: dict[str, str]) -> None:
    if v["op"] == "table":
        assert hashlib.sha256(prng._TABLE.tobytes()).hexdigest() == v["sha256"]
    elif v["op"] == "recordkey":
        assert prng.record_key(v["runkey"].encode(), int(v["n"])) == int(v["key"], 16)
    elif v["op"] == "squarednorm":
        z = prng.directions([address(v)], v["distribution"], int(v["length"]))[0]
        norm = prng.squared_norm(z)
        assert struct.unpack("<Q", struct.pack("<d", norm))[0] == int(v["norm"], 16)
        scale = np.float32(np.float64(floats(v["a"])[0]) / np.sqrt(np.float64(norm)))
        assert scale.view(np.uint32) == int(v["scale"], 16)
    else:
        got = result(v).view(np.uint32)
        words = [f"{w:08x}" for w in got]
        assert words[:4] == v["first"].split()
        assert words[-4:] == v["last"].split()
        assert hashlib.sha256(got.astype("<u4").tobytes()).hexdigest() == v["sha256"]
