"""Whether numpy computes here as docs/prng.md, section 4, says."""

from __future__ import annotations

import numpy as np


def check_arithmetic() -> None:
    """Raises FloatingPointError where subnormal numbers are lost, or rounding is not to nearest.

    A library that was linked with -ffast-math has the thread that loads it flush subnormal numbers
    to zero, and numpy computes in that thread.
    """
    least, half = np.array([2.0**-126], "f4"), np.array([0.5], "f4")
    one, tiny = np.array([1], "f4"), np.array([2.0**-30], "f4")
    small = least * half
    if not ((small + small == least) & (one + tiny == one) & (one - tiny == one)).all():
        raise FloatingPointError(
            "this process flushes subnormal numbers to zero, or does not round to nearest (was a "
            "library loaded that was linked with -ffast-math?): the parameters would differ from "
            "the run's; load that library in another process")
