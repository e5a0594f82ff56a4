"""Leads one run: a plan, a coordinator with its broker, and devices, each a process of `zofl exec`
with a Python program behind it."""

import json
import pathlib
import re
import subprocess
import sys
import threading

import numpy as np

from counter import Counter

HERE = pathlib.Path(__file__).parent


RUN_KEY = "5a" * 32  # what directions and minibatches derive from: the same in every run


class Failed(Exception):
    pass


class Run:
    """A finished run: its records, the model after any of them, and what it cost."""

    def __init__(self, zofl, directory, preset, settings, names, model, texts, dim, wait=570):
        self.zofl, self.directory = str(zofl), pathlib.Path(directory)
        self.directory.mkdir(parents=True)
        self.model, self.texts, self.wait = str(model), str(texts), wait
        count = len(names)
        crowd = {"members": count, "target": count, "quorum": (count + 1) // 2}
        settings = {"run_key": RUN_KEY, **crowd, **settings}
        sets = [f"--set={name}={value}" for name, value in settings.items()]
        plan = self.directory / "plan.json"
        self.call("plan", "--preset", preset, "--run=lora", f"--dim={dim}", *sets, "--write", plan)
        self.lead(plan, names)

    def call(self, *args):
        done = subprocess.run([self.zofl, *map(str, args)], capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"zofl {args[0]}: {done.stderr.strip()}")
        return done.stdout

    def lead(self, plan, names):
        """Starts the coordinator and the devices, and waits for the end of the run."""
        started = []
        errors = open(self.directory / "errors.txt", "w")
        try:
            serve = subprocess.Popen(
                [self.zofl, "serve", plan, "--store", self.directory / "log", "--json",
                 "--listen=127.0.0.1:0"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            started.append(serve)
            counters = [Counter(port) for port in [broker_port(serve)] for _ in names]
            for name, counter in zip(names, counters):
                command = self.device(name, counter)
                said = open(self.directory / f"{name}.jsonl", "w")
                started.append(subprocess.Popen(command, stdout=said, stderr=errors))
            late = threading.Timer(self.wait, serve.kill)
            late.start()
            self.follow(serve)
            late.cancel()
            stops = [self.stop(name, device) for name, device in zip(names, started[1:])]
        finally:
            for process in reversed(started):
                if process.poll() is None:
                    process.terminate()  # a device ends its program, too
                    process.wait()
        for counter in counters:
            counter.close()
        self.sent = [counter.sent for counter in counters]
        self.received = [counter.received for counter in counters]
        self.digests = [stop["digest"] for stop in stops]
        self.records = stops[0]["n"]
        self.queries = sum(stop["queries"] for stop in stops)

    def follow(self, serve):
        """Reads the coordinator's events until the run ends."""
        for line in serve.stdout:
            event = json.loads(line)
            if event["event"] == "ended":
                return
            if event["event"] == "paused":
                raise Failed(f"the run has paused: {line.strip()}")
        raise Failed(f"zofl serve ended early, or took {self.wait} s: see {self.directory}")

    def device(self, name, counter):
        program = [sys.executable, str(HERE / "device.py"), self.model, self.texts]
        return [self.zofl, "exec", f"--url=nats://127.0.0.1:{counter.port}", "--run=lora",
                f"--id={name}", "--json", "--", *program]  # fmt: skip

    def stop(self, name, device):
        """Waits until a device has stopped. Returns what it said last, with its queries."""
        device.wait(self.wait)
        lines = (self.directory / f"{name}.jsonl").read_text().splitlines()
        lines = [json.loads(line) for line in lines]
        if device.returncode or not lines or lines[-1]["event"] != "stopped":
            raise Failed(f"{name} ended early: see {self.directory}/errors.txt")
        return {"queries": max(line.get("queries", 0) for line in lines)} | lines[-1]

    def verify(self):
        """Replays the log, and returns the digest of its model."""
        said = self.call("verify", "--store", self.directory / "log", "--json")
        return json.loads(said)["digest"]

    def after(self, record):
        """The parameters after a record."""
        out = self.directory / f"{record}.npy"
        self.call("export", "--store", self.directory / "log", "--at", record, "--out", out)
        return np.load(out)


def broker_port(serve):
    """Reads the messages of `zofl serve` until one names its broker, and then the rest unseen."""
    for line in serve.stderr:
        if found := re.search(r"broker=nats://127\.0\.0\.1:(\d+)", line):
            threading.Thread(target=serve.stderr.read, daemon=True).start()
            return int(found[1])
    raise Failed(f"zofl serve ended with {serve.wait()}")
