"""Leads a run, starts its four devices, and says what came of it. run.sh starts this program.

    python run.py WORK ROUNDS -- COMMAND OF THE DEVICE IN JAVA
"""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

import engine

HERE = Path(__file__).parent
PATIENCE = 300  # seconds for the whole run
# The engine rounds what is between its layers to bytes, so the loss is made of small steps. A probe
# has to be longer than these: mu=auto would choose one that sees their edges only.
MU = 0.05


def lead(zofl, work, dim, rounds):
    """Starts the coordinator and a broker. It returns the process, and the broker's address."""
    fields = ["members=4", "target=4", "quorum=3", f"rounds={rounds}", f"mu={MU}"]
    subprocess.run([zofl, "plan", "--run", "digits", "--dim", str(dim), "--write",
                    work / "plan.json", *(f"--set={field}" for field in fields)],
                   check=True, stdout=subprocess.DEVNULL)
    server = subprocess.Popen([zofl, "serve", work / "plan.json", "--store", work / "log",
                               "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        for word in line.split():
            if word.startswith("broker="):
                threading.Thread(target=server.stderr.read, daemon=True).start()
                return server, word.removeprefix("broker=")
    raise SystemExit(f"zofl serve ended with {server.wait()}")


def devices(zofl, work, url, java):
    """The commands of four devices, each with the pictures of its camera."""
    digits = work / "digits"
    for k in range(1, 4):
        yield [zofl, "exec", "--json", "--url", url, "--run", "digits", "--id", f"python-{k}", "--",
               sys.executable, HERE / "device.py", digits, f"camera-{k}"]
    yield [*java, url, "digits", "java-4", digits, "camera-4"]


def last(process, out, until):
    """The last line of a device: where it stopped, with which digest."""
    if process.wait(until - time.monotonic()) != 0:
        raise SystemExit(f"a device ended with {process.returncode}: {process.args}")
    return json.loads(out.read_text().splitlines()[-1])


def run(zofl, work, rounds, java):
    """A whole run. It returns the last lines of the devices, and the model of the log."""
    dim = engine.Model(work / "digits", "test").dim
    server, url = lead(zofl, work, dim, rounds)
    started = {}
    try:
        for command in devices(zofl, work, url, java):
            out = work / f"{len(started)}.out"
            with out.open("w") as file:
                started[out] = subprocess.Popen(command, stdout=file)
        until = time.monotonic() + PATIENCE
        ends = [last(process, out, until) for out, process in started.items()]
    finally:
        for process in [*started.values(), server]:
            process.terminate()
            process.wait()
    model = work / "adapters.npy"
    subprocess.run([zofl, "export", "--store", work / "log", "--out", model], check=True,
                   stdout=subprocess.DEVNULL)
    return ends, np.load(model)


def check(ends, rounds, before, after):
    """Ends with an error unless the devices repaired the model, and agree on it."""
    if len({(end["n"], end["digest"]) for end in ends}) != 1:
        raise SystemExit("the devices have different models")
    if ends[-1]["rounds"] < rounds // 2:
        raise SystemExit(f"the device in Java contributed to {ends[-1]['rounds']} rounds only")
    if before > 0.25 or after < 0.8:
        raise SystemExit("want at most 25 % right before, and at least 80 % after")


def main(work, rounds, java):
    began = time.monotonic()
    ends, adapters = run(work / "zofl", work, rounds, java)
    seconds = time.monotonic() - began
    clean, test = (engine.Model(work / "digits", name) for name in ("clean", "test"))
    nothing = np.zeros_like(adapters)
    before, after = test.accuracy(nothing), test.accuracy(adapters)
    print(f"model: {(work / 'digits/model.onnx').stat().st_size:,} bytes, "
          f"{clean.accuracy(nothing):.1%} right; {len(adapters)} adapters")
    print(f"cameras changed: {before:.1%} right; after {rounds} rounds {after:.1%}, "
          f"in {seconds:.0f} s")
    for end in ends:
        print(f"{end['id']}: record {end['n']}, digest {end['digest'][:16]}")
    sent, received = ends[-1]["sent"], ends[-1]["received"]
    print(f"{ends[-1]['id']} sent {sent:,} bytes and received {received:,}: "
          f"{sent / rounds:.0f} and {received / rounds:.0f} a round")
    check(ends, rounds, before, after)


if __name__ == "__main__":
    split = sys.argv.index("--")
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[split + 1 :])
