"""A process that flushes subnormal numbers to zero is no auditor."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import zofl
from zofl.audit.arithmetic import check_arithmetic

FLUSHES = """
#include <xmmintrin.h>
__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
"""
PROGRAM = """
import ctypes, sys
from zofl.audit.replica import Replica
Replica()
ctypes.CDLL(sys.argv[1])
try:
    Replica()
except FloatingPointError as e:
    print(e)
"""


def test_here() -> None:
    check_arithmetic()


@pytest.mark.skipif(platform.machine() != "x86_64" or not shutil.which("gcc"),
                    reason="needs gcc and MXCSR")
def test_a_library_that_flushes(tmp_path: Path) -> None:
    source, library = tmp_path / "flush.c", tmp_path / "flush.so"
    source.write_text(FLUSHES)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    here = str(Path(zofl.__file__).parents[1])
    said = subprocess.run([sys.executable, "-c", PROGRAM, library], check=True, text=True,
                          capture_output=True, env=os.environ | {"PYTHONPATH": here}).stdout
    assert said.startswith("this process flushes subnormal numbers to zero")
