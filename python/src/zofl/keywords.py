"""Names of arguments: which there are, which was meant, and Python's in place of the program's."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

from .binary import run
from .errors import Error, KeywordError

# Flags that this package gives the program itself, or that are for a terminal.
_OWN = {"attached", "data", "exec", "fetch-limit", "force", "grace", "help", "json", "live-run",
        "log-format", "objective", "out", "quiet", "split", "startup", "stdio", "version"}


@functools.cache
def flags(command: str) -> tuple[str, ...]:
    """The flags of a command, as arguments."""
    try:
        listed = run("__complete", command, "--")
    except Error:  # an older program: then it says itself what is wrong
        return ()
    names = re.findall(r"^--([a-z][a-z0-9-]*)", listed, re.MULTILINE)
    return tuple(n.replace("-", "_") for n in names if n not in _OWN)


def check(function: Callable[..., Any], command: str, given: Iterable[str]) -> None:
    """Raises for a keyword that is no flag of the command which a function runs."""
    given = [name.rstrip("_") for name in given]
    if not given:
        return
    known = flags(command)
    for name in given if known else ():
        if name not in known:
            raise unknown(function, name, known)


def unknown(function: Callable[..., Any], name: str, more: Iterable[str]) -> KeywordError:
    """The error about a keyword that neither a function knows nor is among more."""
    own = [p.name for p in inspect.signature(function).parameters.values()
           if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name != "self"]
    near = difflib.get_close_matches(name, [*own, *more], 1, 0.6)
    hint = f": did you mean {near[0]}?" if near else f": it takes {', '.join(own)}"
    called = function.__qualname__.removesuffix(".__init__")
    return KeywordError(f"{called}() got an unexpected keyword argument {name!r}{hint}", 2)
