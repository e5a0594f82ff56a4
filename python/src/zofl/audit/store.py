"""The files of a log in a directory: docs/state.md, "Files of a log"."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from . import record as records
from .crc32c import crc32c
from .errors import LogError

_HEAD = b"zofl log 1\n"
_FRAME = 12
_MOST = 61440  # bytes of a record
_SECTOR = 512


@dataclass
class Start:
    """What a log that begins with a state says of it."""

    n: int
    hash: bytes
    epoch: int
    rounds: int
    first: bytes
    plan: bytes
    digest: bytes
    size: int
    base: bytes


@dataclass
class Store:
    """A log's directory."""

    path: Path
    start: Start | None
    records: list[bytes]
    torn: int  # bytes behind the last record, which an interrupted append left
    damage: str  # why nothing behind the last record could be read
    seen: int  # the last record that was stored, as far as the file seen knows

    def base(self) -> bytes:
        """The state file with which the log begins."""
        assert self.start is not None
        data = (self.path / "base").read_bytes()
        if len(data) != self.start.size or hashlib.sha256(data).digest() != self.start.base:
            raise LogError("base is not the state of start")
        return data

    def object(self, n: int, epoch: int, digest: bytes) -> Path:
        """The file of the vector that record n names."""
        return self.path / "objects" / f"{n}-{epoch}-{digest.hex()}"


def open_store(path: Path) -> Store:
    """Reads the directory of a log, or a file of records alone."""
    if path.is_file():
        path, name = path.parent, path.name
    else:
        name = "log"
    data = (path / name).read_bytes()
    store = Store(path, _start(path), [], 0, "", 0)
    if _HEAD.startswith(data):
        store.torn = len(data) % len(_HEAD)
        return _with_seen(store)
    if not data.startswith(_HEAD):
        raise LogError(f"{path / name} does not begin with {_HEAD!r}")
    try:
        store.torn = _frames(data, store.records)
    except LogError as error:
        store.damage = str(error)
    return _with_seen(store)


def _frames(data: bytes, out: list[bytes]) -> int:
    """Appends the records, and returns the bytes of an unfinished one."""
    at = len(_HEAD)
    while at < len(data):
        head = data[at : at + _FRAME]
        if len(head) < _FRAME:
            return len(head)
        length = int.from_bytes(head[:4], "little")
        stop = at + _FRAME + length
        if crc32c(head[:8]) != int.from_bytes(head[8:], "little") or not 0 < length <= _MOST:
            most = min(len(data), at + _FRAME + _MOST + 1)
            return _damaged(data, at, most, at + _FRAME, len(out))
        if stop > len(data):
            return len(data) - at
        body = data[at + _FRAME : stop]
        if crc32c(body) != int.from_bytes(head[4:8], "little"):
            return _damaged(data, at, stop, stop, len(out))
        out.append(body)
        at = stop
    return 0


def _damaged(data: bytes, at: int, most: int, bad: int, count: int) -> int:
    """The length of the last frame if a sector of it was never written."""
    begin = at
    while most == len(data) and begin < bad:
        end = min(begin - begin % _SECTOR + _SECTOR, most)
        if not any(data[begin:end]) and not (bad == at + _FRAME and _follows(data, bad)):
            return len(data) - at
        begin = end
    raise LogError(f"the checksum of the record behind {count} others, at byte {at}, differs")


def _follows(data: bytes, begin: int) -> bool:
    """Whether an intact record is anywhere behind a damaged frame."""
    for at in range(begin, len(data) - _FRAME):
        length = int.from_bytes(data[at : at + 4], "little")
        stop = at + _FRAME + length
        head = data[at : at + _FRAME]
        if not 0 < length <= _MOST or stop > len(data):
            continue
        if crc32c(head[:8]) != int.from_bytes(head[8:], "little"):
            continue
        if crc32c(data[at + _FRAME : stop]) == int.from_bytes(head[4:8], "little"):
            return True
    return False


def _with_seen(store: Store) -> Store:
    try:
        text = (store.path / "seen").read_bytes()
    except FileNotFoundError:
        return store
    lines = text.split(b"\n")
    # The file is written without a sync, so a damaged one says nothing.
    if len(lines) >= 3 and lines[0] == b"zofl seen 1" and lines[1].isdigit():
        if lines[2] == b"%08x" % crc32c(b"\n".join(lines[:2]) + b"\n"):
            store.seen = int(lines[1])
    return store


def check_roster(path: Path, first: bytes) -> None:
    """Checks the seal of the roster, and that it is of the log whose record 1 is first."""
    try:
        text = (path / "roster").read_bytes()
    except FileNotFoundError:
        return
    if text.startswith(b"zofl roster 1\n"):
        return  # of an earlier version, without a seal
    body, mark, seal = text.rpartition(b"sha256 ")
    want = hashlib.sha256(bytes(32) + body).hexdigest().encode() + b"\n"
    lines = body.split(b"\n")
    if not mark or seal != want or lines[0] != b"zofl roster 2":
        raise LogError("the roster is damaged")
    named = lines[1].startswith(b"log ")
    if named and lines[1] != b"log " + records.hash_record(first).hex().encode():
        raise LogError("the roster is of another log")
    if any(line[:1] not in (b"+", b"-") for line in lines[1 + named : -1]):
        raise LogError("the roster is damaged")


def _start(path: Path) -> Start | None:
    try:
        text = (path / "start").read_bytes()
    except FileNotFoundError:
        return None
    lines = text.split(b"\n")
    names = [b"n", b"hash", b"epoch", b"rounds", b"first", b"plan", b"digest", b"size", b"base"]
    body = b"\n".join(lines[:10]) + b"\n"
    sums = b"sha256 " + hashlib.sha256(body).hexdigest().encode()
    if lines[0] != b"zofl start 1" or lines[10:] != [sums, b""]:
        raise LogError("start is damaged")
    values: list[bytes] = []
    for name, line in zip(names, lines[1:10]):
        if not line.startswith(name + b" "):
            raise LogError(f"start has no {name.decode()}")
        values.append(line[len(name) + 1 :])
    n, hash_, epoch, rounds, first, plan, digest, size, base = (v.decode() for v in values)
    return Start(int(n), bytes.fromhex(hash_), int(epoch), int(rounds), bytes.fromhex(first),
                 bytes.fromhex(plan), bytes.fromhex(digest), int(size), bytes.fromhex(base))


def targets(data: list[bytes]) -> dict[int, int]:
    """Records that rollbacks return to, and the last rollback to each."""
    out: dict[int, int] = {}
    for item in data:
        try:
            r = records.read(item)
        except LogError:
            break
        if r.kind == records.ROLLBACK:
            out[r.to] = r.n
    return out
