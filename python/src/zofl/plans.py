"""Plans: what a run is to do."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .binary import Flag, arguments, run
from .process import log

Value = Any  # of a field: a number, a choice's name, a list


class Plan(dict[str, Any]):
    """The fields of a plan that are set, by name, as in its file.

    `cost` is what `zofl plan --json` says beside the plan: bytes, memory, evaluations of a round.
    `warnings` is what the plan may lack. Those of a new plan are logged, each once in a program.
    """

    cost: dict[str, Any]
    warnings: tuple[str, ...] = ()

    def __init__(self, *fields: Any, **more: Any) -> None:
        super().__init__(*fields, **more)
        self.cost = {}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Plan:
        """The plan in a file, checked."""
        return _shown([os.fspath(path)])  # whoever made it was told what it may lack

    def save(self, path: str | os.PathLike[str]) -> None:
        """Stores the plan in a new file. A plan is never overwritten: that would lose its run."""
        with open(path, "x", encoding="utf-8") as file:
            json.dump(self, file, indent=2)
            file.write("\n")


def plan(preset: str = "zofl", *, run: str = "run", dim: int = 0,
         segments: str | Sequence[Mapping[str, Any]] | None = None,
         secret: str | os.PathLike[str] | None = None,
         epsilon: float | None = None, liars: int | None = None, **fields: Value) -> Plan:
    """A new plan. `zofl plan --fields` lists the fields; async is spelled async_.

    zofl.plan("decomfl", run="kitchen", dim=7850, steps=5, members=4)

    segments names the layers of a network in place of dim, such as "relu:784x64,64x10". Beside dim
    it is the field: [{"name": "all", "len": 7850, "fill": "normal", "scale": 0.1}]. secret makes
    the run private, with the run key in that file. epsilon finds the noise with which all rounds
    spend no more. liars sets what holds best against so many lying devices. Raises UsageError where
    the plan makes no sense.
    """
    if segments is not None and not isinstance(segments, str):
        fields["segments"], segments = list(segments), None
    flags: dict[str, Flag] = {"preset": preset, "run": run, "dim": dim or None,
                              "segments": segments, "secret": secret, "epsilon": epsilon,
                              "liars": liars}
    p = new(flags, fields)
    for warning in p.warnings:
        if warning not in _told:
            _told.add(warning)
            log.warning("plan %s: %s", p["run"], warning)
    return p


def new(flags: Mapping[str, Flag], fields: Mapping[str, Value]) -> Plan:
    """A plan that `zofl plan` makes."""
    return _shown([*arguments(flags), *_sets(fields.items())])


def begun(plan: Mapping[str, Any] | str | os.PathLike[str], initial: str | os.PathLike[str],
          dim: int) -> Plan:
    """A plan whose run begins at the model in a file. A plan that has a model stays as it is."""
    with tempfile.TemporaryDirectory(prefix="zofl-") as scratch:
        file = os.fspath(plan) if not isinstance(plan, Mapping) else os.path.join(scratch, "plan")
        if isinstance(plan, Mapping):
            Plan(plan).save(file)
        p = _shown([file])
        if p.get("dim", dim) != dim:
            raise ValueError(f"the plan's dim is {p['dim']}, and the model has {dim} parameters: "
                             "give both the same")
        if p.get("initial") == "given":
            return p
        own = [("segments", p["segments"])] if p.get("segments") else []
        return _shown([file, f"--initial={initial}", *_sets(own)])


_told: set[str] = set()  # warnings that were logged


def _sets(fields: Iterable[tuple[str, Value]]) -> list[str]:
    return [f"--set={name.rstrip('_')}={_text(value)}" for name, value in fields]


def _text(value: Value) -> str:
    """A field's value, as zofl plan --set reads it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (list, tuple)):
        return json.dumps(value)
    return str(value)


def _shown(command: list[str]) -> Plan:
    said = json.loads(run("plan", "--json", *command))
    p = Plan(said.pop("plan"))
    p.cost, p.warnings = said, tuple(said.pop("warnings", ()))
    return p
