"""Minibatches of a dataset, as a run draws them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from ..batch import Batch

Collate = Callable[[list[Any]], Any]


class Data:
    """Anything with a length and items: a list, a tensor, a dataset of torch or of Hugging Face.

    All losses of a step get the same minibatch, which is collated once.
    """

    def __init__(self, rows: Any, collate: Collate | None, device: Any) -> None:
        if not (hasattr(rows, "__len__") and hasattr(rows, "__getitem__")):
            raise TypeError(f"dataset is a {type(rows).__name__}: give what has a length and items, "
                            "such as a list, or a dataset that is no stream")
        if len(rows) == 0:
            raise ValueError("dataset has no rows: give one at least")
        self.rows, self._collate, self._device = rows, collate, device
        self._of: tuple[Any, ...] = ()
        self._kept: Any = None

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, batch: Batch) -> Any:
        """The minibatch, where the module is."""
        of = (batch.device, batch.n, batch.step, batch.size, batch.seed)
        if of != self._of:
            self._kept = None  # before the next one is made
            chosen = batch.choose(len(self.rows)).tolist()
            collate = self._collate or torch.utils.data.default_collate
            self._kept = moved(collate(self._items(chosen)), self._device)
            self._of = of
        return self._kept

    def _items(self, chosen: list[int]) -> list[Any]:
        many = getattr(self.rows, "__getitems__", None)  # what torch's own loaders ask for first
        return list(many(chosen)) if callable(many) else [self.rows[i] for i in chosen]


def moved(value: Any, device: Any) -> Any:
    """A minibatch with its tensors on a device."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, Mapping):
        return {key: moved(v, device) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [moved(v, device) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value
