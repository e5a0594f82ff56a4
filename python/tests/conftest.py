"""The program, which the tests of whole runs need."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from vectors import ROOT


@pytest.fixture(scope="session")
def zofl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program: that of $ZOFL, or built. The package then runs it."""
    if "ZOFL" not in os.environ:
        program = tmp_path_factory.mktemp("bin") / "zofl"
        subprocess.run(["go", "build", "-o", program, "."], cwd=ROOT / "coordinator/zofl",
                       env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}, check=True)
        os.environ["ZOFL"] = str(program)
    return Path(os.environ["ZOFL"])
