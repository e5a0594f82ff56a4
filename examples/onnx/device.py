"""The loss of a device, as docs/exec.md asks for it.

    zofl exec --url URL --run RUN --id ID -- python device.py DIR CAMERA
"""

import sys

import numpy as np

import engine

model = engine.Model(*sys.argv[1:])
for line in sys.stdin:
    verb, *words = line.split()
    said = dict(word.split("=", 1) for word in words if "=" in word)
    if verb == "hello":
        print(f"hello 1 dim={model.dim} points=32 samples={len(model.labels)}", flush=True)
    elif verb == "map":
        path = line.rstrip("\n").split("path=", 1)[1]
        shape = int(said["points"]), int(said["dim"])
        points = np.memmap(path, "<f4", "r", shape=shape)
        print("ok", flush=True)
    elif verb == "loss":
        count, size = len(model.labels), int(said["size"])
        some = np.arange(count)
        if 0 < size < count:
            some = np.random.default_rng(int(said["seed"])).choice(count, size, replace=False)
        print("loss", *model.losses(points[: int(said["points"])], some), flush=True)
    else:
        print("error unknown request", flush=True)
