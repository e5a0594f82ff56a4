"""Plans: what a run is to do."""

from __future__ import annotations

import functools
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import keywords
from .binary import Flag, arguments, run
from .errors import UsageError
from .initial import Initial, initial_of
from .process import log
from .spoken import spoken
from .tree import Train

Value = Any  # of a field: a number, a choice's name, a list


class Plan(dict[str, Any]):
    """The fields of a plan that are set, by name, as in its file.

    >>> zofl.plan(dim=3).save("plan.json")
    >>> zofl.Plan.load("plan.json")["dim"]
    3

    `cost` is what `zofl plan --json` says beside the plan: bytes, memory, evaluations of a round.
    `warnings` is what the plan may lack. Those of a new plan are logged, each once in a program.
    `why` says why it has its preset, if you named none.
    `initial` is what the run begins with, where plan(initial=) gave it: `serve`, `Device`,
    `simulate` and `tune` take it from there. The file of the plan has only its digest.
    """

    cost: dict[str, Any]
    warnings: tuple[str, ...] = ()
    why: str = ""
    initial: Initial | None = None

    def __init__(self, *fields: Any, **more: Any) -> None:
        super().__init__(*fields, **more)
        self.cost = {}
        if fields and isinstance(fields[0], Plan):
            self.initial = fields[0].initial

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Plan:
        """The plan in a file, checked."""
        return _shown([os.fspath(path)])  # whoever made it was told what it may lack

    def save(self, path: str | os.PathLike[str]) -> None:
        """Stores the plan in a new file. A plan is never overwritten: that would lose its run."""
        with open(path, "x", encoding="utf-8") as file:
            json.dump(self, file, indent=2)
            file.write("\n")


def plan(preset: str | None = None, *, run: str = "run", dim: int = 0,
         segments: str | Sequence[Mapping[str, Any]] | None = None,
         initial: Any = None, train: Train = None,
         secret: str | os.PathLike[str] | None = None,
         epsilon: float | None = None, liars: int | None = None,
         evaluations: int | None = None, seconds: float | None = None,
         loss_seconds: float | None = None, noise: bool = False, unlike: bool = False,
         **fields: Value) -> Plan:
    """A new plan, of a preset or of the one that suits what is known of the loss.

    `zofl plan --fields` lists the fields; async is spelled async_.

    >>> p = zofl.plan("decomfl", run="kitchen", dim=7850, steps=5, members=4)
    >>> p["steps"], p.cost["cost"]["Queries"]
    (5, 55)

    evaluations is how many losses a device can evaluate, or seconds how long that may take where a
    loss takes loss_seconds: the run has as many rounds. noise says that a loss differs from one
    evaluation to the next, unlike that devices have unlike data.

    segments names the layers of a network in place of dim, such as "relu:784x64,64x10". Beside dim
    it is the field: [{"name": "all", "len": 7850, "fill": "normal", "scale": 0.1}].

    initial is where the run begins, and says dim: a number, an array, a list or dict of arrays, or
    a model, as x0 of `minimize`; or a file that ends in .npy, .npz, .safetensors or .onnx. train
    chooses tensors by their names:

    >>> head = {"head.weight": np.zeros((10, 64)), "head.bias": np.zeros(10), "body": np.ones(9)}
    >>> zofl.plan(run="adapt", initial=head, train="head.*")["dim"]
    650

    secret makes the run private, with the run key in that file. epsilon finds the noise with which
    all rounds spend no more. liars sets what holds best against so many lying devices. Raises
    UsageError where the plan makes no sense.
    """
    if segments is not None and not isinstance(segments, str):
        fields["segments"], segments = list(segments), None
    if isinstance(initial, str) and not Path(initial).suffix:  # the field itself
        fields["initial"], initial = initial, None
    begin = initial_of(initial, train)
    flags: dict[str, Flag] = {"preset": preset, "run": run, "dim": dim or None,
                              "segments": segments, "secret": secret, "epsilon": epsilon,
                              "liars": liars, "evaluations": evaluations, "seconds": seconds,
                              "loss_seconds": loss_seconds, "noise": noise, "unlike": unlike}
    if begin is None:
        p = new(flags, fields)
    else:
        begin.agree(dim, "the plan")
        with tempfile.TemporaryDirectory(prefix="zofl-") as scratch:
            p = new({**flags, **begin.flags(Path(scratch))}, fields)
        p.initial = begin
    for warning in p.warnings:
        if warning not in _told:
            _told.add(warning)
            log.warning("plan %s: %s", p["run"], warning)
    return p


def new(flags: Mapping[str, Flag], fields: Mapping[str, Value]) -> Plan:
    """A plan that `zofl plan` makes."""
    try:
        return _shown([*arguments(flags), *_sets(fields.items())])
    except UsageError:
        known = _names()
        for name in fields:
            if name.rstrip("_") not in known:
                raise keywords.unknown(plan, name, known) from None
        raise


@functools.cache
def _names() -> frozenset[str]:
    """The names of all fields."""
    return frozenset(f["name"] for f in json.loads(run("plan", "--fields", "--json"))["fields"])


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
    p.warnings = tuple(spoken(w) for w in said.pop("warnings", ()))
    p.why = spoken(said.pop("why", ""))
    p.cost = {name: spoken(v) if isinstance(v, str) else v for name, v in said.items()}
    return p
