"""Leads one run: a plan, a coordinator with its broker, and devices, each a process of `zofl exec`
with a Python program behind it."""

import json
import pathlib
import socket
import subprocess
import sys

import numpy as np

from counter import Counter

HERE = pathlib.Path(__file__).parent


class Failed(Exception):
    pass


class Run:
    """A finished run: its records, the model after any of them, and what it cost."""

    def __init__(self, zofl, directory, preset, settings, names, model, texts, dim, wait=570):
        self.zofl, self.directory = str(zofl), pathlib.Path(directory)
        self.directory.mkdir(parents=True)
        self.model, self.texts, self.wait = str(model), str(texts), wait
        count = len(names)
        settings = {"members": count, "target": count, "quorum": count, **settings}
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
        started, log = [], self.directory / "log"
        errors = open(self.directory / "errors.txt", "w")
        try:
            port = free_port()
            serve = subprocess.Popen(
                [self.zofl, "serve", plan, "--store", log, "--json", f"--listen=127.0.0.1:{port}"],
                stdout=subprocess.PIPE, stderr=errors, text=True,
            )  # fmt: skip
            started.append(serve)
            if not serve.stdout.readline():  # its first event: the broker listens
                raise Failed(f"zofl serve ended: see {errors.name}")
            events = open(self.directory / "events.jsonl", "w")
            copy = subprocess.Popen(["cat"], stdin=serve.stdout, stdout=events)
            counters = [Counter(port) for _ in names]
            devices = []
            for name, counter in zip(names, counters):
                command = self.device(name, counter)
                devices.append(
                    subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
                )
                started.append(devices[-1])
            stops = [self.stop(name, device) for name, device in zip(names, devices)]
            serve.terminate()
            serve.wait(self.wait)
            copy.wait(self.wait)
        finally:
            for process in started:
                if process.poll() is None:
                    process.kill()
                    process.wait()
        for counter in counters:
            counter.close()
        self.sent = [counter.sent for counter in counters]
        self.received = [counter.received for counter in counters]
        self.digests = [stop["digest"] for stop in stops]
        self.records = stops[0]["n"]
        self.queries = sum(stop["queries"] for stop in stops)

    def device(self, name, counter):
        program = [sys.executable, str(HERE / "device.py"), self.model, self.texts]
        return [self.zofl, "exec", f"--url=nats://127.0.0.1:{counter.port}", "--run=lora",
                f"--id={name}", "--json", "--", *program]  # fmt: skip

    def stop(self, name, device):
        """Waits until a device has stopped. Returns what it said last, with its queries."""
        try:
            out, _ = device.communicate(timeout=self.wait)
        except subprocess.TimeoutExpired:
            raise Failed(f"{name} did not end in {self.wait} s: see {self.directory}") from None
        lines = [json.loads(line) for line in out.splitlines()]
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


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
