"""The method cma beside pycma, of whose algorithm it is a form that every replica replays."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import zofl

pytestmark = pytest.mark.usefixtures("zofl")

pycma = pytest.importorskip("cma")


def ellipsoid(d: int, seed: int) -> Callable[[np.ndarray], float]:
    """A bowl of condition 1000 that lies askew."""
    rng = np.random.default_rng(500 + seed)
    scale = np.logspace(-3, 0, d)
    low = rng.standard_normal(d)
    turn, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return lambda x: float(0.5 * scale @ (turn @ (np.asarray(x, float) - low)) ** 2)


def evaluations(f: Callable[[np.ndarray], float], d: int,
                search: Callable[[Callable[[np.ndarray], float]], object]) -> float:
    """How many a search takes until the loss is 1e-8 of the first; infinity: it is not."""
    count, reached, first = 0, math.inf, f(np.zeros(d))

    def counted(x: np.ndarray) -> float:
        nonlocal count, reached
        count += 1
        value = f(x)
        if value <= 1e-8 * first:
            reached = min(reached, count)
        return value

    search(counted)
    return reached


@pytest.mark.parametrize("d, seeds, reference", [(2, 3, 310), (6, 3, 1049), (20, 1, 4682)])
def test_as_few_evaluations(d: int, seeds: int, reference: int) -> None:
    """At most 1.3 times those of pycma, or of the prototype whose figure is the reference."""
    most, ours, theirs = int(1.5 * reference), [], []
    for seed in range(seeds):
        f = ellipsoid(d, seed)
        ours.append(evaluations(f, d, lambda loss, s=seed: zofl.minimize(
            loss, np.zeros(d), method="cma", step=0.3, queries=most, seed=s + 1,
            perturbations_auto="off", progress=False)))
        theirs.append(evaluations(f, d, lambda loss, s=seed: pycma.CMAEvolutionStrategy(
            np.zeros(d), 0.3, {"maxfevals": most, "seed": s + 1, "verbose": -9, "tolfun": 0,
                               "tolx": 0}).optimize(loss)))
    assert np.median(ours) <= 1.3 * max(reference, np.median(theirs))
