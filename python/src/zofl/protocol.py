"""The side of a loss in the protocol of docs/exec.md, version 1."""

from __future__ import annotations

import json
import logging
import math
import mmap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, SupportsFloat, Union

import numpy as np
import numpy.typing as npt

from .batch import Batch

Vector = npt.NDArray[np.float32]
# Each gets x, or with x0 what has its structure, and may take the batch.
Loss = Callable[..., SupportsFloat]
Losses = Callable[..., Sequence[SupportsFloat]]
Gradient = Callable[..., tuple[SupportsFloat, Any]]


class Metrics(NamedTuple):
    """What an evaluation returns: means over so many samples, in the order of the plan."""

    values: Sequence[SupportsFloat]
    samples: int = 1


Evaluate = Callable[..., Union[Metrics, Sequence[SupportsFloat]]]
Progress = Callable[[dict[str, Any]], bool]  # takes an event; whether to end what goes on
Report = Callable[[], Mapping[str, SupportsFloat]]

_LONGEST = 1000  # bytes of an error's text
_AT_ONCE = 1 << 22  # numbers of a request that a loss of one point is asked for at once

log = logging.getLogger("zofl")

_SURVEY = 65535  # the step of a survey: no round has it


class ProtocolError(Exception):
    """A request that cannot be read, or that does not fit the functions."""


class LateError(TimeoutError):
    """A round ended before all of its losses were computed."""


