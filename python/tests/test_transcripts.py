"""A device in Python gets what a device of a real run got, and does the same: docs/device.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device import Device
from vectors import ROOT

FILES = sorted((ROOT / "client/testdata/transcripts").glob("*.txt"))


def test_count() -> None:
    assert len(FILES) >= 16


class Player:
    """The world around a device."""

    def __init__(self, path: Path) -> None:
        head, _, body = path.read_text().partition("\n\n")
        self.head = dict(row.split(": ", 1) for row in head.splitlines() if row[0] != "#")
        self.lines = [line.split() for line in body.splitlines()]
        self.at = 0
        self.device: Device | None = None
        self.acts: Any = None
        self.act: tuple[Any, ...] | None = None

    def begin(self) -> None:
        h = self.head
        self.device = Device(h["run"], h["device"], int(h["samples"]), int(h["room"]) - 256,
                             bytes.fromhex(h["secret"]) if "secret" in h else None)
        self.acts = self.device.live()
        self.act = next(self.acts)

    def go(self, value: Any = None) -> None:
        """Gives the device what it waits for, and takes what it does next."""
        try:
            self.act = self.acts.send(value)
        except StopIteration:
            self.act = None

    def play(self) -> None:
        while self.at < len(self.lines):
            _, word, *fields = self.lines[self.at]
            self.at += 1
            getattr(self, "on_" + word)(fields)

    def expect(self, *want: Any) -> None:
        where = f"line {self.at}"
        assert self.act is not None and self.act[: len(want)] == want, f"{where}: {self.act}"

    def on_begin(self, _: list[str]) -> None:
        self.begin()

    def on_leave(self, _: list[str]) -> None:
        assert self.device is not None
        d, s = self.device, self.device.state
        self.acts = d.say(3, s.n + 1, s.hash[:8], b"\x06")
        self.act = next(self.acts)

    def on_sub(self, f: list[str]) -> None:
        self.expect("sub", f[0])
        self.go()

    def on_in(self, f: list[str]) -> None:
        assert self.device is not None
        if self.act == ("wait",):
            self.go(bytes.fromhex(f[1]))
        else:
            self.device.queue.append(bytes.fromhex(f[1]))

    def on_ask(self, f: list[str]) -> None:
        if self.act == ("wait",):  # a look after a silence
            self.go(None)
        self.expect("ask", f[0], bytes.fromhex(f[1]))

    def on_answer(self, f: list[str]) -> None:
        self.go(bytes.fromhex(f[0]))

    def on_silence(self, _: list[str]) -> None:
        self.go(None)

    def on_out(self, f: list[str]) -> None:
        self.expect("out", f[0], bytes.fromhex(f[1]))
        self.go()

    def on_loss(self, f: list[str]) -> None:
        self.expect("loss", int(f[0]), int(f[1]), int(f[2]), int(f[3], 16))
        assert self.act is not None and self.act[5].astype("<f4").tobytes().hex() == f[4]
        while self.lines[self.at][1] == "in":  # while the device computes
            self.on_in(self.lines[self.at][2:])
            self.at += 1
        if self.lines[self.at][1] != "leave":
            self.go(None if f[5] == "fails" else float.fromhex(f[5]))

    def on_metrics(self, f: list[str]) -> None:
        self.expect("metrics")
        assert self.act is not None and self.act[1].astype("<f4").tobytes().hex() == f[0]
        self.go((int(f[1]), [float.fromhex(f[2])]))

    def on_state(self, f: list[str]) -> None:
        assert self.device is not None
        if int(f[0]) > 1:
            assert self.device.digests.get(int(f[0])) == f[1], f"line {self.at}"

    def on_end(self, _: list[str]) -> None:
        assert self.act is None, self.act


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    with np.errstate(all="ignore"):
        Player(path).play()
