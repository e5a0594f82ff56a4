"""The last layer where it alone is trained. What its factors do not change is computed once, and
kept: of each sentence the last token's row and its Q, and all tokens' normed rows, K and V."""

import torch

from smollm import linear, padded


class Last:
    """In the sums n is a sentence, t a token, p a point, g a group of heads, j a head of it, d an
    element of a head, r one of the rank."""

    def __init__(self, model):
        self.model, self.i = model, model.depth - 1
        self.tokens, self.depth = model.tokens, model.depth
        self.weights = model.layers[self.i]

    @torch.no_grad()
    def keep(self, x):
        """What of a sentence is kept: x [its tokens, width] enters the layer."""
        model, w = self.model, self.weights
        h = model.rms(x, w["input_layernorm"])
        q, k, v = (h @ w[f"self_attn.{name}_proj"].T for name in "qkv")
        k = model.rotated(model.apart(k[None], model.shared), torch.arange(len(x))[None])[0]
        return x[-1].clone(), q[-1].clone(), torch.cat([h, k.transpose(0, 1).flatten(1), v], 1)

    def scores(self, kept, words, lora):
        """What Smol.scores returns, of kept sentences."""
        model, w = self.model, self.weights
        x, q, rows = zip(*kept)
        rows, ends = padded(rows)
        h, k, v = rows[0].split([model.width, *[len(w["self_attn.k_proj"])] * 2], -1)
        k, v = (y.unflatten(-1, (model.shared, -1)) for y in (k, v))
        a, b = lora[self.i, "q_proj"]
        last = h[torch.arange(len(ends)), ends]
        q = torch.stack(q) + (last @ a.transpose(1, 2)) @ b.transpose(1, 2)
        q = model.rotated(model.apart(q[:, :, None], model.heads), ends[:, None])[..., 0, :]
        q = q.unflatten(2, (model.shared, -1))
        heard = torch.einsum("pngjd,ntgd->pngjt", q, k) * k.shape[-1] ** -0.5
        later = torch.arange(h.shape[1]) > ends[:, None, None, None]
        heard = heard.masked_fill(later, -torch.inf).softmax(-1)
        # The factors are summed over tokens before B is met: its product is small then.
        a, b = lora[self.i, "v_proj"]
        low = torch.einsum("ntw,prw->pntr", h, a)
        low = torch.einsum("pngjt,pntr->pngjr", heard, low)
        low = torch.einsum("pngjr,pgdr->pngjd", low, b.unflatten(1, (model.shared, -1)))
        heard = torch.einsum("pngjt,ntgd->pngjd", heard, v) + low
        x = torch.stack(x) + linear(heard.flatten(2), w["self_attn.o_proj"])
        x = model.mlp(self.i, x)
        return model.rms(x, model.norm) @ model.embedding[words].T
