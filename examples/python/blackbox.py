"""Compares zofl.minimize with optimizers of one process, at equal evaluations.

    pip install zofl cma scipy
    python blackbox.py

A cell is the share of the first gap to the minimum that is left: the median of three seeds.
"""

import logging
import warnings

import cma
import numpy as np
from scipy import optimize
import zofl

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)  # zofl's, of a loss that is noise in part

SIZES = {2: 400, 6: 1000, 20: 3000, 100: 10_000}  # parameters: evaluations


def quadratic(d):
    """A bowl whose axes differ by a factor of 1000 and lie askew, with the minimum at ones."""
    scale = 1000 ** (np.arange(d) / (d - 1))
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(d, d)))
    return lambda x: float(np.sum(scale * (turn @ (np.asarray(x, float) - 1)) ** 2) / scale.sum())


def rosenbrock(d):
    return lambda x: float(optimize.rosen(np.asarray(x, float)) / d)


def noisy(d):
    """The bowl with round axes, and noise of 1 % of the first gap in each evaluation."""
    rng = np.random.default_rng(0)
    return lambda x: float(np.mean((np.asarray(x, float) - 1) ** 2) + 0.01 * rng.normal())


def true(name, d):
    if name == "noisy":
        return lambda x: float(np.mean((np.asarray(x, float) - 1) ** 2))
    return {"quadratic": quadratic, "rosenbrock": rosenbrock}[name](d)


class Spent(Exception):
    pass


def counted(f, budget):
    """f, which raises Spent after budget calls; and the x of its least value."""
    best = [np.inf, None]
    calls = [0]

    def g(x):
        if calls[0] >= budget:
            raise Spent
        calls[0] += 1
        y = f(x)
        if y < best[0]:
            best[:] = y, np.array(x, float)
        return y
    return g, best


def by_zofl(method):
    def run(f, d, budget, seed):
        return zofl.minimize(f, np.zeros(d), queries=budget, seed=seed, method=method).x
    return run


def by_cma(f, d, budget, seed):
    es = cma.CMAEvolutionStrategy(np.zeros(d), 0.3, {"maxfevals": budget, "seed": seed + 1,
                                                     "verbose": -9, "tolfun": 0, "tolx": 0})
    es.optimize(f)
    return es.result.xfavorite  # the mean, which suits noise


def by_scipy(method):
    def run(f, d, budget, seed):
        g, best = counted(f, budget)
        x0 = np.random.default_rng(seed).normal(0, 1e-3, d)
        try:
            optimize.minimize(g, x0, method=method, options={"maxfev": budget})
        except Spent:
            pass
        return best[1]
    return run


METHODS = {"Zofl": by_zofl(None), "its preset zofl": by_zofl("zofl"), "CMA-ES": by_cma,
           "Powell": by_scipy("Powell")}

print("| parameters, evaluations | loss |", " | ".join(METHODS), "|")
print("|---|---|" + "---|" * len(METHODS))
for d, budget in SIZES.items():
    for name, make in [("quadratic", quadratic), ("rosenbrock", rosenbrock), ("noisy", noisy)]:
        exact = true(name, d)
        cells = []
        for method in METHODS.values():
            left = [exact(method(make(d), d, budget, seed)) / exact(np.zeros(d))
                    for seed in range(3)]
            cells.append(f"{np.median(left):.1e}")
        print(f"| {d}, {budget:,} | {name} |", " | ".join(cells), "|", flush=True)
