"""minimize: the shortest way from a loss to a model."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from . import chart
from .batch import Batch
from .binary import Flag
from .bounds import boxed
from .calls import functions, standing_for
from .chart import Numbers
from .errors import Error, KeywordError, UsageError
from .faults import number
from .follow import Follower, Heard
from .initial import Initial
from .plans import Plan, Value, begun, new
from .protocol import Evaluate, Functions, Gradient, Loss, Losses, Near, Vector
from .runs import History, Run
from .simulation import checked, lead
from .tree import Train, Tree

_ROUNDS = 300
_ROUNDS_OF_FZOOS = 30  # which take more losses
_FEATURES = 1000  # of fzoos with one device: no other surrogate has to be told, and it is faster
_ROUNDING = 2 ** -22  # two steps of a float32, relative to the loss


# What arguments of scipy, optuna, nevergrad and scikit-learn are called here.
_ELSEWHERE = {
    **dict.fromkeys(["fun", "func", "objective"], "did you mean loss?"),
    **dict.fromkeys(["maxiter", "max_iter", "num_iterations"], "did you mean rounds?"),
    **dict.fromkeys(["maxfev", "maxfun", "n_trials", "n_calls", "budget", "evaluations"],
                    "did you mean queries?"),
    **dict.fromkeys(["rng", "random_state"], "did you mean seed?"),
    **dict.fromkeys(["workers", "n_jobs", "num_workers"], "did you mean devices?"),
    **dict.fromkeys(["disp", "verbose", "show_progress_bar"], "did you mean progress?"),
    "jac": "did you mean gradient? It returns the loss and its gradient",
    "callbacks": "did you mean callback?",
    "args": "give a function of x, as in lambda x: loss(x, data)",
    "options": "give each option as an argument, such as rounds=100",
    "tol": "patience ends a run whose loss is no longer lower",
    "constraints": "add a penalty to the loss, or give bounds",
}


@dataclass(repr=False)
class OptimizeResult:
    """What minimize found, with the names of scipy.optimize.OptimizeResult."""

    x: Any  # the model, in the structure of x0
    fun: float  # the loss at x, of all data: measured again at the end
    nfev: int  # how often the loss was evaluated, with the checks before and after
    nit: int  # rounds
    success: bool  # whether the run came to its end, no worse than it began
    message: str  # how it ended
    fun0: float  # the loss at x0, of all data
    run: Run  # round by round
    plan: Plan  # which led it: zofl.serve leads the same on devices

    @property
    def best(self) -> dict[str, Any] | None:
        """Of a plan with best, such as best="loss": the best model as x, its value and round."""
        return self.run.best

    @property
    def losses(self) -> Numbers:
        """The mean training loss where each round began; of cma that of the best candidates."""
        return self.run.losses

    @property
    def queries(self) -> Numbers:
        """Loss evaluations of all devices so far, by round."""
        return self.run.queries

    @property
    def metrics(self) -> dict[str, Numbers]:
        """The plan's metrics by name: NaN for rounds after which they were not measured."""
        return self.run.metrics

    def to_frame(self) -> Any:
        """The rounds as a pandas.DataFrame."""
        return self.run.to_frame()

    def plot(self, ax: Any = None) -> Any:
        """Draws the losses with matplotlib, on axes that it returns."""
        return chart.plot({"loss": self.losses}, ax)

    def svg(self) -> str:
        """A drawing of the losses, for a file."""
        return chart.svg({"loss": self.losses}, alone=True)

    def keys(self) -> list[str]:
        """Names of the values, as in scipy's result: r["x"] is r.x."""
        return ["message", "success", "fun", "x", "nit", "nfev"]

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def __repr__(self) -> str:
        shown = [("message", self.message), ("success", self.success), ("fun", f"{self.fun:.6g}"),
                 ("x", _short(self.x)), ("nit", self.nit), ("nfev", self.nfev)]
        return "\n".join(f"{name:>7}: {value}" for name, value in shown)

    def _repr_html_(self) -> str:
        return chart.svg({"loss": self.losses}) + chart.table([
            ("loss", f"{self.fun0:.6g} at x0, {self.fun:.6g} at x"), ("ended", self.message),
            ("evaluations", f"{self.nfev:,} in {self.nit:,} rounds")])


