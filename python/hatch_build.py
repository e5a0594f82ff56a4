"""Puts the program into the wheel.

Environment variables say which: ZOFL_PLATFORM for which platform, ZOFL_PROGRAM a program that was
built for it, ZOFL_VERSION what a program that is built here says of itself.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# By platform: what Go builds for, and what pip calls it. The program is static: any libc will do.
# Go 1.26 asks for macOS 12. PyPI has no name for musl on ARMv6.
PLATFORMS = {
    "linux-amd64": ("GOOS=linux GOARCH=amd64 GOAMD64=v1",
                    "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"),
    "linux-arm64": ("GOOS=linux GOARCH=arm64",
                    "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"),
    "linux-armv7": ("GOOS=linux GOARCH=arm GOARM=7",
                    "manylinux_2_17_armv7l.manylinux2014_armv7l.musllinux_1_1_armv7l"),
    "linux-armv6": ("GOOS=linux GOARCH=arm GOARM=6", "linux_armv6l"),
    "darwin-amd64": ("GOOS=darwin GOARCH=amd64 GOAMD64=v1", "macosx_12_0_x86_64"),
    "darwin-arm64": ("GOOS=darwin GOARCH=arm64", "macosx_12_0_arm64"),
    "windows-amd64": ("GOOS=windows GOARCH=amd64 GOAMD64=v1", "win_amd64"),
    "windows-arm64": ("GOOS=windows GOARCH=arm64", "win_arm64"),
}

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "armv7", "armv8l": "armv7",
                  "armv6l": "armv6"}


def here() -> str:
    """The name of this platform."""
    machine = platform.machine().lower()
    return f"{platform.system().lower()}-{_ARCHITECTURES.get(machine, machine)}"


def build(source: Path, environment: str, out: Path) -> None:
    """Builds the program: the same bytes wherever and whenever."""
    env = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": "",
           **dict(setting.split("=") for setting in environment.split())}
    link = "-s -w"
    if version := os.environ.get("ZOFL_VERSION"):
        link += f" -X github.com/zofl/zofl/coordinator/zofl/version.stamp={version}"
    subprocess.run(["go", "build", "-trimpath", "-buildvcs=false", f"-ldflags={link}", "-o", out,
                    "."], cwd=source, env=env, check=True)


class Program(BuildHookInterface):  # type: ignore[type-arg]
    """The hook of the wheel.

    Where no platform is named and Go or its sources are missing, the wheel has no program: it reads
    logs, and finds a program on PATH.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        name = os.environ.get("ZOFL_PLATFORM", "")
        source = Path(self.root).parent / "coordinator" / "zofl"
        if not name and (not source.exists() or not shutil.which("go") or here() not in PLATFORMS):
            print("no Go, or not its sources: the wheel has no program", file=sys.stderr)
            return
        name = name or here()
        if name not in PLATFORMS:
            raise SystemExit(f"ZOFL_PLATFORM={name}: choose one of {', '.join(PLATFORMS)}")
        environment, tag = PLATFORMS[name]
        program = "zofl.exe" if name.startswith("windows") else "zofl"
        self._scratch = tempfile.TemporaryDirectory(prefix="zofl-")
        out = Path(self._scratch.name, program)
        if given := os.environ.get("ZOFL_PROGRAM"):
            shutil.copyfile(given, out)
        else:
            build(source, environment, out)
        out.chmod(0o755)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"
        build_data["force_include"][str(out)] = f"zofl/_bin/{program}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if scratch := getattr(self, "_scratch", None):
            scratch.cleanup()
