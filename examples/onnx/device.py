"""A device in Python: python device.py URL RUN ID DIR CAMERA

It takes part until the run ends, then prints a line of JSON. Device.java is the same in Java.
"""

import json
import sys

import engine
import zofl


def main(url, run, name, directory, camera):
    model = engine.Model(directory, camera)
    count = len(model.labels)
    device = zofl.Device(
        url, run, name, dim=model.dim, samples=count,
        losses=lambda points, batch: model.losses(points, batch.choose(count)))
    end = device.run()
    print(json.dumps({"id": name, "n": end.record, "digest": end.digest}))


if __name__ == "__main__":
    main(*sys.argv[1:])