def minimize(loss: Loss | None = None, x0: Any = None, *, devices: int = 1,
             plan: Mapping[str, Any] | str | os.PathLike[str] | None = None,
             method: str | None = None, rounds: int = 0, queries: int = 0, seed: int = 1,
             train: Train = None, bounds: Any = None,
             losses: Losses | None = None, gradient: Gradient | None = None,
             evaluate: Evaluate | None = None, factors: Near | None = None,
             samples: int = 0, points: int = 64,
             noise: bool | None = None,
             callback: Callable[[Run], Any] | None = None, patience: int = 0,
             progress: Heard = None, **fields: Value) -> OptimizeResult:
    """Lowers loss(x) from x0, by its values alone, on so many devices in this process.

    >>> import numpy as np, zofl
    >>> r = zofl.minimize(lambda x: np.sum((x - 3) ** 2), np.zeros(5), progress=False)
    >>> bool(r.fun < 1e-3 * r.fun0), r.x.shape
    (True, (5,))

    x0 is a number, an array, a list, tuple or dict of them, nested as you like: loss gets the same,
    as float32, and r.x is the same. Or it holds a model: a torch module (its parameters that
    require a gradient), a fitted estimator of scikit-learn (coef_ and intercept_), an
    onnx.ModelProto (its initializers, which loss gets as a dict of arrays). The object is set to x
    before each loss, and has the model at the end; if anything is raised, it is as before. train
    chooses tensors by name, as in "head.*" or ["*", "!*.bias"].

    loss(x, batch) gets the minibatch too: batch.device says which device asks, "d0", "d1" and so
    on. losses, gradient, evaluate, factors and samples are those of `Device`, which takes the same
    functions and x0. callback(run), patience and progress are those of `simulate`. With
    best="loss", or a metric of evaluate, r.best has the best model, as r.best["x"].

    rounds is 300 unless queries bounds the evaluations of the loss, all together. noise says whether
    the loss differs from one evaluation to the next; with queries it is else seen at x0. bounds is
    (low, high), or a pair for each parameter. method is a preset, by default the one that `plan`
    chooses, or zofl where gradient is given. Other arguments are fields of the plan: step=0.1.
    """
    for name in fields.keys() & _ELSEWHERE.keys():
        raise TypeError(f"minimize() got an unexpected keyword argument {name!r}: "
                        + _ELSEWHERE[name])
    if devices < 1:
        raise ValueError(f"devices={devices}: give 1 or more")
    if patience > 0 and "best" in fields:  # the plan counts what it measures
        fields["patience"], patience = patience, 0
    if evaluate is not None and plan is None:
        fields = _measured(fields, devices)
    start = x0 if isinstance(x0, Initial) else None
    if x0 is None and isinstance(plan, Plan):
        start = plan.initial
    tree = start.tree if start else None
    if start is None or tree is None:
        if x0 is None:
            raise ValueError("x0 is missing: say where to begin, as at numpy.zeros(5)")
        tree = Tree(x0, train)
        start = Initial.of(tree, x0, train)
    count = _Count(functions(loss, losses, gradient, evaluate, tree=tree, samples=samples,
                             points=points, factors=factors))
    try:
        fun0 = _full(count.functions, tree.vector, devices)
        if not math.isfinite(fun0):
            raise ValueError(f"the loss at x0 is {fun0}: begin where it is a finite number")
        if noise is None and plan is None and queries > 0:
            again = _full(count.functions, tree.vector, devices)
            noise = abs(again - fun0) > 1e-6 * abs(fun0)
        left = _left(queries, count, devices, gradient is not None)
        with tempfile.TemporaryDirectory(prefix="zofl-") as scratch:
            file = tree.save(Path(scratch))
            if plan is None and gradient is not None and bounds is None:
                method = method or "zofl"
            led = _plan(plan, method, devices, file, tree, bounds, rounds, left // devices,
                        bool(noise), fields)
            asked = rounds
            if not rounds and not led.get("rounds"):
                rounds = left or _ROUNDS
            led.initial = start
            named = os.path.join(scratch, "plan.json")
            led.save(named)
            flags: dict[str, Flag] = {"devices": devices, "seed": seed, "rounds": rounds,
                                      "queries": left, "initial": file}
            with Follower(History(), "minimize", None, callback, patience, progress,
                          left) as follower:
                lead(checked(count.functions), named, flags, follower, True)
        return _result(tree, count, devices, follower.history[0], led, fun0,
                       left > 0 and (not asked or len(follower.history[0].rows) != rounds),
                       patience > 0 or bool(led.get("patience")))
    except BaseException:
        tree.restore()
        raise


