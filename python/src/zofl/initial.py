"""Where a run begins: parameters by value, or the file of a model."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from .binary import Flag
from .errors import UsageError
from .tree import Train, Tree

_ENDINGS = (".npy", ".npz", ".safetensors", ".onnx", ".f32")


class Initial:
    """The parameters that a run begins with: an x0, or the file of a model.

    train chooses tensors of either by patterns of their names. The numbers of an x0 are those of
    the moment at which this was made.
    """

    def __init__(self, value: Any, train: Train = None) -> None:
        self.value, self.train = value, train
        self.file, self.tree = None, None
        if isinstance(value, (str, os.PathLike)):
            self.file = os.fspath(value)
            if not self.file.endswith(_ENDINGS):
                raise UsageError(f"initial={self.file!r}: give arrays, or a file whose name ends "
                                 f"in {', '.join(_ENDINGS)}", 2)
            return
        try:
            self.tree = Tree(value, train)
        except (TypeError, ValueError) as error:  # the tree does not know what it is for
            raise type(error)(re.sub(r"\bx0\b", "initial", str(error))) from None

    @classmethod
    def of(cls, tree: Tree, value: Any, train: Train) -> Initial:
        """That of a tree, which was made of the value before that changed."""
        new = cls.__new__(cls)
        new.value, new.train, new.file, new.tree = value, train, None, tree
        return new

    @property
    def dim(self) -> int:
        """The number of parameters; 0 of a file: the program reads it."""
        return self.tree.dim if self.tree else 0

    def flags(self, scratch: Path, name: str = "initial") -> dict[str, Flag]:
        """The flags of the program, with a file in scratch."""
        if self.tree is None:
            train = [self.train] if isinstance(self.train, str) else self.train
            return {name: self.file, "train": train}
        scratch.mkdir(exist_ok=True)
        return {name: self.tree.save(scratch)}

    def agree(self, dim: int, where: str) -> None:
        """Raises unless a dim that was given somewhere is that of the parameters."""
        if dim and self.dim and dim != self.dim:
            raise UsageError(f"{where} has dim={dim}, and initial has {self.dim} parameters: leave "
                             "dim out, or give another initial", 2)

    def __getstate__(self) -> dict[str, Any]:
        return {"value": self.value, "train": self.train,
                "vector": self.tree.vector if self.tree else None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["value"], state["train"])  # type: ignore[misc]
        if self.tree is not None:  # the value may have changed since
            self.tree.vector[:] = state["vector"]
            for leaf in self.tree.leaves:
                leaf.start = leaf.of(self.tree.vector)

    def __repr__(self) -> str:
        return f"<initial {self.file or f'{self.dim} parameters'}>"


def initial_of(value: Any, train: Train = None) -> Initial | None:
    """What an argument initial= says; None says nothing."""
    if value is None:
        if train is not None:
            raise UsageError(f"train={train!r} names tensors of initial: give that too", 2)
        return None
    return value if isinstance(value, Initial) else Initial(value, train)
