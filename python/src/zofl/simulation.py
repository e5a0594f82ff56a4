"""Whole runs in one process, for a notebook."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from . import keywords
from .batch import Batch
from .binary import Flag, arguments
from .calls import functions, standing_for
from .chart import Numbers
from .errors import Error
from .factors import Factors
from .follow import Follower, Heard
from .initial import Initial, initial_of
from .plans import Plan, begun
from .process import log
from .protocol import Evaluate, Functions, Gradient, Loss, Losses, Near, Vector
from .runs import History, Run
from .talk import talk
from .tree import Train

__all__ = ["History", "Run", "simulate"]

Given = Mapping[str, Any] | str | os.PathLike[str] | None  # as a plan


def simulate(loss: Loss | None = None, plan: Given = None, *,
             devices: int = 0, seeds: int = 1, seed: int | None = None, rounds: int = 0,
             queries: int = 0, sweep: Sequence[str] = (),
             initial: Any = None, train: Train = None,
             losses: Losses | None = None, gradient: Gradient | None = None,
             evaluate: Evaluate | None = None, factors: Near | None = None,
             samples: int = 0, points: int = 64,
             callback: Callable[[Run], Any] | None = None, patience: int = 0,
             progress: Heard = None, strict: bool = True, **flags: Flag) -> History:
    """Leads a plan on so many devices in this process, with each of so many seeds.

    >>> plan = zofl.plan("decomfl", dim=4, rounds=9, members=3)
    >>> history = zofl.simulate(lambda x: sum((x - 3) ** 2), plan, devices=3, seeds=2,
    ...                         sweep=["step=1e-3,1e-2"], progress=False)
    >>> history.losses.shape
    (4, 9)

    batch.device says for which device loss(x, batch) is asked. The functions are those of `Device`,
    but that what they raise ends the simulation; with strict=False it costs the device its round.
    With initial, and train, all runs begin there, and x has its structure, as x0 of `minimize`.

    callback(run) is called after each round, with the run so far: it ends the run if it returns
    true or raises StopIteration. patience ends a run whose loss was not lower in so many rounds, or
    of a plan with best, a run that was not better in so many measurements.
    queries bounds the losses of all devices of a run together. progress=False shows no line, and
    progress(event) gets each event of `zofl simulate --json`. Other flags are those of `zofl
    simulate`, with _ for -.
    """
    keywords.check(simulate, "simulate", flags)
    history = History()
    start = begins(plan, initial, train)
    tree = start.tree if start else None
    best = flags.get("best") or isinstance(plan, Mapping) and plan.get("best")
    with stored(plan, start) as (file, dim, begin), Follower(
            history, "simulate", tree, callback, 0 if best else patience, progress,
            queries) as follower:
        asked = checked(functions(loss, losses, gradient, evaluate, tree=tree, dim=dim,
                                  samples=samples, points=points, factors=factors))
        said: dict[str, Flag] = {"devices": devices, "seeds": seeds, "seed": seed, "rounds": rounds,
                                 "queries": queries, "sweep": sweep, **flags}
        said.update(begin)
        if patience > 0 and best:
            said["patience"] = patience
        if failed := lead(asked, file, said, follower, strict):
            log.warning("%s", failed)  # no run came to its end: how each ended tells more
    return history


def begins(plan: Given, initial: Any, train: Train) -> Initial | None:
    """What runs begin with: what is given, or else what the plan has."""
    given = initial_of(initial, train)
    return plan.initial if given is None and isinstance(plan, Plan) else given


def lead(asked: Functions, file: str, said: Mapping[str, Flag], follower: Follower,
         strict: bool) -> Error | None:
    """Runs `zofl simulate`, with models and the follower. Returns why no run came to its end."""
    failed = None
    done: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="zofl-") as models:
        try:
            talk(replace(asked, progress=follower), "simulate", file, *arguments(said),
                 f"--models={models}", heard=done.append, strict=strict)
        except Error as error:
            runs = follower.history.runs
            if error.code != 1 or not runs or not all(run.ended for run in runs):
                raise
            failed = error
    for event in done:
        follower(event)
    return failed


def checked(functions: Functions) -> Functions:
    """The same functions, of which those of losses are asked once again what they were asked before,
    and gradient is compared once with the losses."""
    if functions.gradient is not None:
        functions = replace(functions, gradient=_compared(functions))
    if functions.factors is not None:
        functions = replace(functions, factors=_asked_again(functions.factors))
    if functions.loss is not None:
        return replace(functions, loss=_asked_again(functions.loss))
    if functions.losses is not None:
        return replace(functions, losses=_asked_again(functions.losses))
    return functions


def _asked_again(function: Callable[[Any, Batch], Any]) -> Callable[[Any, Batch], Any]:
    """Says once if a function has another loss at the same parameters on the same minibatch."""
    said = False

    def asked(x: Vector | Factors, batch: Batch) -> Any:
        nonlocal said
        found = function(x, batch)
        if not said and (x.x if isinstance(x, Factors) else x).any():  # at zeros many a loss is the same on all samples
            said = True
            first, again = _numbers(found), _numbers(function(x, batch))
            if first.shape == again.shape and not np.allclose(first, again, 1e-6, 0, True):
                log.warning(
                    "the loss is %s, and %s at the same parameters on the same minibatch: draw "
                    "samples by batch.choose(len(data)) or batch.rng(), or the differences that "
                    "train the model are those of samples. A loss that is measured may differ so.",
                    first[0], again[0])
        return found

    again: Callable[[Any, Batch], Any] = standing_for(function, asked)
    return again


def _compared(functions: Functions) -> Gradient:
    """Says once if a gradient is not as steep as the losses that it is of."""
    gradient, said = functions.gradient, False
    assert gradient is not None

    def asked(x: Vector, batch: Batch) -> Any:
        nonlocal said
        found = gradient(x, batch)
        if not said and isinstance(found, (tuple, list)) and len(found) == 2:
            g = np.asarray(found[1], np.float64)
            length = float(np.linalg.norm(g))
            if g.shape == x.shape and 0 < length < math.inf:
                said = True
                rises = _rises(functions, x, g / length, length, batch)
                if rises and not any(2 / 3 <= rise / length <= 3 / 2 for rise in rises):
                    log.warning(
                        "the gradient has the length %.4g, and along it the loss rises by %.4g for "
                        "each unit: return the gradient of the mean loss, the one that is returned "
                        "beside it, on the same samples", length, rises[0])
        return found

    compared: Gradient = standing_for(gradient, asked)
    return compared


def _rises(functions: Functions, x: Vector, u: Numbers, length: float,
           batch: Batch) -> list[float]:
    """How steep the loss is along u, at distances where it is not mere noise."""
    at = np.stack([x, x, x, x, *(x + h * u for far in (1e-3, 1e-2, 1e-1) for h in (far, -far))])
    losses = [_numbers(functions.all_losses(p[None].astype(np.float32), batch))[0] for p in at]
    here, apart = losses[:4], losses[4:]
    noise = float(np.ptp(here)) + 1e-6 * abs(here[0])
    found = []
    for i, far in enumerate((1e-3, 1e-2, 1e-1)):
        rise = apart[2 * i] - apart[2 * i + 1]
        if max(abs(rise), 2 * far * length) > 20 * noise:
            found.append(rise / (2 * far))
    return found


def _numbers(found: Any) -> Numbers:
    """One loss or a list of them, of whatever float() reads. What is none is told of elsewhere."""
    try:
        return np.array([float(v) for v in (found if np.iterable(found) else [found])])
    except (TypeError, ValueError):
        return np.empty(0)


@contextmanager
def stored(plan: Given, start: Initial | None = None) -> Iterator[tuple[str, int, dict[str, Flag]]]:
    """A plan's file and dim, and the flags of where runs begin. Of arrays the plan begins there."""
    if plan is None:
        raise ValueError("no plan: give plan, what zofl.plan returns or the name of a file")
    with tempfile.TemporaryDirectory(prefix="zofl-") as scratch:
        flags = start.flags(Path(scratch, "initial")) if start else {}
        if start and start.tree:
            plan = begun(plan, str(flags["initial"]), start.dim)
        if not isinstance(plan, Mapping):
            yield os.fspath(plan), int(Plan.load(plan)["dim"]), flags
            return
        file = os.path.join(scratch, "plan.json")
        Plan(plan).save(file)
        yield file, int(plan.get("dim", 0)), flags
