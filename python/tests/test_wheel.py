"""The wheel of this platform, from which a device runs, and the sdist: the same each time."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from runs import client, small
from vectors import ROOT

import zofl

builder = pytest.importorskip("hatchling.__about__").__version__
if f'"hatchling=={builder}"' not in (ROOT / "python/pyproject.toml").read_text():
    pytest.skip(f"hatchling is {builder}: .ci/setup installs that of pyproject.toml, in python/_venv",
                allow_module_level=True)
spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "python/hatch_build.py")
assert spec and spec.loader
hook = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hook)

DEVICE = """
import sys
sys.path.insert(0, {site!r})
import zofl, zofl.binary
assert str(zofl.binary.find()).startswith({site!r}), zofl.binary.find()
print(zofl.Device({url!r}, {run!r}, "py", loss=lambda x, batch: x @ x, dim=30).run().digest)
"""


def build(directory: Path, what: str, **env: str) -> Path:
    """Builds a wheel or an sdist."""
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", what, "-d", directory],
                   cwd=ROOT / "python", check=True, capture_output=True, text=True,
                   env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000",
                        "PYTHONDONTWRITEBYTECODE": "1", **env})
    (found,) = directory.glob("zofl-*")
    return found


def wheel(directory: Path, platform: str, program: Path) -> Path:
    """Builds a wheel with a program that exists, and notices that exist."""
    return build(directory, "wheel", ZOFL_PLATFORM=platform, ZOFL_PROGRAM=str(program),
                 ZOFL_NOTICES=str(ROOT / "LICENSE"))


def install(file: Path, site: Path) -> None:
    """Installs a wheel as pip does, by pip where there is one."""
    if importlib.util.find_spec("pip"):
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index",
                        "--disable-pip-version-check", "--no-deps", "--target", site, file],
                       check=True)
        return
    with zipfile.ZipFile(file) as z:
        for member in z.infolist():
            Path(z.extract(member, site)).chmod(member.external_attr >> 16 & 0o777)


def test_a_device_from_a_wheel(zofl: Path, tmp_path: Path) -> None:
    file = wheel(tmp_path / "one", hook.here(), zofl)
    tag = hook.PLATFORMS[hook.here()][1]
    assert file.name == f"zofl-{zofl_version()}-py3-none-{tag}.whl"
    install(file, tmp_path / "site")
    run_a_device(tmp_path / "site", tmp_path)
    assert b"\xe2" in said(tmp_path / "site", "plan", "--fields")  # tables


def run_a_device(site: Path, tmp_path: Path) -> None:
    heard = []
    with zofl.serve(small()) as server, client(server, "go", heard.append) as other:
        text = DEVICE.format(site=str(site), url=server.url, run=server.run)
        env = {k: v for k, v in os.environ.items() if k not in ("ZOFL", "PYTHONPATH")}
        out = subprocess.run([sys.executable, "-c", text], env={**env, "PATH": ""}, check=True,
                             cwd=tmp_path, capture_output=True, timeout=300).stdout
        assert other.wait(300) == 0
    assert out.decode().strip() == heard[-1]["digest"]


def said(site: Path, *command: str) -> bytes:
    """What the command zofl of the wheel prints, as pip's script calls it."""
    text = "import sys; sys.path.insert(0, sys.argv.pop(1)); from zofl.binary import main; main()"
    env = {k: v for k, v in os.environ.items() if k not in ("ZOFL", "PYTHONPATH")}
    return subprocess.run([sys.executable, "-c", text, site, *command], check=True, env=env,
                          capture_output=True, timeout=300).stdout


