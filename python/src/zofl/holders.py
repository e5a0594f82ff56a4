"""Models in objects of other libraries: torch modules, estimators of scikit-learn, ONNX graphs.

A holder is set to the parameters before each loss, and the loss gets the object itself, or of ONNX
a dict of arrays by name, to feed an engine with. None of these libraries is required.
"""

from __future__ import annotations

import copy
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from .protocol import Vector
from .tree import Leaf, Train, Tree, array_of, finite, select

_locks: weakref.WeakKeyDictionary[Any, threading.RLock] = weakref.WeakKeyDictionary()


class Holder(Protocol):
    """What keeps a model."""

    leaves: list[Leaf]
    copied: bool  # whether put copies x: nobody can write to that
    lock: threading.RLock  # held while a loss uses the object: devices may share it

    def put(self, x: Vector) -> Any:
        """What the loss gets of the parameters x."""

    def keep(self, x: Vector) -> Any:
        """Leaves the parameters x in the object, and returns what a loss gets of them."""

    def copy(self, x: Vector) -> Any:
        """What a loss gets of the parameters x, apart from the object."""

    def by_name(self, value: Any) -> Any:
        """A gradient: a mapping of names, or a vector."""

    def restore(self) -> None:
        """Gives the object what it held at first."""


# Who sets an object to parameters now. Whoever reads its x0 meanwhile gets what it held before.
_users: weakref.WeakKeyDictionary[Any, Holder] = weakref.WeakKeyDictionary()


def holder(x0: Any, train: Train) -> Holder | None:
    """The holder that an x0 is, or None: then it is a structure of arrays."""
    torch, onnx = sys.modules.get("torch"), sys.modules.get("onnx")
    if torch is not None and isinstance(x0, torch.nn.Module):
        return _Module(x0, train)
    if onnx is not None and isinstance(x0, onnx.ModelProto):
        return _Graph(x0, train)
    if callable(getattr(x0, "get_params", None)) and callable(getattr(x0, "fit", None)):
        return _Estimator(x0, train)
    return None


def lock_of(x0: Any) -> threading.RLock:
    """One lock for all who use an object."""
    return _locks.setdefault(x0, threading.RLock())


def _before_others(x0: Any) -> None:
    """Lets an object hold its x0 again, if a device is at work with it."""
    if (user := _users.get(x0)) is not None:
        user.restore()


def _same(a: Any) -> Any:
    return a


