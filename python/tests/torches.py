"""Torch, for the tests that need it."""

from __future__ import annotations

from typing import Any

import pytest


def torch_or_skip() -> Any:
    """Torch; a test is skipped where it is missing, or was built for an older numpy."""
    torch = pytest.importorskip("torch")
    try:
        torch.zeros(1).numpy()
    except RuntimeError as error:
        pytest.skip(f"torch: {error}", allow_module_level=True)
    return torch
