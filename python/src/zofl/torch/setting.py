"""What holds while a loss works with a module: no gradients, the same draws, nothing changed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from ..process import log

_MIXES = (torch.nn.modules.dropout._DropoutNd, torch.nn.modules.batchnorm._NormBase)


class Setting:
    """Keeps a module still while losses are taken of it.

    Its parts are set to eval() before the first loss, unless eval_mode is False, and have their own
    mode again at the end.
    """

    def __init__(self, module: Any, trained: dict[str, Any], eval_mode: bool) -> None:
        self._module, self._eval = module, eval_mode
        self._trained = set(trained)
        self._modes: list[tuple[Any, bool]] | None = None  # of the parts, before the first loss
        self._watched: list[tuple[str, dict[str, Any], str, Any, int]] = []
        self._told: set[str] = set()

    def begin(self) -> None:
        """Prepares the module, once."""
        if self._modes is not None:
            return
        self._modes = [(part, part.training) for part in self._module.modules()]
        if self._eval:
            mixing = [p for p, training in self._modes if training and isinstance(p, _MIXES)]
            if mixing:
                log.warning("the module is set to eval() while it is trained: %s is still. "
                            "eval_mode=False leaves it as it is", type(mixing[0]).__name__)
            self._module.eval()

    def end(self) -> None:
        """Gives the parts of the module their own modes back."""
        for part, training in self._modes or []:
            part.training = training
        self._modes, self._watched = None, []

    @contextmanager
    def work(self, seed: int, name: str, gradient: bool = False) -> Iterator[None]:
        """In this block a function of the app, of this name, may use the module."""
        self.begin()
        self._watch()
        with torch.set_grad_enabled(gradient), self._drawing(seed):
            yield
        self._look(name)

    @contextmanager
    def _drawing(self, seed: int) -> Iterator[None]:
        """Torch draws the same at all points of a step, such as a dropout's masks."""
        cards = sorted({p.device.index for p in self._module.parameters() if p.device.type == "cuda"})
        with torch.random.fork_rng(cards), warnings.catch_warnings():
            torch.manual_seed(seed & (1 << 63) - 1)
            yield

    def _watch(self) -> None:
        """Notes the state of all tensors. A tensor counts its changes in place."""
        self._watched = [
            (f"{at}.{name}" if at else name, place, name, t, t._version)
            for at, part in self._module.named_modules()
            for place in (part._parameters, part._buffers)
            for name, t in place.items() if isinstance(t, torch.Tensor)]

    def _look(self, function: str) -> None:
        """Says once of each tensor that a function changed it."""
        for name, place, own, t, version in self._watched:
            if name in self._told or (t._version == version and place.get(own) is t):
                continue
            self._told.add(name)
            kind = "a trained parameter" if name in self._trained else \
                "a frozen parameter" if isinstance(t, torch.nn.Parameter) else "a buffer"
            then = "each loss begins with the parameters of its point all the same" \
                if name in self._trained else "later losses begin with what it left there"
            log.warning("%s changes %s, %s of the module: %s. Compute with copies, or in eval()",
                        function, name, kind, then)
