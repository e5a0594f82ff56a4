"""Four devices with 96 sentences each fine-tune LoRA's factors of SmolLM2's last layer, by losses
alone, and write an adapter that PEFT loads.

    ./run.sh train.py --layers 1 --rounds 60 --write adapter
"""

import argparse
import pathlib
import time

import numpy as np
import torch

import adapter
import fetch
import fleet
import sentences
import smollm
import zofl
from films import Films

DATA = pathlib.Path(__file__).parent / "_data"
DEVICES = 4


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--layers", type=int, default=1, help="the last layers, which are trained")
    flags.add_argument("--rounds", type=int, default=60)
    flags.add_argument("--batch", type=int, default=32, help="sentences of a minibatch")
    flags.add_argument("--each", type=int, default=96, help="sentences of a device")
    flags.add_argument("--test", type=int, default=256, help="sentences that no device has")
    flags.add_argument("--write", default="adapter", help="the folder of the adapter")
    args = flags.parse_args()
    torch.set_num_threads(1)

    model = smollm.Smol(smollm.read(DATA / fetch.MODEL))
    texts, labels = sentences.load(DATA / fetch.SENTENCES)
    held, shards = sentences.split(labels, DEVICES, args.each, args.test)
    print(f"SmolLM2: {model.depth} layers; {len(texts):,} sentences, {labels.mean():.1%} praise")
    print("devices have", ", ".join(f"{labels[shard].mean():.0%}" for shard in shards), "praise")

    def read(chosen):
        return Films.read(model, args.layers, [texts[i] for i in chosen], labels[chosen])

    began = time.process_time()
    test, films = read(held), read(np.concatenate(shards))
    took = (time.process_time() - began) / (len(test) + len(films))
    print(f"the layers below the trained ones: once, {took:.3f} s of CPU a sentence")

    x = adapter.start(model, args.layers)
    plan = zofl.plan(run="films", initial=x, members=DEVICES, target=DEVICES, quorum=DEVICES - 1,
                     rounds=args.rounds, batch=args.batch, deadline=600_000)  # fmt: skip
    size = sum(w.size for w in x.values())
    print(f"preset {plan['preset']}, {args.rounds} rounds, {size:,} parameters")
    print("before: {:.1%} right, loss {:.3f}".format(*test.judge(x)))
    own = np.split(np.arange(len(films)), DEVICES)
    began = time.process_time()
    out = fleet.train(plan, films, own)
    took = time.process_time() - began
    print("after:  {:.1%} right, loss {:.3f}".format(*test.judge(out.x)))
    print(f"{out.losses:,} losses, {1000 * took / out.losses:.0f} ms of CPU each")
    print(f"bytes of each device, both ways: {out.bytes}")
    print(f"all devices have the model {out.digest[:16]}")
    adapter.save(args.write, out.x)
    print(f"PeftModel.from_pretrained(model, {args.write!r}) loads it")


if __name__ == "__main__":
    main()
