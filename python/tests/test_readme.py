"""The Python of the README, block after block, as somebody would type it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from vectors import ROOT


def blocks(page: Path) -> list[tuple[int, str]]:
    """The blocks of Python of a page, with the lines before them."""
    text, found = page.read_text(), []
    at = 0
    while (begin := text.find("```python\n", at)) >= 0:
        begin += len("```python\n")
        at = text.index("```", begin)
        found.append((text.count("\n", 0, begin), text[begin:at]))
    return found


@pytest.mark.usefixtures("zofl")
def test_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    before = set(threading.enumerate())
    page = ROOT / "python/README.md"
    found = blocks(page)
    assert len(found) == 6
    for line, text in found:
        exec(compile("\n" * line + text, str(page), "exec"), names)
    for t in set(threading.enumerate()) - before:
        t.join(300)
        assert not t.is_alive()
    assert names["r"].success and names["r"].fun < 1 and "<path" in names["r"].svg()
    assert names["result"].ended and names["result"].model.shape == (20,)
    assert names["history"].losses.shape == (6, 10)
    assert names["tuned"].plan["step"] > 0
    assert names["meter"].scaler.std.shape == (3,)
    assert names["verdict"].ok
