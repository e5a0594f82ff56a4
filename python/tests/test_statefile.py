"""The golden state files."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from vectors import ROOT

from zofl.audit import statefile
from zofl.audit.errors import LogError

FILES = sorted((ROOT / "client/replica/testdata").glob("state-*.bin"))
SECRET = bytes([9] * 32)  # of the private ones


def test_count() -> None:
    assert len(FILES) >= 9


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_file(path: Path) -> None:
    data = path.read_bytes()
    state = statefile.read(data, SECRET)
    assert state.digest() == data[-32:]


def forged(name: str, old: bytes, new: bytes) -> bytes:
    """A state file with another head, and its right checksum."""
    data = (ROOT / f"client/replica/testdata/{name}.bin").read_bytes()
    stop = 17 + int.from_bytes(data[13:17], "little")
    head = data[:stop].replace(old, new, 1)
    assert head != data[:stop] and len(head) == stop
    return head + hashlib.sha256(head).digest() + data[stop + 32 :]


@pytest.mark.parametrize(("old", "new", "why"), [
    ((40).to_bytes(8, "little"), (41).to_bytes(8, "little"), "parameters"),
    (b"\xc4\x10" + bytes(16), b"\xc4\x10" + bytes(15) + b"\1", "in the state of record"),
])
def test_forged_head(old: bytes, new: bytes, why: str) -> None:
    dim = statefile.read((ROOT / "client/replica/testdata/state-1.bin").read_bytes()).plan.dim
    old = old.replace((40).to_bytes(8, "little"), dim.to_bytes(8, "little"))
    with pytest.raises(LogError, match=why):
        statefile.read(forged("state-1", old, new))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_damage_is_found(path: Path) -> None:
    data = path.read_bytes()
    # The digest has every NaN in one form, so another payload is no damage.
    free = set[int]()
    if path.stem == "state-1":
        nan = data.index(bytes.fromhex("0000c07f"), len(data) - 32 - 4 * 2 * 10)
        free = set(range(nan, nan + 3))
    for at in range(0, len(data), 7):
        bad = bytearray(data)
        bad[at] ^= 0x10
        if at in free:
            continue
        with pytest.raises(LogError):
            statefile.read(bytes(bad), SECRET)
    for cut in (1, 32, len(data) // 2):
        with pytest.raises(LogError):
            statefile.read(data[:-cut], SECRET)
    with pytest.raises(LogError):
        statefile.read(data + b"\0", SECRET)
