"""What is wrong with an app's function, in one sentence that names it and says what to do."""

from __future__ import annotations

import inspect
import math
import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np

_HERE = os.path.dirname(os.path.abspath(__file__))
_LONGEST = 1000  # bytes of an error's text


class ResultError(TypeError):
    """A function returned what is no loss, or no metric."""


class NotFiniteError(ArithmeticError):
    """A loss that has never been finite is not so now."""


def name_of(function: Callable[..., Any] | None) -> str:
    """The name of a function, and where it is written."""
    function = inspect.unwrap(function) if function is not None else None
    name = getattr(function, "__qualname__", None) or type(function).__name__
    name = name.rpartition("<locals>.")[2]
    code = getattr(function, "__code__", None)
    if code is None:
        return name
    return f"{name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


def number(value: Any, function: Callable[..., Any] | None) -> float:
    """A loss or metric that a function returned."""
    if isinstance(value, (float, int, np.floating)):  # what most return
        return float(value)
    wrong = _wrong(value)
    try:
        if not wrong:
            return float(value.detach() if _is_tensor(value) else value)
    except (TypeError, ValueError, RuntimeError) as error:
        wrong = f"returned a {type(value).__name__} that is no number ({error})"
    if not wrong.startswith("is"):
        wrong += ": return one number, such as the mean over the samples"
    raise ResultError(f"{name_of(function)} {wrong}")


def _wrong(value: Any) -> str:
    """What a function did wrong when it returned a value; "": nothing yet."""
    kind, shape = type(value).__name__, getattr(value, "shape", ())
    if value is None:
        return "returned None, as if its return were missing"
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()
        return "is async, and nobody awaits it: write it as a plain def"
    if isinstance(value, (str, bytes)):
        return f"returned the text {value[:40]!r}"
    if len(shape) > 0:
        return f"returned {'a tensor' if _is_tensor(value) else 'an array'} of shape {tuple(shape)}"
    if value.is_complex() if _is_tensor(value) else np.iscomplexobj(value):
        return "returned a complex number"
    return "" if hasattr(value, "__float__") or hasattr(value, "__index__") else f"returned a {kind}"


def _is_tensor(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach")


def finite(values: list[float], function: Callable[..., Any] | None, points: Any,
           record: str) -> None:
    """Raises if no loss is finite. The values are those at points, for a record."""
    if values and not any(map(math.isfinite, values)):
        largest = float(np.max(np.abs(points[0]), initial=0))
        raise NotFiniteError(
            f"{name_of(function)} returned {values[0]} in the round of record {record}, at "
            f"parameters of up to {largest:.3g}: return a finite loss at the first model")


def sentence(error: Exception, function: Callable[..., Any] | None) -> str:
    """An exception of a function in one line of ASCII, with a remedy where there is one."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, (ResultError, NotFiniteError)):
        text = str(error)
    elif isinstance(error, ValueError) and "read-only" in str(error):
        text = f"{name_of(function)} writes to x, which is read-only: begin with x = x.copy()"
    line = " ".join(text.split()).encode("ascii", "backslashreplace").decode()
    return line[:_LONGEST]


def accused(text: str, function: Callable[..., Any] | None) -> str:
    """Says of a failure that it was the first round's, and came again."""
    name = name_of(function)
    if text.startswith(name):
        return f"{text}, in the first round that asked it and again"
    return f"{name} failed in the first round that asked it, and again: {text}"


def own_frames(error: Exception) -> Exception:
    """The exception, without the frames of this package that called the function."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_HERE):
        trace = trace.tb_next
    return error.with_traceback(trace)


def torch_is_here() -> bool:
    """Whether a function may write to x all the same: torch ignores that an array is read-only."""
    return "torch" in sys.modules
