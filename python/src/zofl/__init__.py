"""Federated zeroth-order optimization with Zofl.

>>> r = zofl.minimize(f, x0)                               # doctest: +SKIP
>>> import zofl
>>> plan = zofl.plan(run="kitchen", dim=7850)              # doctest: +SKIP
>>> with zofl.serve(plan, store="kitchen.log") as server:  # doctest: +SKIP
...     zofl.Device(server.url, "kitchen", "pi-1", loss=f, store="pi-1.state").run()
"""

from . import audit
from .batch import Batch
from .device import Device, Result
from .errors import AbsentError, DamagedError, Error, MissingError, UsageError
from .minimize import OptimizeResult, minimize
from .operate import export, status
from .plans import Plan, plan
from .protocol import Metrics
from .server import Server, serve
from .runs import History, Run
from .simulation import simulate
from .tuning import Tuned, tune

__all__ = [
    "AbsentError", "Batch", "DamagedError", "Device", "Error", "History", "Metrics",
    "MissingError", "OptimizeResult", "Plan", "Result", "Run", "Server", "Tuned", "UsageError",
    "audit", "export", "minimize", "plan", "serve", "simulate", "status", "tune",
]
