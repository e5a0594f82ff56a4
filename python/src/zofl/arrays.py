"""Arrays of numbers in files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from .protocol import Vector

# Whether a file can be removed while it is mapped into memory.
_REMOVABLE = os.name == "posix"


def loaded(path: Path) -> Vector:
    """The numbers in a .npy file, which the caller removes.

    The array is a map of the file: it takes memory only for the pages that are used. It can be
    written to, which does not change the file.
    """
    return np.asarray(np.load(path, mmap_mode="c" if _REMOVABLE else None))
