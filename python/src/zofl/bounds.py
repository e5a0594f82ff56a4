"""Bounds of parameters, as boxes of a plan."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from .plans import Value
from .tree import Tree

_MOST = 512  # segments of a plan


def boxed(bounds: Any, tree: Tree) -> dict[str, Value]:
    """The fields of a plan that keep parameters in bounds: (low, high), a pair for each parameter,
    or scipy.optimize.Bounds."""
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        low, high = bounds.lb, bounds.ub
    else:
        try:
            pairs = np.asarray(bounds, np.float64)
        except (TypeError, ValueError):
            raise ValueError("bounds are no pairs of numbers: give (low, high) for each "
                             "parameter") from None
        if pairs.shape not in ((2,), (tree.dim, 2)):
            raise ValueError(f"bounds of shape {pairs.shape}: give (low, high), or {tree.dim} "
                             "pairs")
        low, high = pairs[..., 0], pairs[..., 1]
    low = np.broadcast_to(np.asarray(low, np.float32), tree.dim)
    high = np.broadcast_to(np.asarray(high, np.float32), tree.dim)
    for i, (a, x, b) in enumerate(zip(low, tree.vector, high)):
        if not (np.isfinite(a) and np.isfinite(b)):
            raise ValueError(f"bounds of parameter {i} are {a} and {b}: give two finite numbers, "
                             "as the method needs both")
        if not a <= b:
            raise ValueError(f"bounds of parameter {i} are {a} and {b}: give the lower one first")
        if not a <= x <= b:
            raise ValueError(f"x0 is {x} at parameter {i}, and its bounds are {a} and {b}: begin "
                             "within them")
    runs = [(box, len(list(same))) for box, same in groupby(zip(low.tolist(), high.tolist()))]
    boxes = [{"low": a, "high": b} for (a, b), _ in runs]
    if len(runs) == 1:
        return {"boxes": boxes}
    if len(runs) > _MOST:
        raise ValueError(f"bounds of {len(runs)} kinds in a row: a plan holds {_MOST}")
    return {"boxes": boxes,
            "segments": [{"name": f"s{i}", "len": n} for i, (_, n) in enumerate(runs)]}
