"""The notebooks of examples/python, cell by cell, without Jupyter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from vectors import ROOT

NOTEBOOKS = sorted((ROOT / "examples/python").glob("*.ipynb"))


@pytest.mark.usefixtures("zofl")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = json.loads(path.read_text())["cells"]
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), names)
            assert cell["outputs"] == [], "a notebook is stored without what it printed"
    # It learned: three classes, of which devices mostly have one.
    assert names["accuracy"][:, -1].min() > 0.8
    assert "accuracy of the model" in capsys.readouterr().out


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS
