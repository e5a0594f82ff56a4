"""Runs the device of device.py over NATS's text protocol, on a plain socket.

    python overnats.py HOST PORT RUN ID [NUMBER]

prints the last record, the rounds and the digest when the run ends. NUMBER moves the minimum.
"""

from __future__ import annotations

import random
import select
import socket
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from device import Device  # noqa: E402

LONGEST = 30.0
"""The longest bound of a pause, in seconds: docs/device.md, section 1."""


class Nats:
    """A connection: what comes on the inbox, and announcements."""

    def __init__(self, host: str, port: int, name: str) -> None:
        self.name, self.token = name, 0
        self.socket = socket.create_connection((host, port))
        self.buffer = b""
        self.answers: dict[str, bytes] = {}
        self.announced: list[bytes] = []
        self.say('CONNECT {"verbose":false,"pedantic":false,"name":"' + name +
                 '","lang":"python","version":"1","protocol":1}')
        self.say(f"SUB _INBOX_{name}.* 1")

    def say(self, line: str, data: bytes | None = None) -> None:
        self.socket.sendall(line.encode() + b"\r\n" + (b"" if data is None else data + b"\r\n"))

    def publish(self, subject: str, data: bytes, reply: str = "") -> None:
        self.say(f"PUB {subject} {reply} {len(data)}", data)

    def wait(self, until: float) -> bool:
        """Reads what has come, or comes until a time; False: nothing did."""
        if not select.select([self.socket], [], [], max(until - time.monotonic(), 0))[0]:
            return False
        got = self.socket.recv(1 << 16)
        if not got:
            raise ConnectionError("the broker closed the connection")
        self.buffer += got
        while self.take():
            pass
        return True

    def take(self) -> bool:
        """Takes a message from the buffer, if there is a whole one."""
        line, end, rest = self.buffer.partition(b"\r\n")
        words = line.decode().split()
        if not end:
            return False
        if words[0] == "MSG":
            size = int(words[-1])
            if len(rest) < size + 2:
                return False
            data, rest = rest[:size], rest[size + 2 :]
            if words[1].startswith("_INBOX"):
                self.answers[words[1]] = data
            else:
                self.announced.append(data)
        elif words[0] == "PING":
            self.say("PONG")
        elif words[0] == "-ERR":
            print(line.decode(), file=sys.stderr)
        self.buffer = rest
        return True

    def ask(self, subject: str, data: bytes) -> bytes | None:
        self.token += 1
        inbox = f"_INBOX_{self.name}.{self.token}"
        self.publish(subject, data, inbox)
        until = time.monotonic() + 5
        while inbox not in self.answers and time.monotonic() < until:
            self.wait(until)
        return self.answers.pop(inbox, None)


def bowl(x: np.ndarray, number: int) -> float:
    i = np.arange(len(x))
    far = x.astype(np.float64) - 1 - 0.1 * i - 0.05 * number
    return float(np.sum((i + 1) * far * far) + 1)


def live(host: str, port: int, run: str, name: str, number: int = 0) -> Device:
    """Takes part in a run until it ends."""
    device, nats, rng = Device(run, name, 100, 61440), Nats(host, port, name), random.Random(name)
    acts, value, bound = device.live(), None, LONGEST / 32
    while True:
        try:
            act = acts.send(value)
        except StopIteration:
            return device
        value = None
        if act[0] == "ask":
            value = nats.ask(act[1], act[2])
            if value is None:
                time.sleep(rng.uniform(0, bound))
            bound = LONGEST / 32 if value is not None else min(2 * bound, LONGEST)
        elif act[0] == "sub":
            nats.say(f"SUB {act[1]} 2")
        elif act[0] == "out":
            nats.publish(act[1], act[2])
        elif act[0] == "loss":
            nats.wait(0)
            value = bowl(act[5], number)
        elif act[0] == "metrics":
            value = 100, [bowl(act[1], number)]
        else:
            silence = max(device.state.plan.reannounce / 1000, 1) * rng.uniform(1.5, 1.9)
            until = time.monotonic() + silence
            while not nats.announced and time.monotonic() < until:
                nats.wait(until)
            value = nats.announced.pop(0) if nats.announced else None
        device.queue += nats.announced
        nats.announced.clear()


if __name__ == "__main__":
    host, port, run, name, *number = sys.argv[1:]
    with np.errstate(all="ignore"):
        end = live(host, int(port), run, name, int(number[0]) if number else 0).state
    print(end.n, end.rounds, (end.digest() or b"").hex())
