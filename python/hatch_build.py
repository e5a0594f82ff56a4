"""Puts the program into the wheel, and its sources into the sdist.

Without environment variables a wheel is compiled for this machine. ZOFL_PLATFORM names a platform
of releases, ZOFL_PROGRAM a program that exists or none, ZOFL_NOTICES and ZOFL_SBOM what is known of
it, ZOFL_VERSION what a program that is compiled here says of itself.
"""

from __future__ import annotations

import os
import platform
import posixpath
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

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


def say(text: str) -> None:
    """Says it to the person too where pip, without -v, shows nothing of a build."""
    print(text, file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        return
    try:
        with open("CONOUT$" if sys.platform == "win32" else "/dev/tty", "w") as terminal:
            terminal.write(f"\n{text}\n")
    except OSError:
        pass  # nobody is there


def compile_for(source: Path, environment: str, version: str, out: Path) -> None:
    """Compiles the program for others: the same bytes wherever and whenever."""
    env = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": "",
           **dict(setting.split("=") for setting in environment.split())}
    subprocess.run(["go", "build", "-trimpath", "-buildvcs=false", f"-ldflags=-s -w {stamp(version)}",
                    "-o", out, "."], cwd=source, env=env, check=True)


def compile_here(source: Path, version: str, out: Path) -> None:
    """Compiles the program for this machine, as `go build` in a clone does: they share its cache."""
    if not shutil.which("go"):
        raise SystemExit(NO_GO)
    say("zofl: compiling the program with Go, which the first time takes minutes")
    done = subprocess.run(["go", "build", f"-ldflags=-s -w {stamp(version)}", "-o", out, "."],
                          cwd=source, env={**os.environ, "GOWORK": "off"})
    if done.returncode:
        raise SystemExit("zofl: Go says above why it does not compile. Go 1.26 or later is needed, "
                         "and the first time a network, for modules")


NO_GO = ("zofl: Go is missing, which compiles the program of this package: install Go 1.26 or later "
         "(https://go.dev/dl); or name a program in the environment, ZOFL_PROGRAM=/path/to/zofl; "
         "or leave it out, ZOFL_PROGRAM=none: the package then finds zofl on PATH")


def stamp(version: str) -> str:
    """The flag of the linker for what the program says of itself."""
    return f"-X github.com/zofl/zofl/coordinator/zofl/version.stamp={version}" if version else ""


def notices(source: Path, environment: str) -> bytes:
    """The licenses of all that is compiled into the program."""
    return subprocess.run(["go", "run", "./internal/notices", ".", *environment.split()], check=True,
                          cwd=source, env={**os.environ, "GOWORK": "off"}, capture_output=True).stdout


# What the program is compiled from, in the repository.
GO = ("LICENSE", "go.mod", "go.sum", "bus", "client", "coordinator", "fleet", "internal", "mathx",
      "plan", "prng", "stats", "wire")


def sources(top: Path) -> dict[str, str]:
    """The files of the program in the repository, and where they are in an sdist."""
    found = {}
    for name in GO:
        if (top / name).is_file():
            found[str(top / name)] = f"go/{name}"
        for directory, below, files in os.walk(top / name):
            here = Path(directory)
            below[:] = sorted(d for d in below if d != "testdata" and d[0] not in "._" and (
                here / d == top / "coordinator/zofl" or not (here / d / "go.mod").exists()))
            for file in sorted(files):
                if not file.endswith("_test.go") and file[0] not in "._":
                    found[str(here / file)] = f"go/{(here / file).relative_to(top).as_posix()}"
    return found


class Program(BuildHookInterface):  # type: ignore[type-arg]
    """The hook of wheels and of the sdist, which has the program's sources.

    A wheel has the program: one that is named, or else one that is compiled.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        inside = Path(self.root, "go")
        top = inside if inside.is_dir() else Path(self.root).parent
        if self.target_name == "sdist":
            if top != inside:
                build_data["force_include"].update(sources(top))
            return
        given = os.environ.get("ZOFL_PROGRAM", "")
        if version == "editable" or given == "none":
            return
        name = os.environ.get("ZOFL_PLATFORM", here() if given else "")
        if name and name not in PLATFORMS:
            raise SystemExit(f"ZOFL_PLATFORM={name}: choose one of {', '.join(PLATFORMS)}")
        environment, tag = PLATFORMS.get(name, ("", local()))
        program = "zofl.exe" if (name or here()).startswith("windows") else "zofl"
        self._scratch = tempfile.TemporaryDirectory(prefix="zofl-")
        out = Path(self._scratch.name, program)
        source = top / "coordinator" / "zofl"
        stamped = os.environ.get("ZOFL_VERSION", self.metadata.version if top == inside else "")
        if given:
            shutil.copyfile(given, out)
        elif name:
            compile_for(source, environment, stamped, out)
        else:
            compile_here(source, stamped, out)
        out.chmod(0o755)
        self._notices(source, environment)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"
        build_data["force_include"][str(out)] = f"zofl/_bin/{program}"
        if bill := os.environ.get("ZOFL_SBOM"):
            build_data["sbom_files"].append(bill)

    def _notices(self, source: Path, environment: str) -> None:
        """Writes NOTICES where the builder looks for license files, until the wheel is made."""
        self._written = Path(self.root, "NOTICES")
        if given := os.environ.get("ZOFL_NOTICES"):
            shutil.copyfile(given, self._written)
        elif shutil.which("go"):
            self._written.write_bytes(notices(source, environment))
        else:
            return
        self.metadata.core.license_files[:] = ["LICENSE", "NOTICES"]  # it looked before

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if scratch := getattr(self, "_scratch", None):
            scratch.cleanup()
            self._written.unlink(missing_ok=True)


def local() -> str:
    """What pip calls this machine's platform."""
    return re.sub("[-.]", "_", sysconfig.get_platform())


class Readme(MetadataHookInterface):
    """The README with links that work on PyPI too."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown",
                              "text": absolute(text, f"v{metadata['version']}")}


def absolute(text: str, tag: str) -> str:
    """A page whose links into the repository lead to GitHub, and whose pictures come from there."""
    def link(found: re.Match[str]) -> str:
        before, to = found.groups()
        picture = to.endswith((".svg", ".png"))
        base = "https://raw.githubusercontent.com/zofl/zofl" if picture else \
            "https://github.com/zofl/zofl/blob"
        return f"{before}{base}/{tag}/{posixpath.normpath(posixpath.join('python', to))}"
    return re.sub(r'(\]\(|(?:src|srcset|href)=")(?![a-z]+:|#)([^)"\s]+)', link, text)
