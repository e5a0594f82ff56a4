"""Which minibatch a loss is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Batch:
    """A minibatch. All losses of a step are asked with the same one: draw it from `seed` alone."""

    n: int  # the record that the round makes
    step: int  # local step, from 0
    size: int  # samples; 0: all of the device's data
    seed: int  # 64 bits, another one for each run, device, record and step
    device: str  # the name of the device that asks

    left: float  # seconds until the answer is of no use any more

    def rng(self) -> np.random.Generator:
        """A generator that is the same for all losses of a step."""
        return np.random.default_rng(self.seed)

    def choose(self, samples: int) -> npt.NDArray[np.int64]:
        """Which of so many samples the minibatch has: indices, in ascending order."""
        if self.size == 0 or self.size >= samples:
            return np.arange(samples, dtype=np.int64)
        return np.sort(self.rng().choice(samples, self.size, replace=False)).astype(np.int64)
