"""The examples in the docstrings of all public names, as somebody would type them."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zofl

pytestmark = pytest.mark.usefixtures("zofl")

# Names with nothing to type: errors, and what others return.
WITHOUT = {"Batch", "History", "Initial", "Metrics", "Model", "OptimizeResult", "Result", "Run",
           "Server", "Tuned"}


def public() -> list[str]:
    return [n for n in zofl.__all__ if callable(getattr(zofl, n))
            and not (inspect.isclass(getattr(zofl, n)) and issubclass(getattr(zofl, n), Exception))]


@pytest.mark.parametrize("name", ["", *public()])
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found: Any = getattr(zofl, name) if name else zofl
    examples = 0
    for test in doctest.DocTestFinder(recurse=True).find(
            found, name or "zofl", module=inspect.getmodule(found),
            globs={"np": np, "zofl": zofl}) if name else [doctest.DocTestParser().get_doctest(
                zofl.__doc__ or "", {}, "zofl", None, None)]:
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        said: list[str] = []
        runner.run(test, out=said.append)
        assert runner.failures == 0, "".join(said)
        examples += len(test.examples)
    assert found.__doc__ and (examples or name in WITHOUT), f"{name} shows no example"


def test_a_name_says_what_it_is() -> None:
    for name in zofl.__all__:
        if name != "__version__":
            assert getattr(zofl, name).__doc__, name
    assert zofl.__version__.count(".") == 2
