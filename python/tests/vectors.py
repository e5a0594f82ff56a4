"""Where the project's vectors are, and how their texts are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def paragraphs(path: str) -> Iterator[dict[str, str]]:
    """Paragraphs of `name: value` lines; those that begin with # are comments."""
    for text in (ROOT / path).read_text().split("\n\n"):
        lines = text.strip().splitlines()
        if lines and not lines[0].startswith("#"):
            yield dict(line.split(": ", 1) for line in lines)