class _Count:
    """Counts evaluations of a loss, and keeps what it raised last."""

    def __init__(self, given: Functions) -> None:
        self.queries = 0
        self.raised: Exception | None = None
        self.functions = replace(given, loss=self._each(given.loss), losses=self._all(given.losses),
                                 gradient=self._each(given.gradient),
                                 factors=self._all(given.factors))

    def _each(self, function: Any) -> Any:
        def counted(x: Vector, batch: Batch) -> Any:
            return self._asked(1, function, x, batch)

        return function and standing_for(function, counted)

    def _all(self, function: Any) -> Any:
        def counted(xs: Vector, batch: Batch) -> Any:
            return self._asked(len(xs), function, xs, batch)

        return function and standing_for(function, counted)

    def _asked(self, points: int, function: Any, x: Vector, batch: Batch) -> Any:
        self.queries += points
        try:
            return function(x, batch)
        except Exception as error:
            self.raised = error
            raise


def _full(given: Functions, x: Vector, devices: int) -> float:
    """The mean loss of all devices at x, on all their data."""
    shown = np.array(x, np.float32)[None]
    shown.flags.writeable = False
    found = [given.all_losses(shown, Batch(0, 0, 0, 0, f"d{i}", math.inf))[0]
             for i in range(devices)]
    return float(np.mean([number(v, given.of("loss")) for v in found]))


def _left(queries: int, count: _Count, devices: int, gradient: bool) -> int:
    """What a budget leaves to the run: the end and the checks of the loss ask again."""
    if queries == 0:
        return 0
    left = queries - count.queries - devices - 1 - (11 if gradient else 0)
    if left < 1:
        raise ValueError(f"queries={queries}: give more, of which {queries - left} are for the "
                         "loss at x0 and at the end, and for checks")
    return left


def _plan(plan: Mapping[str, Any] | str | os.PathLike[str] | None, method: str | None,
          devices: int, file: Path, tree: Tree, bounds: Any, rounds: int, evaluations: int,
          noise: bool, fields: dict[str, Value]) -> Plan:
    """The plan of a run that begins at the model in a file."""
    if plan is not None:
        given = [name for name, value in (("method", method), ("bounds", bounds)) if
                 value is not None] + list(fields)
        if given:
            raise ValueError(f"{given[0]} and plan are both given: say it in the plan, or leave "
                             "plan out")
        return begun(plan, file, tree.dim)
    if bounds is not None:
        fields = {**boxed(bounds, tree), **fields}
    usually: dict[str, Value] = {"members": devices, "target": devices, "quorum": devices}
    if rounds or not evaluations:
        usually["rounds"] = rounds or _ROUNDS
    flags: dict[str, Flag] = {"run": "minimize", "initial": file, "noise": noise,
                              "evaluations": None if rounds else evaluations or None}
    try:
        led = new({"preset": method, **flags}, {**usually, **fields})
        if led["preset"] != "fzoos":
            return led
        if devices == 1:
            usually["features"] = _FEATURES
        if "rounds" in usually:
            usually["rounds"] = rounds or _ROUNDS_OF_FZOOS
        return new({"preset": "fzoos", **flags}, {**usually, **fields})
    except KeywordError as error:
        raise KeywordError(str(error).replace("plan()", "minimize()", 1), error.code) from None
    except UsageError as error:
        if flags["evaluations"]:
            text = re.sub(r"\bplan: evaluations = \d+", "queries", str(error))
            raise UsageError(text, error.code) from None
        raise


