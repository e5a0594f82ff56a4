"""A model as its loss takes it, and the same numbers as one vector.

An x0 is a number, an array, a list, tuple or dict of them, nested as you like, or what holds a
model: see `holders`. All who take an x0 read it here, so that the same x0 has the same vector
everywhere: leaves sorted by their names, each row by row, as in a model file.
"""

from __future__ import annotations

import difflib
import json
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from .protocol import Vector

Train = Union[str, Sequence[str], None]
Floats = npt.NDArray[np.float32]


@dataclass
class Leaf:
    """An array of a structure, and where it lies in the vector."""

    name: str
    start: Floats
    back: Callable[[Floats], Any]  # to what the loss gets
    at: int = 0

    def of(self, x: Vector) -> Floats:
        """The leaf in a vector, or in each row of a matrix."""
        return x[..., self.at:self.at + self.start.size].reshape(x.shape[:-1] + self.start.shape)


class Tree:
    """The structure of an x0. `vector` has its numbers, `dim` says how many.

    copied says that a loss gets copies of x alone.
    """

    def __init__(self, x0: Any, train: Train = None) -> None:
        from .holders import holder  # which reads leaves by this module

        self.holder = holder(x0, train)
        leaves: list[Leaf] = []
        if self.holder is not None:
            leaves = self.holder.leaves
        else:
            self._root = _read(x0, "x0", "", leaves)
            if train is not None:
                leaves = _trained(leaves, train)
        self.leaves = sorted(leaves, key=lambda leaf: leaf.name)
        for one, other in zip(self.leaves, self.leaves[1:]):
            if one.name == other.name:
                raise ValueError(f"x0 has two leaves that are called {one.name}: rename one")
        self._chosen = {id(leaf) for leaf in self.leaves}
        self.dim = 0
        for leaf in self.leaves:
            leaf.at = self.dim
            self.dim += leaf.start.size
        if self.dim == 0:
            raise ValueError("x0 has no numbers: give at least one parameter")
        self.vector: Vector = np.concatenate([leaf.start.ravel() for leaf in self.leaves])
        self.copied = self.holder is not None and self.holder.copied

    def unravel(self, x: Vector) -> Any:
        """A vector as the loss takes it: views of it, where these are arrays.

        Of a matrix, each array has a row for each of its rows.
        """
        if self.holder is not None:
            return self.holder.put(x)
        return self._give(self._root, x)

    def lent(self, x: Vector) -> Any:
        """As unravel, of a vector that nobody else uses: a holder may keep to it as it is."""
        return self.unravel(x)

    def ravel(self, value: Any) -> Vector:
        """A structure like x0, such as a gradient, as a vector."""
        out = np.empty(self.dim, np.float32)
        if self.holder is not None:
            value = self.holder.by_name(value)
            for leaf in self.leaves:
                fill(leaf, _at(value, leaf.name) if isinstance(value, Mapping) else leaf.of(value),
                      out)
        elif not isinstance(self._root, Leaf) and getattr(value, "shape", None) == (self.dim,):
            out[:] = array_of(value, "the gradient")
        else:
            self._take(self._root, value, out)
        return out

    def keep(self, x: Vector) -> Any:
        """The structure that outlives a run: nothing in it is a view of x. A holder has it then."""
        x = np.array(x, np.float32)
        return self.unravel(x) if self.holder is None else self.holder.keep(x)

    def copy(self, x: Vector) -> Any:
        """As keep, but a holder stays as it is: the copy of it has the parameters."""
        return self.keep(x) if self.holder is None else self.holder.copy(x)

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held while a loss uses what unravel gave: devices of a program may share a holder."""
        return _FREE if self.holder is None else self.holder.lock

    def restore(self) -> None:
        """Gives a holder back what it held at first."""
        if self.holder is not None:
            self.holder.restore()

    def save(self, directory: Path) -> Path:
        """Stores x0 in a new file there: a model file, or .npy of one array without a name."""
        if self.leaves[0].name == "":
            path = directory / "x0.npy"
            shape = self.leaves[0].start.shape
            np.save(path, self.vector.reshape(shape) if len(shape) > 1 else self.vector)
            return path
        path = directory / "x0.safetensors"
        head = json.dumps({leaf.name: {
            "dtype": "F32", "shape": leaf.start.shape,
            "data_offsets": [4 * leaf.at, 4 * (leaf.at + leaf.start.size)]}
            for leaf in self.leaves}).encode()
        head += b" " * (-len(head) % 8)
        path.write_bytes(struct.pack("<Q", len(head)) + head + self.vector.astype("<f4").tobytes())
        return path

    def _give(self, node: Any, x: Vector) -> Any:
        if isinstance(node, Leaf):
            if id(node) not in self._chosen:
                return node.back(node.start)
            return node.back(node.of(x))
        if isinstance(node, _Constant):
            return node.value
        if isinstance(node, dict):
            return {key: self._give(child, x) for key, child in node.items()}
        parts = [self._give(child, x) for child in node.parts]
        return node.kind(*parts) if hasattr(node.kind, "_fields") else node.kind(parts)

    def _take(self, node: Any, value: Any, out: Vector) -> None:
        if isinstance(node, Leaf):
            if id(node) in self._chosen:
                fill(node, value, out)
        elif isinstance(node, dict):
            for key, child in node.items():
                self._take(child, _at(value, key), out)
        elif isinstance(node, _Parts):
            for i, child in enumerate(node.parts):
                self._take(child, _at(value, i), out)


@dataclass
class _Parts:
    """A list or tuple of nodes."""

    kind: Any
    parts: list[Any]


@dataclass
class _Constant:
    """What is in a structure and is not trained."""

    value: Any


_FREE: AbstractContextManager[Any] = nullcontext()


def _at(value: Any, key: Any) -> Any:
    """A part of a gradient."""
    try:
        return value[key]
    except (KeyError, IndexError, TypeError):
        raise ValueError(f"the gradient has no part {key!r}: give it the structure of x0, or one "
                         "vector") from None


def fill(leaf: Leaf, value: Any, out: Vector) -> None:
    """Puts a part of a gradient where its leaf lies in the vector."""
    a = array_of(value, leaf.name or "the gradient")
    if a.shape != leaf.start.shape:
        raise ValueError(f"{leaf.name or 'the gradient'} has the shape {a.shape}: the parameters "
                         f"have {leaf.start.shape}")
    out[leaf.at:leaf.at + a.size] = a.ravel()


def _read(value: Any, where: str, name: str, leaves: list[Leaf]) -> Any:
    """The node of a value. Its leaves are added to the list."""
    def inner(part: str) -> str:
        return f"{name}.{part}" if name else part

    if isinstance(value, Mapping):
        return {key: _read(v, f"{where}[{key!r}]", inner(str(key)), leaves)
                for key, v in value.items()}
    if isinstance(value, (list, tuple)) and not _numbers(value):
        width = len(str(len(value) - 1))
        parts = [_read(v, f"{where}[{i}]", inner(f"{i:0{width}}"), leaves)
                 for i, v in enumerate(value)]
        return _Parts(type(value), parts)
    if is_tensor(value) and not (value.is_floating_point() or value.is_complex()):
        return _Constant(value)
    leaf = Leaf(name, finite(array_of(value, where), where), _back(value))
    leaves.append(leaf)
    return leaf


def _numbers(value: Any) -> bool:
    """Whether a list has numbers alone, or lists of them: then it is an array."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return all(_numbers(v) for v in value)
    return isinstance(value, (int, float, complex, np.generic))