@dataclass
class Functions:
    """What an app gives: loss, losses or gradient, or gradient beside one of the others."""

    loss: Loss | None = None
    losses: Losses | None = None
    gradient: Gradient | None = None
    evaluate: Evaluate | None = None
    dim: int = 0  # 0: whatever the plan has
    samples: int = 0  # 0: not said
    points: int = 16  # of losses: how many in one call, at most
    progress: Progress | None = None  # of simulate and tune

    def __post_init__(self) -> None:
        if self.loss is not None and self.losses is not None:
            raise ValueError("loss and losses: give one of the two")
        if self.loss is None and self.losses is None and self.gradient is None:
            raise ValueError("no loss: give loss, losses or gradient")
        for name, least in (("dim", 0), ("samples", 0), ("points", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)}: give {least} or more")
        if self.points > 4096:
            raise ValueError(f"points={self.points}: give at most 4096")

    def hello(self) -> str:
        points = self.points
        if self.losses is None:  # each request is a way to the program and back
            points = max(1, min(points, _AT_ONCE // max(1, self.dim)))
        words = [f"hello 1 dim={self.dim} points={points}"]
        if self.samples:
            words.append(f"samples={self.samples}")
        if self.gradient:
            words.append("gradient=1")
        if self.evaluate:
            words.append("evaluate=1")
        if self.progress:
            words.append("progress=1")
        return " ".join(words)

    def all_losses(self, xs: Vector, batch: Batch) -> list[SupportsFloat]:
        """The losses at the points, as long as they are of use."""
        if self.losses is not None:
            found = list(self.losses(xs, batch))
            if len(found) != len(xs):
                raise ValueError(f"{len(found)} losses of {len(xs)} points: return one for each")
            return found
        found, until = [], time.monotonic() + batch.left
        for x in xs:
            if time.monotonic() > until:
                raise LateError(f"the round ended after {len(found)} of {len(xs)} losses")
            try:
                if self.loss is not None:
                    found.append(self._one(x, batch))
                elif self.gradient is not None:
                    found.append(self.gradient(x, batch)[0])
            except Exception:
                if batch.step != _SURVEY or not found:
                    raise
                log.info("no loss far from the model: it is taken for infinite", exc_info=True)
                found.append(math.inf)
        return found

    def _one(self, x: Vector, batch: Batch) -> SupportsFloat:
        """The loss at a point. math.exp raises where numpy and other languages say infinite."""
        assert self.loss is not None
        try:
            return self.loss(x, batch)
        except OverflowError:
            log.info("the loss overflowed, and is taken for infinite", exc_info=True)
            return math.inf


class Answers:
    """Answers requests, one after another. close() lets go of the file of the parameters.

    What a function raises is an answer, or with strict leaves answer(). A survey asks for points
    far from the model: a function may fail there, and the loss is then infinite. The log has the
    traceback of a failure, and one line if the same failure comes again.
    """

    def __init__(self, functions: Functions, strict: bool = False) -> None:
        self.functions, self.strict = functions, strict
        self._failed = ""  # the text of the last failure
        self._surveyed: dict[str, str] = {}  # n of the last survey of a device
        self._map: mmap.mmap | None = None
        self._points: Vector = np.empty((0, 0), np.float32)  # of the file, writable
        self._shown = self._points  # the same, read-only: what functions see

    def answer(self, line: str) -> str:
        """The answer to a request.

        KeyboardInterrupt and other exits leave it in any case, as does what follows the progress.
        """
        verb, _, rest = line.rstrip("\n").partition(" ")
        if verb == "progress" and self.functions.progress is not None:
            return "ok stop" if self.functions.progress(json.loads(rest)) else "ok"
        try:
            if verb == "hello":
                return self._hello(rest)
            if verb == "map":
                return self._open(rest)
            if verb in ("loss", "gradient", "evaluate"):
                said = _arguments(rest)
                answer: str = getattr(self, "_" + verb)(said)
                self._worked(verb, said)
                return answer
            raise ProtocolError(f"unknown request {verb}")
        except Exception as error:
            ours = isinstance(error, (ProtocolError, LateError))
            if verb == "loss" and not ours and self._far(_arguments(rest)):
                log.info("no loss far from the model: it is taken for infinite", exc_info=True)
                return "error " + _text(error)
            if self.strict and not ours:
                raise
            text = f"{verb} failed: {_text(error)}"
            log.error("%s", text, exc_info=text != self._failed)
            self._failed = text
            return "error " + _text(error)

    def _worked(self, verb: str, said: dict[str, str]) -> None:
        """Notes that a function has answered."""
        if verb == "loss" and said.get("step") == str(_SURVEY):
            self._surveyed[said.get("device", "")] = said["n"]

    def _far(self, said: dict[str, str]) -> bool:
        """Whether a request asks for points of a survey beside the model."""
        return said.get("step") == str(_SURVEY) and (
            said.get("points") != "1" or self._surveyed.get(said.get("device", "")) == said.get("n"))

    def close(self) -> None:
        """Lets go of the file, unless a function kept a view of it."""
        self._points = self._shown = np.empty((0, 0), np.float32)
        if self._map is not None:
            try:
                self._map.close()
            except BufferError:  # a view is still used: the file closes with it
                pass
            self._map = None

    def _hello(self, rest: str) -> str:
        if rest.split(" ")[0] != "1":
            raise ProtocolError(f"version {rest}: this is version 1")
        return self.functions.hello()

    def _open(self, rest: str) -> str:
        head, _, path = rest.partition("path=")
        said = _arguments(head.strip())
        dim, points = int(said["dim"]), int(said["points"])
        if self.functions.dim not in (0, dim):
            raise ProtocolError(f"the model has {dim} parameters, the loss {self.functions.dim}")
        self.close()
        if dim * points > 0:
            with open(path, "r+b") as file:
                self._map = mmap.mmap(file.fileno(), 4 * dim * points)
            flat = np.frombuffer(self._map, "<f4", dim * points)
        else:
            flat = np.empty(0, "<f4")
        self._points = flat.reshape(points, dim)
        self._shown = self._points.view()
        self._shown.flags.writeable = False
        return "ok"

    def _loss(self, said: dict[str, str]) -> str:
        batch, count = _batch(said), int(said["points"])
        if not 0 < count <= len(self._shown):
            raise ProtocolError(f"{count} points of {len(self._shown)}")
        found = self.functions.all_losses(self._shown[:count], batch)
        return " ".join(["loss", *map(_number, found)])

    def _gradient(self, said: dict[str, str]) -> str:
        if self.functions.gradient is None or len(self._points) < 2:
            raise ProtocolError("the program has no gradient")
        found = self.functions.gradient(self._shown[0], _batch(said))
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise ValueError(f"gradient(x, batch) returned {type(found).__name__}: return two "
                             "values, the loss and its gradient")
        loss, gradient = found
        g = np.asarray(gradient, np.float32)
        if g.shape != self._points[1].shape:
            raise ValueError(f"a gradient of shape {g.shape}: the parameters have "
                             f"{self._points[1].shape}")
        self._points[1] = g
        return "loss " + _number(loss)

    def _evaluate(self, said: dict[str, str]) -> str:
        if self.functions.evaluate is None:
            raise ProtocolError("the program does not evaluate")
        found = self.functions.evaluate(self._shown[0], said.get("device", ""))
        if not isinstance(found, Metrics):
            found = Metrics(found, self.functions.samples or 1)
        return " ".join(["metrics", *map(_number, found.values), f"samples={found.samples}"])


def _arguments(text: str) -> dict[str, str]:
    out = {}
    for word in text.split(" ") if text else []:
        key, found, value = word.partition("=")
        if not found:
            raise ProtocolError(f"argument {word}: it has no value")
        out[key] = value
    return out


def _batch(said: dict[str, str]) -> Batch:
    return Batch(n=int(said["n"]), step=int(said["step"]), size=int(said["size"]),
                 seed=int(said["seed"]), device=said.get("device", ""),
                 left=float(said.get("left", math.inf)))


def _number(value: Any) -> str:
    """A number as the protocol has it; NaN and infinities are the requester's to refuse."""
    return repr(as_number(value))


def as_number(value: Any) -> float:
    """A loss or metric."""
    try:
        return float(value.detach() if hasattr(value, "detach") else value)
    except (TypeError, ValueError):
        shape = f" of shape {value.shape}" if isinstance(value, np.ndarray) else ""
        raise TypeError(f"a loss or metric is a {type(value).__name__}{shape}: return one number, "
                        "such as the mean over the samples") from None


def _text(error: Exception) -> str:
    """An exception in one line of ASCII."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    line = " ".join(text.split()).encode("ascii", "backslashreplace").decode()
    return line[:_LONGEST]
