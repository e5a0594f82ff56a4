"""An app's functions of a module, as the run asks for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ..batch import Batch
from ..calls import arguments
from ..faults import ResultError, name_of
from ..protocol import Metrics
from .callbacks import State
from .data import Data
from .setting import Setting
from .start import ModuleTree

Function = Callable[..., Any]


class Asked:
    """A function of an app, in its setting. Errors name the function itself."""

    def __init__(self, function: Function, setting: Setting, data: Data | None = None) -> None:
        self.__wrapped__ = function
        self.__signature__ = inspect.signature(type(self).__call__.__get__(self))
        self._setting, self._data = setting, data

    def __call__(self, model: Any, batch: Batch) -> Any:
        raise NotImplementedError

    def _of(self, batch: Batch) -> Any:
        """What the function gets beside the model: its minibatch, or which one it is."""
        return batch if self._data is None else self._data.of(batch)


class Loss(Asked):
    """loss(model, batch) at one point."""

    def __call__(self, model: Any, batch: Batch) -> Any:
        with self._setting.work(batch.seed, name_of(self.__wrapped__)):
            return _number(arguments(self.__wrapped__, "batch")(model, self._of(batch)))


class Losses(Asked):
    """losses(model, points, batch) at many: of each name a tensor with an axis of points."""

    def __init__(self, function: Function, setting: Setting, data: Data | None,
                 module: Any) -> None:
        super().__init__(function, setting, data)
        self._module = module

    def __call__(self, points: Any, batch: Batch) -> Any:
        with self._setting.work(batch.seed, name_of(self.__wrapped__)):
            found = self.__wrapped__(self._module, points, self._of(batch))
            return found.tolist() if isinstance(found, torch.Tensor) else found


class Gradient(Asked):
    """Loss and gradient by torch's own differentiation of a loss."""

    def __init__(self, function: Function, setting: Setting, data: Data | None,
                 tree: ModuleTree) -> None:
        super().__init__(function, setting, data)
        self._tree = tree

    def __call__(self, model: Any, batch: Batch) -> Any:
        parameters = self._tree.parameters
        frozen = [p for p in parameters.values() if not p.requires_grad]
        for p in frozen:
            p.requires_grad_(True)
        try:
            with self._setting.work(batch.seed, name_of(self.__wrapped__), gradient=True):
                loss = arguments(self.__wrapped__, "batch")(model, self._of(batch))
                if not isinstance(loss, torch.Tensor) or not loss.requires_grad:
                    raise ResultError(f"{name_of(self.__wrapped__)} returned nothing that torch can "
                                      "differentiate: return a tensor, or leave gradient=True out")
                found = torch.autograd.grad(loss, list(parameters.values()), allow_unused=True)
        finally:
            for p in frozen:
                p.requires_grad_(False)
        return loss.detach(), {name: torch.zeros_like(p) if g is None else g for (name, p), g
                               in zip(parameters.items(), found)}


class Measured(Asked):
    """compute_metrics(model, dataset), which may return its metrics by name."""

    def __init__(self, function: Function, setting: Setting, rows: Any, names: Sequence[str],
                 samples: int, state: State) -> None:
        super().__init__(function, setting)
        self._rows, self._samples = rows, samples
        self._names = names.split(",") if isinstance(names, str) else list(names)
        self._state = state

    def __call__(self, model: Any, device: str) -> Any:  # type: ignore[override]
        with self._setting.work(0, name_of(self.__wrapped__)):
            found = arguments(self.__wrapped__, "dataset")(model, self._rows)
        if isinstance(found, Metrics):
            return found
        if isinstance(found, Mapping):
            values = {str(name): float(v) for name, v in found.items()}
            names = self._names or list(values)
            if missing := [n for n in names if n not in values]:
                raise ResultError(f"{name_of(self.__wrapped__)} returned no {missing[0]}, which is a "
                                  f"metric of the plan: it returned {', '.join(values) or 'nothing'}")
            self._state.metrics = values
            found = [values[n] for n in names]
        elif not hasattr(found, "__iter__"):
            found = [found]
        return Metrics([float(v) for v in found], self._samples)


def own_loss(model: Any, batch: Any) -> Any:
    """The loss that a model of Hugging Face's transformers computes itself."""
    if not isinstance(batch, Mapping):
        raise ResultError(f"loss is missing: give loss=lambda model, batch: ..., as the dataset's "
                          f"batches are no mappings of names, but {type(batch).__name__}")
    found = model(**batch)
    loss = found.get("loss") if isinstance(found, Mapping) else getattr(found, "loss", None)
    if loss is None:
        raise ResultError("the model returned no loss: give loss=, or a dataset with labels")
    return loss


def _number(found: Any) -> Any:
    """A loss, without torch's graph."""
    return found.detach() if isinstance(found, torch.Tensor) else found
