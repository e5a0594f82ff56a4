"""One scale for the columns of data that stay on devices."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

_LEVEL = 1e-12  # the spread of equal values, in magnitudes of their mean, that rounding may cause


@dataclass(frozen=True)
class Scaler:
    """Gives each column mean 0 and standard deviation 1 over the data of all devices.

    `Device.scaler` has the run's. Scaler.load(file) reads one that `zofl stats --out` wrote, or that
    lies beside a model that `zofl export` wrote: its name and .stats.json.

    >>> scaler = zofl.Scaler(mean=np.array([20, 1e5]), std=np.array([5, 900]))
    >>> scaler.transform([[25, 99100]]).tolist()
    [[1.0, -1.0]]
    """

    mean: npt.NDArray[np.float64]
    std: npt.NDArray[np.float64]

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> Scaler:
        columns = json.loads(Path(file).read_text())
        return cls(*(np.array([c[name] for c in columns], np.float64) for name in ("mean", "std")))

    def transform(self, x: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """Rows x, scaled: a new array.

        A missing value, NaN or infinite, becomes 0, which is the mean. So does each value of a
        column that is the same on all devices.
        """
        rows = np.asarray(x, np.float64)
        if rows.ndim == 0 or rows.shape[-1] != len(self.mean):
            raise ValueError(f"rows of shape {rows.shape}: the scale is of {len(self.mean)} columns")
        level = self.std <= _LEVEL * np.abs(self.mean)
        factor = np.where(level, 0, 1 / np.where(level, 1, self.std))
        found = np.isfinite(rows)
        scaled: npt.NDArray[np.float64] = (
            np.where(found, rows, self.mean) - self.mean) * factor
        return scaled.astype(np.float32)

    def inverse_transform(self, x: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Scaled rows in the units of the data."""
        return np.asarray(x, np.float64) * self.std + self.mean


def describe(x: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Count, missing values, mean, standard deviation, min and max of each column."""
    rows = np.asarray(x, np.float64)
    if rows.ndim != 2:
        raise ValueError(f"columns of shape {rows.shape}: give rows, of shape (n, columns)")
    return np.array([_column(rows[:, i]) for i in range(rows.shape[1])]).reshape(-1, 6)


def _column(values: npt.NDArray[np.float64]) -> Sequence[float]:
    found = values[np.isfinite(values)]
    missing = len(values) - len(found)
    if not len(found):
        return 0, missing, 0, 0, 0, 0
    return len(found), missing, found.mean(), found.std(), found.min(), found.max()