@pytest.mark.parametrize("platform", ["linux-armv6", "windows-arm64"])
def test_other_wheels(tmp_path: Path, platform: str) -> None:
    (tmp_path / "program").write_bytes(b"a program")
    file = wheel(tmp_path / "out", platform, tmp_path / "program")
    name = {"linux-armv6": "linux_armv6l", "windows-arm64": "win_arm64"}[platform]
    assert file.name == f"zofl-{zofl_version()}-py3-none-{name}.whl"
    again = wheel(tmp_path / "again", platform, tmp_path / "program")
    assert again.read_bytes() == file.read_bytes()
    with zipfile.ZipFile(file) as z:
        bundled = [m for m in z.infolist() if "_bin" in m.filename]
        metadata = next(n for n in z.namelist() if n.endswith("/WHEEL"))
        tags = [line for line in z.read(metadata).decode().splitlines() if line.startswith("Tag")]
        assert b"Root-Is-Purelib: false" in z.read(metadata)
        assert {"zofl/py.typed", f"zofl-{zofl_version()}.dist-info/licenses/LICENSE",
                f"zofl-{zofl_version()}.dist-info/licenses/NOTICES"} < set(z.namelist())
        about = z.read(f"zofl-{zofl_version()}.dist-info/METADATA").decode()
    assert [m.filename for m in bundled] == [
        "zofl/_bin/zofl.exe" if platform.startswith("windows") else "zofl/_bin/zofl"]
    assert "\nLicense-File: LICENSE\nLicense-File: NOTICES\n" in about
    assert f"](https://github.com/zofl/zofl/blob/v{zofl_version()}/docs/" in about
    assert "](.." not in about  # a page of PyPI has no neighbors
    assert not (ROOT / "python/NOTICES").exists()
    assert bundled[0].external_attr >> 16 & 0o777 == 0o755
    assert tags == [f"Tag: py3-none-{name}"]


def test_license() -> None:
    assert (ROOT / "python/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_sdist(tmp_path: Path) -> None:
    """It has what the program is compiled from, and no more; a release's test compiles it."""
    file = build(tmp_path / "one", "sdist")
    assert build(tmp_path / "two", "sdist").read_bytes() == file.read_bytes()
    with tarfile.open(file) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    assert {"LICENSE", "PKG-INFO", "src/zofl/py.typed", "go/go.sum", "go/LICENSE",
            "go/coordinator/zofl/main.go", "go/prng/vector_amd64.s",
            "go/coordinator/zofl/internal/dashboard/page/index.html"} < names
    assert not [n for n in names if n.endswith("_test.go") or "/testdata/" in n or "_venv" in n]


@pytest.mark.parametrize("program, says", [("", "Go is missing"), ("none", "")])
def test_without_go(tmp_path: Path, program: str, says: str) -> None:
    """Who has no Go learns it at once; who wants no program gets a wheel for all platforms."""
    env = {"PATH": "", "ZOFL_PROGRAM": program}
    if says:
        with pytest.raises(subprocess.CalledProcessError) as failed:
            build(tmp_path, "wheel", **env)
        assert failed.value.stderr.startswith("zofl: " + says)
        assert "Traceback" not in failed.value.stderr
    else:
        assert build(tmp_path, "wheel", **env).name.endswith("-py3-none-any.whl")


def test_says_that_it_compiles(tmp_path: Path) -> None:
    """pip shows nothing of a build, so the line goes to the terminal."""
    pty = pytest.importorskip("pty")
    child, terminal = pty.fork()
    if child == 0:
        os.environ["PATH"] = str(tmp_path)
        (tmp_path / "go").write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / "go").chmod(0o755)
        os.chdir(ROOT / "python")
        with open(os.devnull, "w") as nowhere:  # as pip does
            done = subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d",
                                   tmp_path], stdout=nowhere, stderr=nowhere)
        os._exit(done.returncode)
    said = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # Linux says so when the other side is closed
            break
        if not part:
            break
        said += part
    assert os.waitpid(child, 0)[1] != 0  # Go, such as it is here, failed
    assert b"compiling the program with Go" in said


def zofl_version() -> str:
    text = (ROOT / "python/pyproject.toml").read_text()
    return text.split('version = "')[1].split('"')[0]
