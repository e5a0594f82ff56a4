"""Blocks of scalars in few bits, and run keys."""

from __future__ import annotations

import numpy as np
import pytest
from vectors import ROOT

from zofl.audit import key, record, scalars
from zofl.audit.crc32c import crc32c
from zofl.audit.errors import LogError

BLOCKS = [line for line in (ROOT / "plan/testdata/blocks.txt").read_text().splitlines()
          if line and not line.startswith("#")]
REFUSED = [line for line in BLOCKS if line.startswith("refused")]


@pytest.mark.parametrize("line", [b for b in BLOCKS if b not in REFUSED])
def test_block(line: str) -> None:
    precision, _, block, want = (part.strip() for part in line.split("|"))
    got = scalars.decode(bytes.fromhex(block), precision, 1, len(want.split()))
    assert [f"{w:08x}" for w in got[0].view(np.uint32)] == want.split()


@pytest.mark.parametrize("line", REFUSED)
def test_refused(line: str) -> None:
    _, precision, count, block = line.split(":")[0].split()
    with pytest.raises(LogError):
        scalars.decode(bytes.fromhex(block), precision, 1, int(count))


def test_run_keys() -> None:
    lines = (ROOT / "plan/testdata/runkeys.txt").read_text().splitlines()
    assert len(lines) >= 8
    for line in lines:
        run, scheme, secret, check, want = line.split()
        got = key.derive(run, scheme, bytes.fromhex(secret))
        assert got == (bytes.fromhex(want), bytes.fromhex(check))


def test_objects() -> None:
    lines = [line for line in (ROOT / "wire/testdata/golden.txt").read_text().splitlines()
             if line.startswith("object ")]
    assert lines
    for line in lines:
        numbers, want = line.removeprefix("object ").split(" = ")
        data = np.array([float(n) for n in numbers.strip("[]").split()], "<f4").tobytes()
        assert record.hash_object(data).hex() == want


def test_crc32c() -> None:
    assert crc32c(b"123456789") == 0xE3069283  # the check of the catalogs
    for count in (0, 1, 3, 4, 1023, 1024, 1025, 1026, 1029, 5000):
        data = bytes(i * 7 + i // 256 & 255 for i in range(count))
        want = 0xFFFFFFFF
        for byte in data:
            want ^= byte
            for _ in range(8):
                want = want >> 1 ^ (0x82F63B78 if want & 1 else 0)
        assert crc32c(data) == want ^ 0xFFFFFFFF
