"""Arrays in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zofl.arrays import loaded


def _resident() -> int:
    """The memory of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    raise AssertionError("no VmRSS")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
def test_a_model_takes_no_memory_until_it_is_used(tmp_path: Path) -> None:
    """A result is there after its file is gone, can be changed, and takes the pages that it uses."""
    size = 8_000_000
    path = tmp_path / "model.npy"
    np.save(path, np.arange(size, dtype=np.float32))
    before = _resident()
    x = loaded(path)
    path.unlink()
    assert x.dtype == np.float32 and x.shape == (size,) and x[-1] == np.float32(size - 1)
    assert _resident() - before < size  # of 4 * size
    x[0] = 7
    assert x[0] == 7 and type(x) is np.ndarray