def _named(value: Any, names: Sequence[str]) -> Any:
    """A gradient by name: given so, or in the holder's own order, or as a vector."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, (list, tuple)):
        if len(value) != len(names):
            raise ValueError(f"a gradient of {len(value)} arrays: the model has {len(names)}")
        return dict(zip(names, value))
    return array_of(value, "the gradient")


def parameters_of(module: Any) -> dict[str, Any]:
    """The parameters of a torch module by all their names, in its order: a tied one has several.

    Before 2.0 torch's named_parameters left out all names but the first.
    """
    return {f"{at}.{name}" if at else name: p
            for at, part in module.named_modules(remove_duplicate=False)
            for name, p in part.named_parameters(recurse=False)}


class _Module:
    """The parameters of a torch module that are not frozen, or those that train names."""

    copied = True

    def __init__(self, module: Any, train: Train) -> None:
        self._module, self.lock = module, lock_of(module)
        with self.lock:
            _before_others(module)
            self._begin(module, train)

    def _begin(self, module: Any, train: Train) -> None:
        everything = parameters_of(module)
        if train is None:
            chosen = {n for n, p in everything.items() if p.requires_grad and p.is_floating_point()}
            if not chosen:
                raise ValueError("x0 is a module without a parameter that requires_grad: name "
                                 "those to train, as in train='head.*'")
        else:
            chosen = select(list(everything), train)
        self._parameters: dict[str, Any] = {}
        seen: set[int] = set()  # a tied tensor counts once, by its first name
        for name, p in everything.items():
            if name in chosen and id(p) not in seen:
                seen.add(id(p))
                self._parameters[name] = p
        self._before = {n: p.detach().clone() for n, p in self._parameters.items()}
        self.leaves = [Leaf(n, finite(array_of(p, n), n), _same)
                       for n, p in self._parameters.items()]

    def put(self, x: Vector) -> Any:
        torch = import_module("torch")
        _users[self._module] = self
        everything = torch.from_numpy(np.array(x))
        with torch.no_grad():
            for leaf in self.leaves:
                part = everything[leaf.at:leaf.at + leaf.start.size]
                self._parameters[leaf.name].copy_(part.view(leaf.start.shape))
        return self._module

    def keep(self, x: Vector) -> Any:
        with self.lock:
            self.put(x)
            _users.pop(self._module)
        return self._module

    def copy(self, x: Vector) -> Any:
        with self.lock:
            other = copy.deepcopy(self.put(x))
            self.restore()
        return other

    def by_name(self, value: Any) -> Any:
        return _named(value, list(self._parameters))

    def restore(self) -> None:
        torch = import_module("torch")
        _users.pop(self._module, None)
        with torch.no_grad():
            for name, before in self._before.items():
                self._parameters[name].copy_(before)


_FITTED = ("coef_", "intercept_", "coefs_", "intercepts_")


class _Estimator:
    """Attributes of a fitted estimator: coef_ and intercept_, or those that train names."""

    copied = False

    def __init__(self, estimator: Any, train: Train) -> None:
        self._estimator, self.lock = estimator, lock_of(estimator)
        with self.lock:
            _before_others(estimator)
            self._begin(estimator, train)

    def _begin(self, estimator: Any, train: Train) -> None:
        kind = type(estimator).__name__
        if train is None:
            chosen = [n for n in _FITTED if hasattr(estimator, n)]
            if not chosen and hasattr(estimator, "steps"):
                raise ValueError(f"x0 is a {kind}: give its last step, x0[-1]")
            if not chosen:
                raise ValueError(f"x0 is a {kind} without coef_ or intercept_: fit it first, as "
                                 "on a few rows of all classes, or name attributes: train='theta_'")
        else:
            fitted = [n for n in vars(estimator) if n.endswith("_") and not n.startswith("_")]
            fitted += [n for n in _FITTED if n not in fitted and hasattr(estimator, n)]
            chosen = sorted(select(fitted, train))
        self._before = {n: getattr(estimator, n) for n in chosen}
        self._trees: dict[str, Tree] = {}
        self.leaves = []
        for name, value in self._before.items():
            tree = self._trees[name] = Tree(value)
            for leaf in tree.leaves:
                full = f"{name}.{leaf.name}" if leaf.name else name
                self.leaves.append(Leaf(full, leaf.start, _same))
        self.restore()  # says now if one of them cannot be set

    def put(self, x: Vector) -> Any:
        _users[self._estimator] = self
        at = iter(self.leaves)
        for name, tree in self._trees.items():
            parts = [next(at).of(x).ravel() for _ in tree.leaves]
            self._set(name, _as(self._before[name], tree.unravel(np.concatenate(parts))))
        return self._estimator

    def keep(self, x: Vector) -> Any:
        with self.lock:
            self.put(x)
            _users.pop(self._estimator)
        return self._estimator

    def copy(self, x: Vector) -> Any:
        with self.lock:
            other = copy.deepcopy(self.put(x))
            self.restore()
        return other

    def by_name(self, value: Any) -> Any:
        return _named(value, [leaf.name for leaf in self.leaves])

    def restore(self) -> None:
        _users.pop(self._estimator, None)
        for name, value in self._before.items():
            self._set(name, value)

    def _set(self, name: str, value: Any) -> None:
        try:
            setattr(self._estimator, name, value)
        except AttributeError:
            kind = type(self._estimator).__name__
            raise TypeError(f"{name} of a {kind} cannot be set: name other attributes with "
                            "train=") from None


def _as(before: Any, value: Any) -> Any:
    """A value in the types that an estimator's own code expects."""
    if isinstance(before, np.ndarray):
        return np.array(value, before.dtype)
    if isinstance(before, (list, tuple)) and isinstance(value, (list, tuple)):
        return type(before)([_as(b, v) for b, v in zip(before, value)])
    return value


class _Graph:
    """Initializers of an ONNX model: all of floats, or those that train names."""

    copied = False

    def __init__(self, model: Any, train: Train) -> None:
        numpy_helper = import_module("onnx").numpy_helper
        self.lock = threading.RLock()
        self._initializers: dict[str, Any] = {}
        self._types: dict[str, Any] = {}
        arrays = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
        if train is None:
            chosen = {n for n, a in arrays.items() if a.dtype.kind == "f"}
            if not chosen:
                raise ValueError("x0 is an ONNX model without initializers of floats: turn its "
                                 "constants into initializers")
        else:
            chosen = select(list(arrays), train)
        self.leaves = []
        for t in model.graph.initializer:
            if t.name in chosen:
                self._initializers[t.name] = t
                self._types[t.name] = arrays[t.name].dtype
                start = finite(array_of(arrays[t.name], t.name), t.name)
                self.leaves.append(Leaf(t.name, start, _same))
        self._before = {n: t.SerializeToString() for n, t in self._initializers.items()}

    def put(self, x: Vector) -> Any:
        return {leaf.name: leaf.of(x).astype(self._types[leaf.name], copy=False)
                for leaf in self.leaves}

    def keep(self, x: Vector) -> Any:
        numpy_helper = import_module("onnx").numpy_helper
        found = self.put(x)
        for name, a in found.items():
            self._initializers[name].CopyFrom(numpy_helper.from_array(np.array(a), name))
        return found

    def copy(self, x: Vector) -> Any:
        return self.put(np.array(x))

    def by_name(self, value: Any) -> Any:
        return _named(value, [leaf.name for leaf in self.leaves])

    def restore(self) -> None:
        for name, before in self._before.items():
            self._initializers[name].ParseFromString(before)