def _back(value: Any) -> Callable[[Floats], Any]:
    """How the loss gets a leaf: a number, an array, or a tensor of x0's type and device."""
    if is_tensor(value):
        kind, device = value.dtype, value.device
        torch = import_module("torch")
        return lambda a: torch.from_numpy(np.array(a)).to(device=device, dtype=kind)
    if isinstance(value, (int, float, np.generic)):
        return lambda a: a if a.ndim else float(a)
    return lambda a: a


def is_tensor(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach")


def array_of(value: Any, where: str) -> Floats:
    """A value as float32, row by row, in memory of its own."""
    if is_tensor(value):
        value = value.detach().cpu()
        value = value.float() if value.is_floating_point() else value
    try:
        a = np.asarray(value)
    except ValueError:
        raise ValueError(f"{where} has rows of unlike length: give a list of arrays") from None
    if a.dtype.kind == "c":
        raise TypeError(f"{where} is complex: give its real and imaginary part as two numbers")
    if isinstance(value, (str, bytes)) or hasattr(value, "__fspath__"):
        raise TypeError(f"{where} is {value!r}: a file's name is no x0: read it first, as with "
                        "numpy.load or safetensors.numpy.load_file")
    if a.dtype.kind not in "biuf" and not a.dtype.name.startswith(("bfloat", "float")):
        what = type(value).__name__ + (f" of {a.dtype}" if isinstance(value, np.ndarray) else "")
        raise TypeError(f"{where} is a {what}: give a number, an array, a list or dict of arrays, "
                        "a torch module, a fitted estimator of scikit-learn or an onnx.ModelProto")
    with np.errstate(over="ignore"):
        return np.array(a, np.float32, order="C")


def finite(a: Floats, where: str) -> Floats:
    """The array, if a loss can begin there."""
    bad = ~np.isfinite(a)
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        place = where + "".join(f"[{i}]" for i in at)
        raise ValueError(f"{place} is {a[at]} in float32: begin at finite numbers")
    return a


def _trained(leaves: list[Leaf], train: Train) -> list[Leaf]:
    if leaves and leaves[0].name == "":
        raise ValueError(f"train={train!r}: x0 is one array without a name: leave train out")
    chosen = select([leaf.name for leaf in leaves], train)
    return [leaf for leaf in leaves if leaf.name in chosen]


def select(names: Sequence[str], train: Train) -> set[str]:
    """The names that patterns choose: * stands for any text, ? for a character, ! leaves out."""
    patterns = train.split(",") if isinstance(train, str) else list(train or ["*"])
    named: set[str] = set()
    left: set[str] = set()
    for text in patterns:
        pattern = text.removeprefix("!")
        found = {n for n in names if _matches(pattern, n)}
        if not found:
            near = difflib.get_close_matches(pattern, names, 1)
            hint = f"did you mean {near[0]}? " if near else ""
            listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
            raise ValueError(f"train={text!r} names nothing in x0: {hint}It has {listed}")
        (left if text.startswith("!") else named).update(found)
    if all(p.startswith("!") for p in patterns):
        named = set(names)
    if not named - left:
        raise ValueError(f"train={train!r} leaves out all of x0: it has {', '.join(names[:8])}")
    return named - left


def _matches(pattern: str, name: str) -> bool:
    text = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(text, name, re.DOTALL) is not None
