"""The version of this package: that of its project file."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path


def version() -> str:
    """The version in the project file of a source tree, or that of the installed package."""
    project = Path(__file__).parents[2] / "pyproject.toml"
    if project.is_file():
        found = re.search(r'^name = "zofl"\nversion = "(.*)"$', project.read_text(), re.MULTILINE)
        if found:
            return found[1]
    return metadata.version("zofl")
