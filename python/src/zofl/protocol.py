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

from . import faults
from .batch import Batch
from .errors import Error
from .factors import Factors, Shapes, layout_of, scales_of
from .scaling import Scaler, describe

Vector = npt.NDArray[np.float32]
# Each gets x, or with x0 what has its structure, and may take the batch.
Loss = Callable[..., SupportsFloat]
Losses = Callable[..., Sequence[SupportsFloat]]
Gradient = Callable[..., tuple[SupportsFloat, Any]]
Near = Callable[[Factors, Batch], Sequence[SupportsFloat]]


class Metrics(NamedTuple):
    """What an evaluation returns: means over so many samples, in the order of the plan."""

    values: Sequence[SupportsFloat]
    samples: int = 1


Evaluate = Callable[..., Union[Metrics, Sequence[SupportsFloat]]]
Progress = Callable[[dict[str, Any]], bool]  # takes an event; whether to end what goes on
Report = Callable[[], Mapping[str, SupportsFloat]]

_COMPARED = 100  # characters of a failure that the program repeats
_AT_ONCE = 1 << 22  # numbers of a request that a loss of one point is asked for at once

log = logging.getLogger("zofl")

_SURVEY = 65535  # the step of a survey: no round has it


class ProtocolError(Exception):
    """A request that cannot be read, or that does not fit the functions."""


class LateError(TimeoutError):
    """A round ended before all of its losses were computed."""


