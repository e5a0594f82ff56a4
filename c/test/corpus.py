"""Writes corpora for fuzz.c, a folder for each target: corpus.py DIR

They are the project's vectors of frames, its logs, its transcripts of devices and its state files.
What a script of a log or of a device is, fuzz.c says.
"""

import glob
import os
import re
import sys

ANSWER, ANNOUNCEMENT, CATCH_UP = 0, 1, 2  # kinds of a device's script
GIVEN, SECRET = 1, 2  # what a script's device has


class Corpus:
    def __init__(self, path):
        self.path, self.count = path, {}

    def add(self, target, data):
        n = self.count[target] = self.count.get(target, 0) + 1
        os.makedirs(f"{self.path}/{target}", exist_ok=True)
        with open(f"{self.path}/{target}/{n:05d}", "wb") as file:
            file.write(data)


def head(run, flags):
    return bytes([flags, len(run)]) + run


def part(kind, data):
    return bytes([kind]) + len(data).to_bytes(2, "little") + data


def frames(corpus):
    for path in sorted(glob.glob("wire/testdata/vectors/*.txt")):
        about, _, body = open(path).read().partition("\n\n")
        frame = re.search("^frame: (.*)$", about, re.M).group(1)
        data = bytes.fromhex("".join(body.split()))
        if frame in ("record", "announcement", "join-reply", "catch-up-reply"):
            corpus.add(frame, data)
    for line in open("wire/compact/testdata/frames.txt"):
        if line.startswith("frame "):
            corpus.add("announcement", bytes.fromhex(line.split()[1]))


def logs(corpus):
    for run in open("client/replica/testdata/logs.txt").read().split("\n\n"):
        records = [bytes.fromhex(r) for r in re.findall("^record: (.*)$", run, re.M)]
        if not records:
            continue
        for record in records[:3]:
            corpus.add("record", record)
        flags = (GIVEN if "\ngiven:" in run else 0) | (SECRET if "\nsecret:" in run else 0)
        name = re.search(rb"\x01([\xa1-\xbf])(.*)", records[0], re.S)  # the plan's first field
        script = head(name[2][: name[1][0] & 31], flags)
        script += b"".join(part(CATCH_UP, r) for r in records[:12])
        corpus.add("log", script)
        corpus.add("device", script)


def transcripts(corpus):
    for path in sorted(glob.glob("client/testdata/transcripts/*.txt")):
        script, pieces = head(b"kitchen", 0), 0
        for line in open(path):
            words = line.split()
            kind = words[1] if len(words) > 2 and words[0].isdigit() else ""
            if kind == "answer":
                data = bytes.fromhex(words[2])
                script += part(ANSWER, data)
            elif kind == "in":
                data = bytes.fromhex(words[3])
                script += part(ANNOUNCEMENT, data)
                corpus.add("announcement", data)
            else:
                continue
            pieces += 1
            if pieces in (4, 8, 16):
                corpus.add("device", script)
        corpus.add("device", script)


def states(corpus):
    for path in sorted(glob.glob("client/replica/testdata/state-*.bin")):
        corpus.add("load", open(path, "rb").read())


def nats(corpus):
    lines = [
        'INFO {"server_id":"x","nonce":"abcdef","headers":true}\r\n',
        "PING\r\n", "PONG\r\n", "+OK\r\n", "-ERR 'Authorization Violation'\r\n",
        "MSG zo.r.a.0 1 5\r\nhello\r\n",
        "MSG _INBOX_d0.1 2 _INBOX.x 0\r\n\r\n",
        f"MSG zo.r.a.0 1 300\r\n{'x' * 300}\r\n",
    ]
    for room, piece in ((0, 0), (1, 7), (100, 1), (255, 255)):
        for line in lines:
            corpus.add("nats", bytes([room, piece]) + line.encode())
        corpus.add("nats", bytes([room, piece]) + "".join(lines).encode())


def main():
    corpus = Corpus(sys.argv[1])
    for source in (frames, logs, transcripts, states, nats):
        source(corpus)
    for target, count in sorted(corpus.count.items()):
        if count < 5:
            sys.exit(f"corpus.py: {count} inputs of {target}")


main()
