"""The sizes of the language model: what its weights and LoRA factors are called, and their shapes.

The model reads bytes below 128. A layer is attention and a feed-forward network, each after a layer
norm and added to what it read. No linear map has a bias.
"""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Sizes:
    vocabulary: int = 128
    width: int = 128
    layers: int = 5
    heads: int = 4
    context: int = 64  # bytes that the model sees at most
    rank: int = 4  # of the LoRA factors

    def weights(self):
        """Yields the name and the shape of each weight. Linear maps are inputs x outputs."""
        d = self.width
        yield "bytes", (self.vocabulary, d)
        yield "places", (self.context, d)
        for i in range(self.layers):
            for norm in ("norm1", "norm2"):
                yield f"layer{i}.{norm}.scale", (d,)
                yield f"layer{i}.{norm}.shift", (d,)
            for name in ("q", "k", "v", "out"):
                yield f"layer{i}.{name}", (d, d)
            yield f"layer{i}.up", (d, 4 * d)
            yield f"layer{i}.down", (4 * d, d)
        yield "norm.scale", (d,)
        yield "norm.shift", (d,)
        yield "head", (d, self.vocabulary)

    def factors(self):
        """Yields the name and the shape of each trained LoRA factor, in the order in which a
        device's parameters hold them: A and B of Q and V of each layer."""
        d, r = self.width, self.rank
        for i in range(self.layers):
            for name in ("q", "v"):
                yield f"layer{i}.{name}.A", (d, r)
                yield f"layer{i}.{name}.B", (r, d)

    def dim(self):
        """The number of trained parameters."""
        return sum(a * b for _, (a, b) in self.factors())

    def fields(self):
        return asdict(self)


def cut(sizes, x):
    """Cuts parameters x into the factors. Returns views by name."""
    out, at = {}, 0
    for name, (a, b) in sizes.factors():
        out[name] = x[at : at + a * b].reshape(a, b)
        at += a * b
    if at != len(x):
        raise ValueError(f"parameters = {len(x)}: the factors have {at}")
    return out
