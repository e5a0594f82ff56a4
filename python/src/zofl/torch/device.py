"""A device of a run, whose model is a torch module."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .. import device as plain
from .. import keywords
from ..binary import Flag
from ..device import Result
from ..errors import UsageError
from ..process import Event, log
from ..tree import Train
from .asked import Function, Gradient, Loss, Losses, Measured, own_loss
from .callbacks import Callbacks, Rounds, State
from .data import Collate, Data
from .layout import rounded
from .points import Points
from .setting import Setting
from .start import held, start_of


class Device(plain.Device):
    """Takes part in a run with a torch module, the tensors of which hold each point in turn.

    loss(model, batch)
        the mean loss of the module as it is now, without gradients. Of a dataset batch is the
        minibatch, collated, where the module is; else it says which minibatch, as for
        `zofl.Device`. Left out, the model's own is taken: model(**batch).loss
    losses(model, points, batch)
        the losses at many points: of each name points has a tensor with an axis of points, as
        torch.func.functional_call takes, and vmap

    train chooses tensors by name, as in "*lora*" or ["*", "!*.bias"], whether they require a
    gradient or not. Left out, the plan's are trained, and without a plan those that require a
    gradient. All others are as they were. A tensor of several names is trained once. The module may
    hold float32, bfloat16 or float16: x is float32, and each point is rounded to the module's type.

    dataset has a length and items; collate makes a minibatch of a list of them, as for torch's
    DataLoader. compute_metrics(model, eval_dataset) returns the plan's metrics, also by name.
    callbacks have methods on_train_begin, on_round_end and on_train_end, or some of them, which get
    a `State`. gradient=True lets torch differentiate the loss. The other arguments are those of
    `zofl.Device`.

    The module is set to eval() before the first loss, unless eval_mode is False. What torch draws
    in a loss is the same at all points of a step. At the end the module holds the model, and what
    it began with if an exception ends the run; meanwhile it holds some point: see `holding`.
    """

    def __init__(self, url: str, run: str | Mapping[str, Any], id: str, model: Any, *,
                 loss: Function | None = None, losses: Function | None = None,
                 train: Train = None, dataset: Any = None, collate: Collate | None = None,
                 eval_dataset: Any = None, compute_metrics: Function | None = None,
                 callbacks: Sequence[Any] = (), gradient: bool = False, eval_mode: bool = True,
                 samples: int = 0, points: int = 16,
                 store: str | os.PathLike[str] | None = None,
                 progress: Callable[[Event], None] | None = None,
                 report: Any = None, strict: bool = True, **flags: Flag) -> None:
        keywords.check(Device.__init__, "exec", flags)
        start = start_of(run, model, train)
        if isinstance(run, Mapping) and (hidden := rounded(start.tree.parameters, run)):
            log.warning("%s", hidden)
        if losses is None and loss is None:
            if dataset is None:
                raise UsageError("loss is missing: give loss=lambda model, batch: ..., or a dataset "
                                 "of which the model computes its own loss", 2)
            loss = own_loss
        place = next(iter(start.tree.parameters.values())).device
        data = None if dataset is None else Data(dataset, collate, place)
        self.module = model
        self._setting = Setting(model, start.tree.parameters, eval_mode)
        self._callbacks, self._state = Callbacks(callbacks), State(self)
        names = run.get("metrics", ()) if isinstance(run, Mapping) else ()
        rows = eval_dataset if eval_dataset is not None else dataset
        asked = loss and Loss(loss, self._setting, data)
        super().__init__(
            url, run, id, initial=start, loss=asked, factors=asked and Points(start, asked),
            losses=losses and Losses(losses, self._setting, data, model),
            gradient=Gradient(loss, self._setting, data, start.tree) if gradient and loss else None,
            evaluate=compute_metrics and Measured(
                compute_metrics, self._setting, rows, names,
                len(rows) if hasattr(rows, "__len__") else 1, self._state),
            samples=samples or len(data or ()), points=points, store=store, report=report,
            progress=Rounds(self._callbacks, self._state, progress)
            if self._callbacks else progress, strict=strict, **flags)  # type: ignore[arg-type]

    def run(self) -> Result:
        """Takes part until the run has ended, as `zofl.Device.run`: then the module holds x."""
        try:
            self._callbacks.call("on_train_begin", self._state)
            result = super().run()
        finally:
            self._setting.end()
        self._state.record = result.record
        self._callbacks.call("on_train_end", self._state)
        return result

    @contextmanager
    def holding(self) -> Iterator[Any]:
        """The module, which holds the model of the run in this block, while losses wait:

            with device.holding() as model:
                print(model(row))
        """
        asked = self._asker.ask()[0] if self._asker.knows else None
        tree: Any = self._tree
        with held(tree, asked) as module:
            yield module

    def save_pretrained(self, path: str | os.PathLike[str], **more: Any) -> None:
        """Stores the model by the module's own save_pretrained, as those of PEFT and transformers
        have it: of an adapter the adapter alone."""
        save = getattr(self.module, "save_pretrained", None)
        if save is None:
            raise UsageError(f"a {type(self.module).__name__} has no save_pretrained: use torch.save("
                             "model.state_dict(), path)", 2)
        with self.holding():
            save(path, **more)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "module": self.module, "_setting": self._setting,
                "_callbacks": self._callbacks, "_state": self._state}
