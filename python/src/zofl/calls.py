"""How an app's functions are called: with x in the structure of x0, and with what they take."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .faults import name_of
from .factors import Factors
from .protocol import Evaluate, Functions, Gradient, Loss, Losses, Near, Vector
from .tree import Tree

Function = Callable[..., Any]


def functions(loss: Loss | None, losses: Losses | None, gradient: Gradient | None,
              evaluate: Evaluate | None, *, tree: Tree | None = None, dim: int = 0,
              samples: int = 0, points: int = 16, columns: Any = None,
              factors: Near | None = None) -> Functions:
    """What an app gives, as the protocol calls it: with a vector and a batch."""
    if tree is not None and tree.holder is not None and losses is not None:
        raise ValueError("losses gets many points at once, and this x0 holds one: give loss")
    return Functions(called(loss, tree), called(losses, tree), _gradient(gradient, tree),
                     called(evaluate, tree, "device"), tree.dim if tree else dim, samples, points,
                     columns=columns, copied=tree is not None and tree.copied,
                     factors=_near(factors, tree))


def called(function: Function | None, tree: Tree | None, second: str = "batch") -> Any:
    """A function of a vector and a second argument, which calls another as it is written."""
    if function is None:
        return None
    if not callable(function):
        raise TypeError(f"{function!r} is no function: give one of x, such as loss(x)")
    call = arguments(function, second)
    if tree is None:
        return call

    def asked(x: Vector, *more: Any) -> Any:
        with tree.lock:
            own = second == "device" and x.flags.writeable  # a map that the protocol made for it
            return call(tree.lent(x) if own else tree.unravel(x), *more)

    return standing_for(function, asked)


def _gradient(function: Function | None, tree: Tree | None) -> Any:
    call = called(function, tree)
    if call is None or tree is None:
        return call

    def asked(x: Vector, batch: Any) -> Any:
        found = call(x, batch)
        if isinstance(found, (tuple, list)) and len(found) == 2:
            return found[0], tree.ravel(found[1])
        return found  # the protocol says what is wrong with it

    return standing_for(function, asked)


def _near(function: Function | None, tree: Tree | None) -> Any:
    """A function of factors, which gets them as they are. What holds x serves a call at a time."""
    call = called(function, None)
    if call is None or tree is None:
        return call

    def asked(points: Factors, batch: Any) -> Any:
        with tree.lock:
            return call(points, batch)

    return standing_for(function, asked)


def standing_for(function: Any, asked: Function) -> Any:
    """A call of a function, which inspect.unwrap leads back to it."""
    asked.__wrapped__ = function  # type: ignore[attr-defined]
    return asked


def arguments(function: Function, second: str) -> Any:
    """The function of two arguments, of which one may be left out: f(x), f(x, batch)."""
    try:
        every = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # one of C
        return standing_for(function, lambda x, _: function(x))
    places = [p for p in every if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in places if p.default is p.empty]
    others = [p for p in every if p.kind == p.KEYWORD_ONLY and p.default is p.empty]
    taken = bool(places) or any(p.kind == p.VAR_POSITIONAL for p in every)
    if len(required) > 2 or not taken or any(p.name != second for p in others):
        raise TypeError(f"{name_of(function)} takes {inspect.signature(function)}: write it as "
                        f"f(x) or f(x, {second})")
    if any(p.name == second and p.kind == p.KEYWORD_ONLY for p in every):
        return standing_for(function, lambda x, value: function(x, **{second: value}))
    if (len(required) >= 2 or len(places) >= 2 and places[1].name == second
            or any(p.kind == p.VAR_POSITIONAL for p in every)):
        return function
    return standing_for(function, lambda x, _: function(x))
