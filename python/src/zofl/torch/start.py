"""A module as the beginning of a run: names, a layout, and a file of the numbers."""

from __future__ import annotations

import copy
import json
import shutil
import struct
import tempfile
import weakref
from collections.abc import Container, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..binary import Flag
from ..errors import UsageError
from ..holders import lock_of, parameters_of
from ..initial import Initial
from ..protocol import Vector
from ..tree import Leaf, Train, Tree, array_of, fill
from .layout import differs, named_by, trained, twins

_AT_ONCE = 1 << 18  # numbers that are converted at once

# The tensors of a module that are no memory of its own, but an x of a device: their ids.
_lent: weakref.WeakKeyDictionary[Any, set[int]] = weakref.WeakKeyDictionary()
# Which x the other tensors of a module hold, if they hold one.
_held: weakref.WeakKeyDictionary[Any, object] = weakref.WeakKeyDictionary()


class ModuleTree(Tree):
    """The trained tensors of a module, sorted by name as in a model file.

    Nothing here has as many numbers as the model: those of the beginning are in a file, and the
    module's own tensors take each point. Its float32 is rounded to what they hold. Or float32
    tensors in the memory of the processor are views of x itself, for losses that leave it alone.
    """

    copied = True

    def __init__(self, module: Any, train: Train = None, numbers: Vector | None = None) -> None:
        self.holder, self.module = None, module
        self.parameters = dict(sorted(trained(module, train).items()))
        self.twins = twins(module, self.parameters)
        self.leaves, self.dim, self._strides = [], 0, {}
        for name, p in self.parameters.items():
            start = np.broadcast_to(np.float32(0), tuple(p.shape))  # a shape, without numbers
            self.leaves.append(Leaf(name, start, lambda a: a, self.dim))
            self._strides[name] = p.stride()
            self.dim += p.numel()
        if self.dim == 0:
            raise UsageError("the module has no numbers to train", 2)
        self._directory = Path(tempfile.mkdtemp(prefix="zofl-"))
        self._gone = weakref.finalize(self, shutil.rmtree, self._directory, ignore_errors=True)
        self._file = self._directory / "module.safetensors"
        self._begin = self._write(numbers)

    @property
    def vector(self) -> Vector:  # type: ignore[override]
        """The numbers of the beginning: a map of their file."""
        return np.memmap(self._file, "<f4", "r", self._begin, (self.dim,))

    @property
    def lock(self) -> AbstractContextManager[Any]:
        return lock_of(self.module)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The tensors in their order, with their shapes."""
        return {name: tuple(p.shape) for name, p in self.parameters.items()}

    def save(self, directory: Path) -> Path:
        return self._file

    def unravel(self, x: Vector) -> Any:
        """The module, which now holds x; of a matrix a dict of tensors with an axis of points."""
        flat = _tensor(x)
        if x.ndim == 2:
            return {leaf.name: self._part(flat, leaf) for leaf in self.leaves}
        self._put(flat)
        return self.module

    def lent(self, x: Vector) -> Any:
        """The module, of which float32 tensors are views of x. Who changes them does no harm."""
        _held.pop(self.module, None)
        self.lend(x, 0)
        _held.pop(self.module, None)
        return self.module

    def ravel(self, value: Any) -> Vector:
        """A gradient by name, as a vector."""
        out = np.empty(self.dim, np.float32)
        for leaf in self.leaves:
            fill(leaf, value[leaf.name], out)
        return out

    def keep(self, x: Vector) -> Any:
        with self.lock:
            return self.unravel(x)

    def copy(self, x: Vector) -> Any:
        with self.lock:
            other = copy.deepcopy(self.module)
        named = parameters_of(other)
        flat = _tensor(x)
        with torch.no_grad():
            for leaf in self.leaves:
                named[leaf.name].copy_(self._view(flat, leaf))
        return other

    def restore(self) -> None:
        self.keep(self.vector)

    def lend(self, x: Vector, version: int, apart: Container[str] = ()) -> dict[str, Any]:
        """The tensors of x by name. Those of the module are views of them, or x rounded, but for
        those to be left apart. version changes with x."""
        found, flat = {}, _tensor(x)
        held = (id(self), version)
        with torch.no_grad():
            for leaf in self.leaves:
                p, part = self.parameters[leaf.name], self._view(flat, leaf)
                found[leaf.name] = part
                if leaf.name in apart:
                    continue
                if p.dtype == torch.float32 and p.device.type == "cpu":
                    self._point(leaf.name, part)
                    _lent.setdefault(self.module, set()).add(id(p))
                elif _held.get(self.module) != held:
                    p.copy_(part)
        _held[self.module] = held
        return found

    def own(self, name: str) -> Any:
        """A tensor of the module, in memory of its own. It may have lost its numbers."""
        p, lent = self.parameters[name], _lent.get(self.module, set())
        if id(p) in lent:
            self._point(name, torch.empty_strided(p.shape, self._strides[name], dtype=p.dtype))
            lent.remove(id(p))
        return p

    def _point(self, name: str, memory: Any) -> None:
        for p in self.twins[name]:
            p.data = memory

    def _view(self, flat: Any, leaf: Leaf) -> Any:
        return flat[leaf.at:leaf.at + leaf.start.size].view(leaf.start.shape)

    def _put(self, flat: Any) -> None:
        _held.pop(self.module, None)
        with torch.no_grad():
            for leaf in self.leaves:
                self.own(leaf.name).copy_(self._view(flat, leaf))
    def _part(self, flat: Any, leaf: Leaf) -> Any:
        p = self.parameters[leaf.name]
        part = flat[:, leaf.at:leaf.at + leaf.start.size]
        return part.reshape(len(flat), *leaf.start.shape).to(p.device, p.dtype, copy=True)

    def _write(self, numbers: Vector | None) -> int:
        """Stores the numbers of the beginning as a model file. Returns where in it they begin."""
        head = json.dumps({leaf.name: {
            "dtype": "F32", "shape": leaf.start.shape,
            "data_offsets": [4 * leaf.at, 4 * (leaf.at + leaf.start.size)]}
            for leaf in self.leaves}).encode()
        head += b" " * (-len(head) % 8)
        with open(self._file, "xb") as file, self.lock:
            file.write(struct.pack("<Q", len(head)) + head)
            parts = self._numbers() if numbers is None else iter([numbers])
            for part in parts:
                file.write(np.ascontiguousarray(part, "<f4").data.cast("B"))
        return 8 + len(head)

    def _numbers(self) -> Iterator[Vector]:
        """The numbers of all tensors, part by part."""
        for name, p in self.parameters.items():
            flat = p.detach().reshape(-1)
            for at in range(0, flat.numel(), _AT_ONCE):
                part = array_of(flat[at:at + _AT_ONCE], name)
                if not np.isfinite(part).all():
                    raise UsageError(f"{name} has numbers that are not finite: begin at finite ones",
                                     2)
                yield part


class Start(Initial):
    """Where a run begins: the tensors of a module that train names, as they were."""

    tree: ModuleTree

    def __init__(self, module: Any, train: Train = None, numbers: Vector | None = None) -> None:
        self.value, self.train, self.file = module, train, None
        self.tree = ModuleTree(module, train, numbers)

    def flags(self, scratch: Path, name: str = "initial") -> dict[str, Flag]:
        return {name: self.tree.save(scratch)}

    def fits(self, plan: Mapping[str, Any]) -> None:
        """Raises unless a plan's segments are the module's tensors."""
        if wrong := differs(self.tree.shapes(), plan.get("segments") or []):
            raise UsageError(f"{wrong}: make the plan of this module with zofl.torch.plan, or give "
                             "the module and train of the plan", 2)

    def __getstate__(self) -> dict[str, Any]:
        return {"value": self.value, "train": self.train, "vector": np.array(self.tree.vector)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["value"], state["train"], state["vector"])  # type: ignore[misc]


def start_of(run: Any, module: Any, train: Train) -> Start:
    """The beginning of a device: that of the plan which was made of this very module, else one that
    fits it. Without patterns a plan's segments say what is trained."""
    given = getattr(run, "initial", None)
    if isinstance(given, Start) and given.value is module and train in (None, given.train):
        return given
    if not isinstance(run, Mapping):
        return Start(module, train)
    segments = run.get("segments") or []
    if train is None and isinstance(module, torch.nn.Module):
        train = named_by(list(parameters_of(module)), segments) or None
    made = Start(module, train)
    made.fits(run)
    return made


class _Shared:
    """An array's memory, for torch alone, which warns of what is read-only and only reads here."""

    def __init__(self, x: Any) -> None:
        self._kept = x
        self.__array_interface__ = {**x.__array_interface__, "data": (x.ctypes.data, False)}


def _tensor(x: Vector) -> Any:
    """An array as a tensor on its memory, which nobody may write to."""
    return shared(np.ascontiguousarray(x, np.float32))


def shared(x: Any) -> Any:
    """A tensor on the memory of an array."""
    return torch.from_numpy(np.asarray(_Shared(x)))


@contextmanager
def held(tree: ModuleTree, x: Vector | None) -> Iterator[Any]:
    """The module, with x in it if there is one, until the block ends."""
    with tree.lock:
        yield tree.module if x is None else tree.unravel(x)
