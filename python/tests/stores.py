"""Directories of logs, as `zofl serve --store` leaves them."""

from __future__ import annotations

from pathlib import Path

from logs import Log, logs

from zofl.audit import record as records
from zofl.audit.crc32c import crc32c

LOGS = {log.name: log for log in logs()}


def frame(record: bytes) -> bytes:
    head = len(record).to_bytes(4, "little") + crc32c(record).to_bytes(4, "little")
    return head + crc32c(head).to_bytes(4, "little") + record


def store(path: Path, log: Log) -> Path:
    """Writes the log to a directory."""
    (path / "objects").mkdir(parents=True)
    (path / "log").write_bytes(b"zofl log 1\n" + b"".join(map(frame, log.records)))
    for i, data in log.objects.items():
        r = records.read(log.records[i])
        name = f"{r.n}-{r.epoch}-{records.hash_object(data).hex()}"
        (path / "objects" / name).write_bytes(data)
    seen(path, len(log.records))
    return path


def seen(path: Path, n: int) -> None:
    text = b"zofl seen 1\n%020d\n" % n
    (path / "seen").write_bytes(text + b"%08x\n" % crc32c(text))
