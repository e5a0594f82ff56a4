"""The methods beside each other, by the protocol of DeComFL's tables 2 and 6: LoRA of rank 8 on Q
and V, 2 of 8 devices in a round, Dirichlet shares, minibatches of 32 sentences.

    ./run.sh table.py --rounds 3000 --seeds 3

A row that is in the file --rows is not run again: so the table can be interrupted at any row.
`zofl` has half the rounds of DeComFL. MeZO is a single device with all shards.
"""

import argparse
import hashlib
import json
import pathlib
import resource
import subprocess
import sys
import time

import numpy as np
import torch

import adapter
import fetch
import fleet
import sentences
import smollm
import zofl
from films import Films, backpropagation

DATA = pathlib.Path(__file__).parent / "_data"
DEVICES, ASKED, EACH, TEST, BATCH = 8, 2, 256, 872, 32
FLEET = {"members": DEVICES, "target": ASKED, "quorum": ASKED}
ALONE = {"members": 1, "target": 1, "quorum": 1}
# The preset, its fields beside the protocol's, and the rounds for each of --rounds. Steps are the
# best of 0.01, 0.03, 0.1, 0.3 and 1 after 300 rounds of DeComFL, and of 0.003 to 0.1 after 1,000 of
# MeZO: there 0.03, which is too long for 3,000. diverge=0: the losses of devices that have other
# labels differ by more than the model's, and a run would pause.
METHODS = {
    "mezo": ("mezo", {**ALONE, "step": 0.01, "diverge": 0}, 1),
    "decomfl-5": ("decomfl", {**FLEET, "perturbations": 5, "step": 0.03, "diverge": 0}, 1),
    "decomfl-10": ("decomfl", {**FLEET, "perturbations": 10, "step": 0.03, "diverge": 0}, 1),
    "zofl": ("zofl", FLEET, 0.5),
    "zofl-lowrank": ("zofl", {**FLEET, "distribution": "lowrank"}, 0.5),
}
FIRST_ORDER = ("zero-shot", "backpropagation")


def kept_states(layers, texts, labels):
    """What enters the trained layers, of all sentences of the protocol, computed once and stored."""
    held, shards = sentences.split(labels, DEVICES, EACH, TEST)
    chosen = np.concatenate([held, *shards])
    file = DATA / f"states-{layers}.npz"
    if not file.exists():
        model = smollm.Smol(smollm.read(DATA / fetch.MODEL))
        films = Films.read(model, layers, [texts[i] for i in chosen], labels[chosen])
        lengths = [len(state) for state in films.states]
        np.savez(DATA / "part.npz", lengths=lengths, states=torch.cat(films.states).numpy())
        (DATA / "part.npz").rename(file)
    with np.load(file) as kept:
        states = torch.from_numpy(kept["states"]).split(kept["lengths"].tolist())
    return states, labels[chosen]


def row(args, method, seed):
    """Runs a method, and returns its row."""
    texts, labels = sentences.load(DATA / fetch.SENTENCES)
    states, labels = kept_states(args.layers, texts, labels)
    file = smollm.read(DATA / fetch.MODEL)
    depth = file.field("block_count")
    model = smollm.Smol(file, begin=depth - args.layers)
    films = Films.of(model, args.layers, states, labels)
    test, films = films.some(np.arange(TEST)), films.some(np.arange(TEST, len(labels)))
    own = np.split(np.arange(len(films)), DEVICES)
    x = adapter.start(model, args.layers, seed)
    began, spent = time.monotonic(), {}
    if method == "backpropagation":
        steps = max(args.rounds // 10, 1)
        x = backpropagation(films, own, x, steps, (ASKED, BATCH), 1e-3, seed)
        spent["gradients"] = steps * ASKED
    elif method != "zero-shot":
        x, spent = trained(args, method, seed, films, own, x)
    right, loss = test.judge(x)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    took = round(time.monotonic() - began)
    return {"accuracy": right, "loss": loss, **spent, "megabytes": memory, "seconds": took}


def trained(args, method, seed, films, own, x):
    preset, fields, share = METHODS[method]
    key = hashlib.sha256(f"{method} {seed}".encode()).hexdigest()
    fields = {**fields, **dict(args.set)}
    rounds = max(int(args.rounds * share), 1)
    plan = zofl.plan(preset, run="films", initial=x, batch=BATCH, run_key=key, rounds=rounds,
                     deadline=600_000, **fields)  # fmt: skip
    shards = own if fields["members"] > 1 else [np.concatenate(own)]
    out = fleet.train(plan, films, shards, args.gradients)
    spent = {"losses": out.losses, "bytes": max(out.bytes), "digest": out.digest[:16]}
    return out.x, {**spent, "gradients": rounds * fields["target"]} if args.gradients else spent


def known(file):
    lines = file.read_text().splitlines() if file.exists() else []
    return {row["row"]: row for row in map(json.loads, lines)}


def show(rows):
    print(f"{'row':60} accuracy   loss  losses  bytes of a device  MB")
    for name, found in rows.items():
        losses = found.get("losses", 0) + found.get("gradients", 0)
        print(f"{name:60} {found['accuracy']:8.3f} {found['loss']:6.3f} {losses:7,}",
              f"{found.get('bytes', 0):18,} {found['megabytes']:3}")  # fmt: skip


def setting(word):
    name, _, value = word.partition("=")
    return name, value


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--layers", type=int, default=1, help="the last layers, which are trained")
    flags.add_argument("--rounds", type=int, default=3000, help="of DeComFL")
    flags.add_argument("--seeds", type=int, default=3)
    flags.add_argument("--methods", default=",".join(["zero-shot", *METHODS, "backpropagation"]))
    flags.add_argument("--set", type=setting, action="append", default=[], metavar="FIELD=VALUE")
    flags.add_argument("--gradients", action="store_true",
                       help="devices differentiate, which costs as much as 4 losses")  # fmt: skip
    flags.add_argument("--rows", type=pathlib.Path, default=DATA / "table.jsonl")
    flags.add_argument("--one", help=argparse.SUPPRESS)  # a row, in a process of its own
    args = flags.parse_args()
    torch.set_num_threads(1)
    if args.one:
        print(json.dumps(row(args, args.one, args.seeds)))
        return
    for seed in range(1, args.seeds + 1):
        for method in args.methods.split(","):
            more = "".join(f" {name}={value}" for name, value in args.set)
            more += " gradients" * args.gradients
            name = f"{method} layers={args.layers} rounds={args.rounds} seed={seed}{more}"
            if name in known(args.rows) or (method == "zero-shot" and seed > 1):
                continue
            command = [sys.executable, __file__, f"--one={method}", f"--seeds={seed}",
                       f"--layers={args.layers}", f"--rounds={args.rounds}"]  # fmt: skip
            command += [f"--set={n}={value}" for n, value in args.set]
            command += ["--gradients"] * args.gradients
            said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            with args.rows.open("a") as out:
                print(json.dumps({"row": name, **json.loads(said)}), file=out, flush=True)
    show(known(args.rows))


if __name__ == "__main__":
    main()
