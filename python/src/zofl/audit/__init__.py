"""Checks a log of Zofl, and computes its model, in numpy alone.

This package shares no code with the program that wrote the log. It follows docs/prng.md,
docs/wire.md, docs/replay.md and docs/state.md.

>>> from zofl import audit
>>> verdict = audit.verify("kitchen.log")   # doctest: +SKIP
>>> verdict.ok, verdict.digest              # doctest: +SKIP
>>> x = audit.model("kitchen.log", at=500)  # doctest: +SKIP
"""

from .errors import FrameError, LogError
from .verify import Verdict, model, verify

__all__ = ["FrameError", "LogError", "Verdict", "model", "verify"]
