"""Finds the program `zofl`, and runs its short commands."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Union

from .errors import MissingError, failure

# What a flag of the program takes: None leaves it out, True gives it without a value.
Flag = Union[str, int, float, bool, "os.PathLike[str]", Sequence[str], None]


def find() -> Path:
    """The program: $ZOFL, else the one in this package's wheel, else the one on PATH."""
    if named := os.environ.get("ZOFL"):
        if Path(named).is_file():
            return Path(named)
        raise MissingError(f"ZOFL={named}: no such file: name the program, or unset the variable")
    name = "zofl.exe" if sys.platform == "win32" else "zofl"
    bundled = Path(__file__).with_name("_bin") / name
    if bundled.is_file():
        return bundled
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        found = shutil.which("zofl", path=directory) if directory else None
        if found and not _is_script(Path(found)):
            return Path(found)
    raise MissingError("the program zofl is missing: install a wheel for this platform, put zofl "
                       "on PATH, or name it in the environment variable ZOFL")


def _is_script(path: Path) -> bool:
    """Whether a program is the one that pip makes of main(), which would look for itself."""
    with open(path, "rb") as file:
        return b"zofl.binary" in file.read(4096)


def main() -> None:
    """The command `zofl` of this package's wheel: it becomes the program."""
    try:
        command = [str(find()), *sys.argv[1:]]
    except MissingError as error:
        sys.exit(f"zofl: {error}")
    if sys.platform == "win32":  # it has no exec, and Ctrl-C comes to both
        with subprocess.Popen(command) as program:
            while True:
                try:
                    sys.exit(program.wait())
                except KeyboardInterrupt:
                    pass
    os.execv(command[0], command)


def arguments(flags: Mapping[str, Flag]) -> list[str]:
    """Flags of the program: `tls_ca="a.pem"` is --tls-ca a.pem."""
    out = []
    for name, value in flags.items():
        flag = "--" + name.strip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            out.append(flag)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            out += [f"{flag}={v}" for v in value]
        else:
            out.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return out


def run(*command: str | os.PathLike[str]) -> str:
    """What a command prints. Ctrl-C ends it too."""
    done = subprocess.run([find(), *command], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise failure(done.returncode, said(done.stderr.decode(errors="replace")))
    return done.stdout.decode()


def said(text: str) -> str:
    """The error in what the program wrote to standard error: it is the last thing there."""
    _, found, error = text.rpartition("zofl: ")
    return error.strip() if found else text.strip()
