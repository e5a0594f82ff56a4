"""Plans and runs that begin with a torch module."""

from __future__ import annotations

from typing import Any

from ..errors import UsageError
from ..minimize import OptimizeResult
from ..minimize import minimize as lowered
from ..plans import Plan, Value
from ..plans import plan as new
from ..tree import Train
from .asked import Function, Gradient, Loss, Measured, own_loss
from .callbacks import State
from .data import Collate, Data
from .points import Points
from .setting import Setting
from .start import Start


def plan(module: Any, train: Train = None, *, run: str = "run", preset: str | None = None,
         **fields: Value) -> Plan:
    """A plan of a run that begins with a module: the tensors that train names, as they are now.

    >>> import torch
    >>> zofl.torch.plan(torch.nn.Linear(3, 2), train="*", run="kitchen")["dim"]
    8

    The other arguments are those of `zofl.plan`. Devices check that their modules have the same
    tensors, of the same shape and with the same numbers, under the same names.
    """
    return new(preset, run=run, initial=Start(module, train), **fields)


def minimize(loss: Function | None = None, module: Any = None, *, train: Train = None,
             dataset: Any = None, collate: Collate | None = None, eval_dataset: Any = None,
             compute_metrics: Function | None = None, gradient: bool = False,
             eval_mode: bool = True, **more: Any) -> OptimizeResult:
    """Lowers loss(model, batch) of a module from what it holds, which then holds the best found.

    >>> import torch
    >>> net, rows = torch.nn.Linear(3, 1), torch.randn(20, 3)
    >>> r = zofl.torch.minimize(lambda net, x: ((net(x) - 1) ** 2).mean(), net, dataset=rows,
    ...                         rounds=40, progress=False)
    >>> r.x is net, bool(r.fun < r.fun0)
    (True, True)

    The arguments are those of `Device`, and of `zofl.minimize`. If anything is raised, the module
    is as before.
    """
    if module is None:
        raise UsageError("module is missing: give minimize(loss, module)", 2)
    if loss is None and dataset is None:
        raise UsageError("loss is missing: give it, or a dataset of which the model computes its "
                         "own loss", 2)
    start = Start(module, train)
    setting, data = Setting(module, start.tree.parameters, eval_mode), None
    if dataset is not None:
        data = Data(dataset, collate, next(iter(start.tree.parameters.values())).device)
    given = loss or own_loss
    asked = Loss(given, setting, data)
    rows = eval_dataset if eval_dataset is not None else dataset
    names = more.get("metrics") or (more.get("plan") or {}).get("metrics", ())
    try:
        return lowered(
            asked, start, factors=Points(start, asked),
            gradient=Gradient(given, setting, data, start.tree) if gradient else None,
            evaluate=compute_metrics and Measured(
                compute_metrics, setting, rows, names,
                len(rows) if hasattr(rows, "__len__") else 1, State()),
            samples=more.pop("samples", len(data or ())), **more)
    finally:
        setting.end()