@dataclass
class Functions:
    """What an app gives: loss, losses or gradient, or gradient beside one of the others.

    Beside loss or losses, factors may be the losses at points of plans with distribution=lowrank.
    """

    loss: Loss | None = None
    losses: Losses | None = None
    gradient: Gradient | None = None
    evaluate: Evaluate | None = None
    dim: int = 0  # 0: whatever the plan has
    samples: int = 0  # 0: not said
    points: int = 16  # of losses: how many in one call, at most
    progress: Progress | None = None  # of simulate and tune
    columns: npt.ArrayLike | None = None  # the device's rows, for a plan with columns
    scaler: Scaler | None = None  # once the run has a scale
    copied: bool = False  # whether the app's functions see copies of x alone
    factors: Near | None = None

    def __post_init__(self) -> None:
        if self.loss is not None and self.losses is not None:
            raise ValueError("loss and losses: give one of the two")
        if self.loss is None and self.losses is None and self.gradient is None:
            raise ValueError("no loss: give loss, losses or gradient")
        for name, least in (("dim", 0), ("samples", 0), ("points", 1)):
            if not isinstance(getattr(self, name), (int, np.integer)):
                raise TypeError(f"{name}={getattr(self, name)!r}: give a whole number")
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)}: give {least} or more")
        if self.columns is not None and np.ndim(self.columns) != 2:
            raise ValueError(f"columns of shape {np.shape(self.columns)}: give the device's rows, of "
                             "shape (n, columns)")
        if self.points > 4096:
            raise ValueError(f"points={self.points}: give at most 4096")

    def hello(self) -> str:
        points, near = self.points, self.factors is not None and self.gradient is None
        if self.losses is None and not near:  # each request is a way to the program and back
            points = max(1, min(points, _AT_ONCE // max(1, self.dim)))
        words = [f"hello 1 dim={self.dim} points={points}"]
        if self.samples:
            words.append(f"samples={self.samples}")
        if near:
            words.append("factors=1")
        if self.gradient:
            words.append("gradient=1")
        if self.evaluate:
            words.append("evaluate=1")
        if self.progress:
            words.append("progress=1")
        if self.columns is not None:
            words.append(f"columns={np.shape(self.columns)[1]}")
        return " ".join(words)

    def of(self, verb: str) -> Callable[..., Any] | None:
        """The app's function that answers a request."""
        if verb in ("gradient", "evaluate"):
            return self.gradient if verb == "gradient" else self.evaluate
        return self.losses or self.loss or self.gradient

    def all_losses(self, xs: Vector, batch: Batch) -> list[SupportsFloat]:
        """The losses at the points, as long as they are of use."""
        if self.losses is not None:
            return _as_many(self.losses(xs, batch), self.losses, len(xs))
        return in_turn(lambda i: self._one(xs[i], batch), len(xs), batch)

    def near_losses(self, points: Factors, batch: Batch) -> list[SupportsFloat]:
        """The losses at points that are x and factors."""
        if self.factors is None:
            raise ProtocolError("the program takes no factors")
        return _as_many(self.factors(points, batch), self.factors, len(points))

    def _one(self, x: Vector, batch: Batch) -> SupportsFloat:
        """The loss at a point. math.exp raises where numpy and other languages say infinite."""
        if self.loss is None:
            assert self.gradient is not None
            return self.gradient(x, batch)[0]
        try:
            return self.loss(x, batch)
        except OverflowError:
            log.info("the loss overflowed, and is taken for infinite", exc_info=True)
            return math.inf


def _as_many(found: Any, function: Callable[..., Any], count: int) -> list[SupportsFloat]:
    """What a function returned for so many points, in a list."""
    if not np.iterable(found) or isinstance(found, (str, bytes)):
        raise faults.ResultError(f"{faults.name_of(function)} returned {type(found).__name__}: "
                                 f"return {count} losses")
    losses = list(found)
    if len(losses) != count:
        raise faults.ResultError(f"{faults.name_of(function)} returned {len(losses)} losses of "
                                 f"{count} points: return one for each")
    return losses


def in_turn(loss: Callable[[int], SupportsFloat], count: int, batch: Batch) -> list[SupportsFloat]:
    """loss(i) for each point of a request, as long as they are of use. In a survey a point may have
    no loss, unless it is the first."""
    found: list[SupportsFloat] = []
    until = time.monotonic() + batch.left
    for i in range(count):
        if time.monotonic() > until:
            raise LateError(f"the round ended after {i} of {count} losses")
        try:
            found.append(loss(i))
        except Exception:
            if batch.step != _SURVEY or not found:
                raise
            log.info("no loss far from the model: it is taken for infinite", exc_info=True)
            found.append(math.inf)
    return found


class Answers:
    """Answers requests, one after another. close() lets go of the file of the parameters.

    What a function raises is an answer, or with strict leaves answer(). A survey asks for points
    far from the model: a function may fail there, and the loss is then infinite. The log has the
    traceback of a failure once, and then how often it came again.
    """

    def __init__(self, functions: Functions, strict: bool = False) -> None:
        self.functions, self.strict = functions, strict
        self.fault: Exception | None = None  # the last failure
        self._failed, self._again = "", 0  # its text, and how often it came again
        self._accused: Callable[..., Any] | None = None  # whose it is
        # The last failure far from the model, as the three above: some such are a loss's right.
        self._beside: tuple[str, Exception, Callable[..., Any] | None] | None = None
        self._sound = False  # a loss was finite once
        self._told: set[str] = set()  # what is said once
        self._surveyed: dict[str, str] = {}  # n of the last survey of a device
        self._map: mmap.mmap | None = None
        self._points: Vector = np.empty((0, 0), np.float32)  # of the file, writable
        self._shown = self._points  # the same, read-only: what functions see
        self._signs: npt.NDArray[np.int8] | None = None  # after x, if the file has factors
        self._shapes: Shapes = ()
        self._path = ""  # of such a file

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
            if verb == "scale":
                return self._scale(rest)
            if verb in ("loss", "gradient", "evaluate", "columns"):
                said = _arguments(rest)
                answer: str = getattr(self, "_" + verb)(said)
                self._worked(verb, said)
                return answer
            raise ProtocolError(f"unknown request {verb}")
        except (ProtocolError, LateError) as error:
            log.error("%s failed: %s", verb, error)
            return "error " + faults.sentence(error, None)
        except Exception as error:
            text = faults.sentence(error, self._function(verb))
            if verb == "loss" and self._far(_arguments(rest)):
                log.info("no loss far from the model: it is taken for infinite", exc_info=True)
                self._beside = text, faults.own_frames(error), self._function(verb)
                return "error " + text
            faults.own_frames(error)
            if self.strict:
                if text != str(error) and hasattr(error, "add_note"):
                    error.add_note(text)
                raise
            self._tell(verb, text, error)
            return "error " + text

    def blamed(self, error: Error) -> Error:
        """The program's error, in other words if a function's failure is why it ended."""
        text = self._failed
        if self._beside is not None and self._beside[0][:_COMPARED] in str(error):
            text, self.fault, self._accused = self._beside
        if self.fault is None or text[:_COMPARED] not in str(error):
            self.fault = None
            return error
        if "strict" not in str(error):
            return error
        return Error(f"{faults.accused(text, self._accused)}; strict=False goes on trying",
                     error.code)

    def _tell(self, verb: str, text: str, error: Exception) -> None:
        """Logs a failure: the first time with its traceback, then how often it came again."""
        self.fault, self._accused = error, self._function(verb)
        if text != self._failed:
            self._failed, self._again = text, 0
            trace = error.__traceback__
            log.error("%s failed: %s", verb, text,
                      exc_info=(type(error), error, trace) if trace else None)
            return
        self._again += 1
        if self._again > 1 and self._again & (self._again - 1) == 0:  # ever more rarely
            log.error("%s failed again, %d times: %s", verb, self._again, text)

    def _once(self, text: str, *args: Any) -> None:
        if text not in self._told:
            self._told.add(text)
            log.warning(text, *args)

    def _worked(self, verb: str, said: dict[str, str]) -> None:
        """Notes that a function has answered."""
        if verb == "loss" and said.get("step") == str(_SURVEY):
            self._surveyed[said.get("device", "")] = said["n"]

    def _far(self, said: dict[str, str]) -> bool:
        """Whether a request asks for points of a survey beside the model."""
        return said.get("step") == str(_SURVEY) and (
            said.get("points") != "1" or self._surveyed.get(said.get("device", "")) == said.get("n"))

    def _function(self, verb: str) -> Callable[..., Any] | None:
        """The app's function that answers a request about the file as it is."""
        if verb == "loss" and self._signs is not None:
            return self.functions.factors
        return self.functions.of(verb)

    def close(self) -> None:
        """Lets go of the file, unless a function kept a view of it."""
        self._signs = None
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
        if "factors" in said:
            return self._open_factors(said, dim, points, path)
        self._points = self._mapped(path, 4 * dim * points)[:].view("<f4").reshape(points, dim)
        self._shown = _shown(self._points)
        return "ok"

    def _mapped(self, path: str, size: int) -> npt.NDArray[np.uint8]:
        """The first bytes of a file, mapped."""
        if size == 0:
            return np.empty(0, np.uint8)
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), size)
        return np.frombuffer(self._map, np.uint8)

    def _open_factors(self, said: dict[str, str], dim: int, points: int, path: str) -> str:
        """Maps a file of x, and behind it the signs of points."""
        count, shapes = layout_of(said, dim)
        if points < 1:
            raise ProtocolError(f"points={points}: a file of none")
        flat = self._mapped(path, 4 * dim + points * count)
        self._points, self._path = flat[:4 * dim].view("<f4").reshape(1, dim), path
        self._shown, self._shapes = _shown(self._points), shapes
        self._signs = _shown(flat[4 * dim:].view(np.int8).reshape(points, count))
        return "ok"

    def _loss(self, said: dict[str, str]) -> str:
        batch, count = _batch(said), int(said["points"])
        if self._signs is not None:
            return self._near(said, batch, count, self._signs)
        if not 0 < count <= len(self._shown):
            raise ProtocolError(f"{count} points of {len(self._shown)}")
        xs, function = self._seen(count), self.functions.of("loss")
        found = self.functions.all_losses(xs, batch)
        self._check(xs, function)
        if self.functions.gradient is None:  # which has a graph, and may stand for the loss
            self._check_graph(found, function)
        values = [faults.number(v, function) for v in found]
        if not self._sound and not self._far(said):
            faults.finite(values, function, xs, said["n"])
            self._sound = True
        return " ".join(["loss", *map(repr, values)])

    def _near(self, said: dict[str, str], batch: Batch, count: int,
              signs: npt.NDArray[np.int8]) -> str:
        """The losses at points that are x and factors."""
        if not 0 < count <= len(signs):
            raise ProtocolError(f"{count} points of {len(signs)}")
        points = Factors(self._shown[0], scales_of(said["scales"], count), signs[:count],
                         self._shapes, int(said["x"]))
        found, function = self.functions.near_losses(points, batch), self.functions.factors
        self._check_graph(found, function)
        values = [faults.number(v, function) for v in found]
        if not self._sound and not self._far(said):
            faults.finite(values, function, self._shown, said["n"])
            self._sound = True
        return " ".join(["loss", *map(repr, values)])

    def _seen(self, count: int) -> Vector:
        """What a function sees of the points. Torch writes to what is read-only: it gets a copy."""
        xs = self._shown[:count]
        if faults.torch_is_here() and not self.functions.copied:
            xs = xs.copy()
            xs.flags.writeable = False
        return xs

    def _apart(self) -> Vector:
        """As _seen, of x. Where the module's tensors are views of x it is a map of its own, which
        takes memory only where somebody writes to it."""
        if self._signs is None or not self.functions.copied or not self._points.size:
            return self._seen(1)
        with open(self._path, "rb") as file:
            own = mmap.mmap(file.fileno(), self._points.nbytes, access=mmap.ACCESS_COPY)
        return np.frombuffer(own, "<f4").reshape(1, -1)

    def _check(self, xs: Vector, function: Callable[..., Any] | None) -> None:
        """Says once that a function has written to x."""
        if xs.flags.owndata and not np.array_equal(xs, self._shown[:len(xs)]):
            self._once("%s writes to x through torch: begin with x = x.copy(), or keep the tensor "
                       "as it is. Zofl gave it a copy, so the others are unharmed",
                       faults.name_of(function))

    def _check_graph(self, found: Sequence[Any], function: Callable[..., Any] | None) -> None:
        """Says once that torch keeps a graph for each loss."""
        if found and getattr(found[0], "requires_grad", False):
            self._once("%s returns a tensor that requires a gradient, and nobody asks for one: "
                       "compute the loss under torch.no_grad()", faults.name_of(function))

    def _columns(self, said: dict[str, str]) -> str:
        if self.functions.columns is None:
            raise ProtocolError("the program has no columns")
        found = describe(self.functions.columns)
        return " ".join(["columns", *(repr(float(v)) for v in found.flat)])

    def _scale(self, rest: str) -> str:
        found = np.array(rest.split(" "), np.float64).reshape(-1, 2)
        self.functions.scaler = Scaler(found[:, 0], found[:, 1])
        return "ok"

    def _gradient(self, said: dict[str, str]) -> str:
        if self.functions.gradient is None or len(self._points) < 2:
            raise ProtocolError("the program has no gradient")
        function, xs = self.functions.gradient, self._seen(1)
        found = function(xs[0], _batch(said))
        self._check(xs, function)
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise faults.ResultError(f"{faults.name_of(function)} returned {type(found).__name__}: "
                                     "return two values, the loss and its gradient")
        loss, gradient = found
        g = np.asarray(gradient, np.float32)
        if g.shape != self._points[1].shape:
            raise faults.ResultError(f"{faults.name_of(function)} returned a gradient of shape "
                                     f"{g.shape}: the parameters have {self._points[1].shape}")
        self._points[1] = g
        return f"loss {faults.number(loss, function)!r}"

    def _evaluate(self, said: dict[str, str]) -> str:
        if self.functions.evaluate is None:
            raise ProtocolError("the program does not evaluate")
        function, xs = self.functions.evaluate, self._apart()
        found: Any = function(xs[0], said.get("device", ""))
        self._check(xs, function)
        if not isinstance(found, Metrics):
            if not np.iterable(found) or isinstance(found, (str, bytes)):
                raise faults.ResultError(f"{faults.name_of(function)} returned "
                                         f"{type(found).__name__}: return the metrics in a list")
            found = Metrics(list(found), self.functions.samples or 1)
        values = [repr(faults.number(v, function)) for v in found.values]
        return " ".join(["metrics", *values, f"samples={found.samples}"])


def _shown(array: Any) -> Any:
    """A view of an array that is read-only."""
    view = array.view()
    view.flags.writeable = False
    return view


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
