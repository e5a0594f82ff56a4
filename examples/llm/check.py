"""Checks the example: the whole model names the capital of France, and four devices train LoRA on
its first two layers with 64 sentences, over a real broker."""

import json
import pathlib
import tempfile

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
MOST = 100_000  # bytes of a device in all
RUN_KEY = "5a" * 32  # what directions and minibatches derive from: the same in every run


def want(condition, what):
    if not condition:
        raise SystemExit(f"check.py: {what}")


def check_model(file):
    """Reader, tokens, rotary embedding and grouped heads: any of them wrong, and it babbles."""
    model = smollm.Smol(file)
    states = model.states(["The capital of France is"], model.depth - 1)
    lora = adapter.factors(adapter.start(model, 1), model.depth - 1, model.depth)
    best = model.scores(states, slice(None), lora)[0, 0].argmax().item()
    want(best == model.tokens.encode(" Paris")[0], f"token {best} is the capital of France")
    text = "It's 1999's  naïve_film…\n"
    back = {number: token for token, number in model.tokens.numbers.items()}
    bytes_of = {c: b for b, c in model.tokens.characters.items()}
    again = "".join(back[number] for number in model.tokens.encode(text))
    want(bytes(bytes_of[c] for c in again).decode() == text, f"{text!r} became {again!r}")


def check_films(films, x):
    """Padding changes nothing, points do not mix, and A changes nothing while B is zero."""
    rng = np.random.default_rng(1)
    xs = {name: np.stack([w, w + rng.normal(0, 0.1, w.shape)]) for name, w in x.items()}
    xs = {name: w.astype(np.float32) for name, w in xs.items()}
    chosen = np.arange(8)
    both = films.at(xs, chosen)
    for point in (0, 1):
        each = [films.at({n: w[point, None] for n, w in xs.items()}, [i])[0] for i in chosen]
        want(abs(np.mean(each) - both[point]) < 1e-4, f"{np.mean(each)} alone, {both} together")
    want(abs(both[0] - both[1]) > 1e-3, f"other factors have the same loss: {both}")
    only = {name: w + 1 if "lora_A" in name else w for name, w in x.items()}
    want(films.judge(only) == films.judge(x), "A changes the loss while B is zero")


def check_last(model, texts, labels):
    """What is kept of the last layer gives the same scores, and gradients are slopes of losses."""
    first = model.depth - 1
    states = model.states(texts, first)
    films = Films.of(model, 1, states, labels)
    rng = np.random.default_rng(2)
    start = adapter.start(model, 1)
    x, z = ({n: rng.normal(0, 0.1, (3, *w.shape)).astype(np.float32) for n, w in start.items()}
            for _ in "xz")  # fmt: skip
    whole = model.scores(states, films.words, adapter.factors(x, first, model.depth))
    off = (films.scores(x, films.states) - whole).abs().max().item()
    want(off < 1e-4, f"scores of kept sentences are off by {off}")
    x, z = ({name: w[0] for name, w in y.items()} for y in (x, z))
    _, gradient = films.gradient(x, Whole())
    slope = sum((gradient[name] * z[name]).sum() for name in x)
    mu = 1e-2
    ends = {name: np.stack([x[name] + mu * z[name], x[name] - mu * z[name]]) for name in x}
    high, low = films.losses(ends, Whole())
    found = (high - low) / (2 * mu)
    want(abs(found - slope) < 0.02 * abs(slope), f"a slope of {slope}, by losses {found}")


class Whole:
    """The minibatch of all sentences."""

    def choose(self, samples):
        return np.arange(samples)


def check_adapter(directory, x):
    """What PEFT looks for is there, byte for byte."""
    adapter.save(directory, x)
    raw = (directory / "adapter_model.safetensors").read_bytes()
    size = int.from_bytes(raw[:8], "little")
    head = json.loads(raw[8 : 8 + size])
    for name, w in x.items():
        begin, end = head[name]["data_offsets"]
        stored = np.frombuffer(raw[8 + size + begin : 8 + size + end], "<f4")
        same = np.array_equal(stored.reshape(head[name]["shape"]), w)
        want(same and head[name]["dtype"] == "F32", f"{name} was stored as {head[name]}")
    want(len(head) == len(x) + 1, f"the file has {sorted(head)}")
    config = json.loads((directory / "adapter_config.json").read_text())
    shapes = {n.split("layers.")[1]: w.shape for n, w in x.items()}
    want(shapes["1.self_attn.v_proj.lora_B.weight"] == (192, config["r"]), f"shapes: {shapes}")
    want(config["layers_to_transform"] == [0, 1], f"adapter_config.json has {config}")


def check_fleet(films, x, rounds):
    """The loss falls, devices agree, bytes are few. Gradients go the same way."""
    own = np.arange(len(films)).reshape(-1, 4).T
    plan = zofl.plan("decomfl", run="films", run_key=RUN_KEY, initial=x, members=4, target=4,
                     quorum=4, rounds=rounds, batch=4, perturbations=5, step=0.02,
                     deadline=600_000)  # fmt: skip
    out = fleet.train(plan, films, own)
    start, end = films.judge(x)[1], films.judge(out.x)[1]
    want(end < start, f"the loss was {start}, and after {rounds} rounds {end}")
    want(0 < max(out.bytes) < MOST, f"bytes of the devices: {out.bytes}")
    _, end = films.judge(backpropagation(films, own, x, 3, (4, 8), 1e-3))
    want(end < start, f"the loss was {start}, and after 3 steps of gradients {end}")
    return out.x


def main():
    torch.set_num_threads(1)
    file = smollm.read(DATA / fetch.MODEL)
    check_model(file)
    texts, labels = sentences.load(DATA / fetch.SENTENCES)
    want(len(texts) == 10_072 and labels.sum() == 4_996, f"{len(texts)} sentences")
    _, shards = sentences.split(labels, 4, 16, 64)
    chosen = np.concatenate(shards)
    model = smollm.Smol(file, 2)
    films = Films.read(model, 2, [texts[i] for i in chosen], labels[chosen])
    x = adapter.start(model, 2)
    check_films(films, x)
    check_last(model, [texts[i] for i in chosen[::8]], labels[chosen[::8]])
    x = check_fleet(films, x, 8)
    with tempfile.TemporaryDirectory() as scratch:
        check_adapter(pathlib.Path(scratch), x)
    print("check.py: all is well")


if __name__ == "__main__":
    main()
