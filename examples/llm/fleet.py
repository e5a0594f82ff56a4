"""Devices that train an adapter over a broker: here all in one program, elsewhere a phone each."""

import contextlib
import pathlib
import re
import sys

import zofl

sys.path.append(str(pathlib.Path(__file__).parent.parent / "lora"))
from counter import Counter  # noqa: E402

PATIENCE = 24 * 3600  # seconds in which a run has to end


class Outcome:
    """What became of a run: the adapter x, its digest, and what the devices spent."""

    def __init__(self, results, counters):
        self.x, self.digest = results[0].x, results[0].digest
        if len({(result.record, result.digest) for result in results}) != 1:
            raise SystemExit(f"devices ended with unlike models: {results}")
        self.losses = sum(result.queries for result in results)
        self.bytes = [counter.sent + counter.received for counter in counters]


def train(plan, films, shards, gradients=False):
    """Leads a run of the plan with a device for each shard, until it ends. With gradients devices
    differentiate: the scalars are those to which the losses' differences converge as mu goes to 0.
    """
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(zofl.serve(plan))
        port = int(re.search(r":(\d+)$", server.url)[1])
        counters = [stack.enter_context(contextlib.closing(Counter(port))) for _ in shards]
        devices = []
        for i, (shard, counter) in enumerate(zip(shards, counters)):
            some = films.some(shard)
            device = zofl.Device(f"nats://127.0.0.1:{counter.port}", plan, f"phone-{i}",
                                 losses=some.losses, samples=len(some),
                                 gradient=some.gradient if gradients else None)  # fmt: skip
            devices.append(stack.enter_context(device))
        results = [device.wait(PATIENCE) for device in devices]
    return Outcome(results, counters)
