"""A torch module is trained where it lives: `import zofl.torch`, of `pip install zofl[torch]`.

>>> import torch, zofl, zofl.torch
>>> rows = torch.randn(64, 4)
>>> head = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
>>> plan = zofl.torch.plan(head, train="2.*", run="head", members=1, rounds=20)
>>> with zofl.serve(plan) as server:
...     device = zofl.torch.Device(server.url, plan, "pi-1", head, dataset=rows,
...                                loss=lambda model, x: ((model(x) - 1) ** 2).mean())
...     result = device.run()
>>> result.ended, result.x is head
(True, True)

The module's own tensors hold a point before each loss of it, and the trained model at the end.
"""

from __future__ import annotations

try:
    import torch as _torch
except ImportError as error:
    raise ImportError("zofl.torch needs PyTorch: pip install zofl[torch]") from error
try:
    _torch.zeros(1).numpy()
except RuntimeError as error:
    raise ImportError("this torch was built for another numpy: pip install 'torch>=2.3', or "
                      "'numpy<2'") from error

from .callbacks import State
from .device import Device
from .start import Start
from .train import minimize, plan

__all__ = ["Device", "Start", "State", "minimize", "plan"]
