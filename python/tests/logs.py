"""The golden logs: client/replica/testdata/logs.txt, as docs/replay.md says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from vectors import ROOT


@dataclass
class Log:
    name: str
    given: np.ndarray | None = None
    secret: bytes | None = None
    records: list[bytes] = field(default_factory=list)
    objects: dict[int, bytes] = field(default_factory=dict)  # by the record's index
    digests: list[str] = field(default_factory=list)
    refused: dict[int, bytes] = field(default_factory=dict)  # before the record of that index


def numbers(text: str) -> np.ndarray:
    """Numbers of Knuth's MMIX generator: `count from state`."""
    count, _, state = text.split()
    s, out = int(state), np.empty(int(count), np.int64)
    for i in range(len(out)):
        s = (s * 6364136223846793005 + 1442695040888963407) & (1 << 64) - 1
        out[i] = s >> 32
    return (out.astype(np.uint32).view(np.int32).astype(np.float32)
            / np.float32(1 << 28)).astype("<f4")


def logs(name: str = "logs.txt") -> Iterator[Log]:
    log = None
    for line in (ROOT / "client/replica/testdata" / name).read_text().splitlines():
        key, _, value = line.partition(": ")
        if key == "run":
            log = Log(value)
        elif log is None:
            continue  # the comment
        elif key == "given":
            log.given = numbers(value)
        elif key == "secret":
            log.secret = bytes.fromhex(value)
        elif key == "record":
            log.records.append(bytes.fromhex(value))
        elif key == "refused":
            log.refused[len(log.records)] = bytes.fromhex(value)
        elif key == "object":
            log.objects[len(log.records) - 1] = numbers(value).tobytes()
        elif key == "digest":
            log.digests.append(value)
        elif not line:
            yield log
            log = None
