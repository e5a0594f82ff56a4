"""The perplexity of a model on what each device held out."""

import math

import text
from device import HELD_OUT


def held_out(model, texts):
    """Returns the windows of each text's last fifth on which a model is judged."""
    context, out = model.sizes.context, []
    for book in texts:
        _, last = text.halves(book)
        out.append(text.windows(last, text.spread(last, context, HELD_OUT), context))
    return out


def perplexity(model, rows, x):
    """Returns the perplexity a byte: of the mean of the devices' losses."""
    losses = [model.loss(x, some) for some in rows]
    return math.exp(sum(losses) / len(losses))
