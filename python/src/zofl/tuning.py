"""Finds the step of a plan."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .binary import Flag, arguments
from .errors import Error
from .plans import Plan
from .process import Event
from .protocol import Functions, Gradient, Loss, Losses
from .simulation import checked, stored
from .talk import talk


@dataclass(frozen=True)
class Tuned:
    """What tune found, and what it tried."""

    plan: Plan
    reasons: tuple[str, ...]  # why it chose what
    trials: tuple[Event, ...]  # stage, mu, step, perturbations, batch, rounds, queries, loss
    queries: int  # losses that all devices evaluated


def tune(loss: Loss | None = None,
         plan: Mapping[str, Any] | str | os.PathLike[str] | None = None, *, devices: int = 0,
         queries: int = 0, rounds: int = 50, fields: Sequence[str] = (),
         losses: Losses | None = None, gradient: Gradient | None = None, samples: int = 0,
         points: int = 64, strict: bool = True, **flags: Flag) -> Tuned:
    """Finds mu, the step, P and the batch of a plan, within a budget of losses.

    It tries them on so many devices in this process. queries bounds the losses of all of them
    together; 0 chooses. fields says what to tune, such as ["step"]. strict is that of
    `simulate`; other flags are those of `zofl tune`, with _ for -.
    """
    found: list[Event] = []
    with stored(plan) as (file, dim):
        functions = checked(Functions(loss, losses, gradient, None, dim, samples, points))
        said: dict[str, Flag] = {"devices": devices, "queries": queries, "rounds": rounds,
                                 "fields": ",".join(fields) or None, **flags}
        talk(functions, "tune", file, *arguments(said), heard=found.append,
             strict=strict)
    if not found or "plan" not in found[-1]:
        raise Error("zofl tune ended without a plan")
    said_last = found[-1]
    return Tuned(Plan(said_last["plan"]), tuple(said_last.get("reasons") or ()),
                 tuple(said_last.get("trials") or ()), int(said_last.get("queries", 0)))
