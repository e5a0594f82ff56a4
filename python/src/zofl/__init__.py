"""Federated zeroth-order optimization with Zofl.

>>> import numpy as np, zofl
>>> def loss(x):
...     return np.sum((x - 3) ** 2)
>>> r = zofl.minimize(loss, np.zeros(5), progress=False)
>>> plan = zofl.plan(run="kitchen", initial=np.zeros(5), members=1, rounds=20)
>>> with zofl.serve(plan, store="kitchen.log") as server:
...     result = zofl.Device(server.url, plan, "pi-1", loss=loss, store="pi-1.state").run()
>>> bool(loss(r.x) < loss(result.x) < loss(np.zeros(5)))
True
"""

from importlib import import_module
from typing import Any

from . import audit
from .batch import Batch
from .device import Device, Result
from .errors import AbsentError, DamagedError, Error, KeywordError, MissingError, UsageError
from .factors import Factors
from .initial import Initial
from .model import Model
from .minimize import OptimizeResult, minimize
from .operate import export, status
from .plans import Plan, plan
from .protocol import Metrics
from .scaling import Scaler
from .server import Server, serve
from .runs import History, Run
from .simulation import simulate
from .tuning import Tuned, tune

__all__ = [
    "AbsentError", "Batch", "DamagedError", "Device", "Error", "Factors", "History", "Initial",
    "KeywordError", "Metrics", "MissingError", "Model", "OptimizeResult", "Plan", "Result", "Run",
    "Scaler", "Server", "Tuned", "UsageError", "__version__", "audit", "export", "minimize", "plan",
    "serve", "simulate", "status", "tune",
]

__version__: str  # of the package; the command `zofl --version` says that of the program


def __getattr__(name: str) -> Any:
    """Looks up __version__ when somebody asks for it, which reads a file, and `torch`, which takes
    seconds to import."""
    if name == "torch":
        return import_module(".torch", __name__)
    if name != "__version__":
        raise AttributeError(f"module 'zofl' has no attribute {name!r}")
    from .version import version

    globals()[name] = version()
    return globals()[name]
