"""Callbacks of a device, as those of a trainer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..process import Event, log

if TYPE_CHECKING:
    from .device import Device


@dataclass
class State:
    """What a callback gets, as on_round_end(state)."""

    device: Device | None = None
    round: int = 0  # rounds of the run so far
    record: int = 0  # the last record that the device has
    queries: int = 0  # losses that it evaluated
    loss: float | None = None  # its own of the last round in which it took part
    metrics: dict[str, float] | None = None  # of its last compute_metrics, by name
    _open: ExitStack = field(default_factory=ExitStack, repr=False)
    _model: Any = field(default=None, repr=False)

    @property
    def model(self) -> Any:
        """The module, which holds the model of the run until the callback returns. Losses wait
        meanwhile."""
        if self._model is None and self.device is not None:
            self._model = self._open.enter_context(self.device.holding())
        return self._model

    def stop(self) -> None:
        """Ends the device's part: its state is stored."""
        if self.device is not None:
            self.device.stop()


class Callbacks:
    """Calls those methods of callbacks that they have."""

    def __init__(self, given: Sequence[Any]) -> None:
        self._given = list(given)

    def __bool__(self) -> bool:
        return bool(self._given)

    def call(self, name: str, state: State) -> None:
        with state._open:
            for callback in self._given:
                if (method := getattr(callback, name, None)) is not None:
                    method(state)
        state._model = None


class Rounds:
    """Follows a device's events, and calls on_round_end after each that ends rounds."""

    def __init__(self, callbacks: Callbacks, state: State,
                 progress: Callable[[Event], None] | None) -> None:
        self._callbacks, self._state, self._progress = callbacks, state, progress

    def __call__(self, event: Event) -> None:
        if self._progress is not None:
            self._progress(event)
        state, before = self._state, self._state.round
        state.loss = event.get("loss", state.loss)
        state.queries = max(state.queries, int(event.get("queries", 0)))
        state.record = int(event.get("n", state.record))
        state.round = int(event.get("round", before))
        if state.round <= before:
            return
        try:
            self._callbacks.call("on_round_end", state)
        except Exception:
            log.exception("a callback failed after round %d", state.round)
