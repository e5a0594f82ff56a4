"""Leads a run, starts its four devices, and says what came of it. run.sh starts this program.

    python run.py DIR ROUNDS COMMAND OF THE DEVICE IN JAVA...
"""

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np

import engine
import zofl

HERE = Path(__file__).parent
PATIENCE = 300  # seconds for the whole run
# The engine rounds what is between its layers to bytes, so the loss is made of small steps. A probe
# has to be longer than these.
MU = 0.05


def take_part(url, directory, java):
    """Starts four devices, each with the pictures of a camera, and returns their last lines.

    The first that fails ends the others.
    """
    python = [sys.executable, HERE / "device.py"]
    started = []
    with ThreadPoolExecutor() as waiting:
        try:
            for k, name in enumerate(["python-1", "python-2", "python-3", "java-4"], 1):
                command = java if name.startswith("java") else python
                command = [*command, url, "digits", name, directory, f"camera-{k}"]
                started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            ends = [waiting.submit(last, process) for process in started]
            for end in as_completed(ends, PATIENCE):
                end.result()
            return [end.result() for end in ends]
        finally:
            for process in started:
                process.terminate()


def last(process):
    """The last line of a device: where it stopped, with which digest."""
    out, _ = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"a device ended with {process.returncode}: {process.args}")
    return json.loads(out.splitlines()[-1])


def check(ends, rounds, before, after):
    """Ends with an error unless the devices repaired the model, and agree on it."""
    if len({(end["n"], end["digest"]) for end in ends}) != 1:
        raise SystemExit("the devices have different models")
    if ends[-1]["rounds"] < rounds // 2:
        raise SystemExit(f"the device in Java contributed to {ends[-1]['rounds']} rounds only")
    if before > 0.25 or after < 0.8:
        raise SystemExit("want at most 25 % right before, and at least 80 % after")


def main(directory, rounds, java):
    clean, test = (engine.Model(directory, name) for name in ("clean", "test"))
    nothing = np.zeros(test.dim, np.float32)
    before = test.accuracy(nothing)
    size = (directory / "model.onnx").stat().st_size
    print(f"model: {size:,} bytes, {clean.accuracy(nothing):.1%} right; {test.dim} adapters")

    began = time.monotonic()
    plan = zofl.plan(run="digits", dim=test.dim, rounds=rounds, mu=MU,
                     members=4, target=4, quorum=3)
    with zofl.serve(plan) as server:
        ends = take_part(server.url, directory, java)
        adapters = server.export()
    after = test.accuracy(adapters)
    print(f"cameras changed: {before:.1%} right; after {rounds} rounds {after:.1%}, "
          f"in {time.monotonic() - began:.0f} s")

    for end in ends:
        print(f"{end['id']}: record {end['n']}, digest {end['digest'][:16]}")
    sent, received = ends[-1]["sent"], ends[-1]["received"]
    print(f"{ends[-1]['id']} sent {sent:,} bytes and received {received:,}: "
          f"{sent / rounds:.0f} and {received / rounds:.0f} a round")
    print(f"{ends[-1]['id']} evaluated {ends[-1]['speed']:,} losses a second in its quickest step")
    check(ends, rounds, before, after)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # no process is left behind
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
