"""The wheel of this platform: the same each time, and a device runs from it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from runs import client, small
from vectors import ROOT

import zofl

hatchling = pytest.importorskip("hatchling")
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


def wheel(directory: Path, platform: str, program: Path) -> Path:
    """Builds a wheel with a program that exists."""
    env = {**os.environ, "ZOFL_PLATFORM": platform, "ZOFL_PROGRAM": str(program),
           "SOURCE_DATE_EPOCH": "1700000000", "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", directory],
                   cwd=ROOT / "python", env=env, check=True, capture_output=True)
    (found,) = directory.glob("*.whl")
    return found


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
    assert [m.filename for m in bundled] == [
        "zofl/_bin/zofl.exe" if platform.startswith("windows") else "zofl/_bin/zofl"]
    assert bundled[0].external_attr >> 16 & 0o777 == 0o755
    assert tags == [f"Tag: py3-none-{name}"]


def zofl_version() -> str:
    text = (ROOT / "python/pyproject.toml").read_text()
    return text.split('version = "')[1].split('"')[0]
