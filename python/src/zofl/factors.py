"""The points of a request as a program of docs/exec.md gets them with distribution=lowrank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
Signs = npt.NDArray[np.int8]
Shapes = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Factors:
    """Points around x, of which point i is x + scales[i] * z.

    A matrix of z has the sign a[r] * b[c] at row r and column c; what is no matrix has a sign for
    each parameter. The arrays are read-only views of what zofl shares, valid until the function
    that gets them returns.

    >>> points = zofl.Factors(x=np.zeros(5, np.float32), scales=np.array([0.5], np.float32),
    ...                       signs=np.array([[1, -1, 1, 1, -1]], np.int8),
    ...                       shapes=((2, 2), (0, 1)), version=1)
    >>> points.point(0).tolist()
    [0.5, 0.5, -0.5, -0.5, -0.5]
    """

    x: Vector  # (dim,)
    scales: Vector  # (points,); 0: the point is x itself, and its signs mean nothing
    signs: Signs  # (points, factors), 1 or -1: for each segment those of rows, then of columns
    shapes: Shapes  # (rows, columns) of each segment; 0 rows: no matrix, a sign for each parameter
    version: int  # another one whenever x may have changed

    def __len__(self) -> int:
        return len(self.scales)

    def parts(self, i: int) -> list[tuple[Signs, Signs]]:
        """The signs of rows and columns of each segment. What is no matrix has none of rows."""
        found, at, row = [], 0, self.signs[i]
        for rows, columns in self.shapes:
            middle, end = at + rows, at + rows + columns
            found.append((row[at:middle], row[middle:end]))
            at = end
        return found

    def point(self, i: int) -> Vector:
        """The parameters of point i, written out: a new array."""
        x: Vector = self.x.copy()
        if self.scales[i] == 0:
            return x
        at = 0
        for a, b in self.parts(i):
            z = np.outer(a, b).ravel() if len(a) else b
            x[at:at + len(z)] += self.scales[i] * z.astype(np.float32)
            at += len(z)
        return x


def shapes_of(text: str) -> Shapes:
    """The shapes that a request names, as in 64x784,64."""
    found = []
    for word in text.split(","):
        rows, matrix, columns = word.rpartition("x")
        found.append((int(rows) if matrix else 0, int(columns)))
    return tuple(found)


def layout_of(said: Mapping[str, str], dim: int) -> tuple[int, Shapes]:
    """The number of factors that map names, and the shapes, which must fit the model."""
    count, shapes = int(said["factors"]), shapes_of(said["shapes"])
    if any(rows < 0 or columns < 1 for rows, columns in shapes):
        raise ValueError(f"shapes={said['shapes']}: a side below 1")
    if (sum(rows + columns for rows, columns in shapes) != count
            or sum(max(rows, 1) * columns for rows, columns in shapes) != dim):
        raise ValueError(f"shapes of other than {count} factors and {dim} parameters")
    return count, shapes


def scales_of(text: str, count: int) -> Vector:
    """The scales of so many points."""
    with np.errstate(over="ignore"):
        found: Vector = np.array([float(word) for word in text.split(",")], np.float32)
    if len(found) != count or not np.isfinite(found).all():
        raise ValueError(f"{len(found)} scales of {count} points, or one that is not finite")
    found.flags.writeable = False
    return found