def _measured(fields: dict[str, Value], devices: int) -> dict[str, Value]:
    """The fields of a plan whose metrics are measured every ten rounds, if they do not say when."""
    if "metrics" in fields:
        return {"eval_every": 10, "eval_count": devices, **fields}
    if "best" in fields:
        return fields
    raise ValueError("evaluate is given, and no metric has a name: add metrics=['accuracy'], or "
                     "best='accuracy'")


def _result(tree: Tree, count: _Count, devices: int, run: Run, led: Plan, fun0: float,
            bounded: bool, patient: bool) -> OptimizeResult:
    if run.error and not run.rows and count.raised is not None:
        raise count.raised  # at each point around x0, where it stands for an infinite loss
    if run.model is None:
        raise Error(f"the run has no model: {run.error or run.ended}")
    fun = _full(count.functions, run.model, devices)
    n = len(run.rows)
    ran = "1 round was run" if n == 1 else f"{n:,} rounds were run"
    how = {
        "rounds": f"{ran}, as many as queries allows" if bounded else "all " * (n > 1) + ran,
        "callback": f"callback ended the run after round {n:,}",
        "patience": f"patience ended the run after round {n:,}: nothing was better for so long"
        if patient else f"the loss no longer fell: the run ended after round {n:,}",
    }.get(run.ended) or _why(run) or f"the plan's condition holds after round {n:,}: {run.ended}"
    same = abs(fun - fun0) <= _ROUNDING * abs(fun0)
    success = not run.error and (same or fun <= fun0)
    if same and run.ended == "rounds":
        measured = led.get("step") == "auto" and np.array_equal(run.model, tree.vector)
        how += ". The loss is that of x0: " + (
            "give more rounds, as with step=auto the first only measure" if measured
            else "see whether it depends on x")
    elif not (same or fun <= fun0) and run.ended != "diverged":
        how += (f". It ended worse than it began: the loss at x0 is {fun0:.6g}, at x {fun:.6g}. "
                "Keep x0, or give more rounds, a smaller step or less noise")
    if bounded and run.ended == "rounds":
        led["rounds"] = n
    x = tree.keep(run.model)
    run.x = x
    if run.best is not None:
        run.best["x"] = tree.copy(run.best["model"])
    return OptimizeResult(x, fun, count.queries, n, success, how, fun0, run, led)


def _why(run: Run) -> str:
    """What ended a run too early: what a loss did, if it is known."""
    text = run.error.replace("fleet: ", "").replace("coordinator: ", "")
    what = text.partition("; device ")[2].partition("client: ")[2]
    if what:
        return f"{run.ended} after round {len(run.rows):,}: {what}"
    said, _, commands = text.partition(": `zofl rollback")  # of a run that goes on: this one ended
    smaller = re.search(r"change (\w+=[^`\s]+)", commands)
    return f"{said}: give {smaller[1]}" if smaller else said


def _short(x: Any) -> str:
    """A model in a line."""
    if isinstance(x, np.ndarray):
        return np.array2string(x, precision=4, threshold=8, edgeitems=3).replace("\n", " ")
    if isinstance(x, (int, float)):
        return f"{x:.6g}"
    if isinstance(x, Mapping):
        return "{" + ", ".join(f"{k!r}: {_kind(v)}" for k, v in list(x.items())[:4]) + (
            ", ...}" if len(x) > 4 else "}")
    if isinstance(x, (list, tuple)):
        return "[" + ", ".join(map(_kind, x[:4])) + (", ...]" if len(x) > 4 else "]")
    return type(x).__name__


def _kind(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return _short(value) if shape is None else f"{tuple(shape)}"
