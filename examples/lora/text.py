"""The text: books of the King James Bible, from Debian's packages bible-kjv and bible-kjv-text."""

import pathlib
import re
import shutil
import subprocess

import numpy as np

# Stories: what the model is pretrained on.
STORIES = "Ge Exo Num Josh Jdgs Ruth 1Sm 2Sm 1Ki 2Ki 1Chr 2Chr Ezra Neh Est Mat Mark Luke John Acts"
# Laws, verse, sayings, oracles, letters and visions: one book for each device.
STYLES = "Lev Job Psa Prv Eccl Isa Eze Rom Heb Rev"

VERSE = re.compile(r"(\w+?)\d+:\d+ (.*)")


def books():
    """Returns the books by their short names, a verse a line, without the verses' numbers."""
    if not shutil.which("bible"):
        raise SystemExit("bible: not found: apt-get install bible-kjv bible-kjv-text")
    done = subprocess.run(
        ["bible", "-f", "gen1:1-rev22:21"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    out = {}
    for line in done.stdout.decode("ascii").splitlines():
        if verse := VERSE.match(line):
            out.setdefault(verse[1], []).append(verse[2] + "\n")
    return {name: "".join(verses) for name, verses in out.items()}


def tokens(text):
    """Returns the bytes of a text, as the model reads them."""
    return np.frombuffer(text.encode("ascii"), np.uint8)


def halves(book):
    """Cuts a text into what is trained on and what is held out: its last fifth."""
    at = len(book) * 4 // 5
    return book[:at], book[at:]


def windows(book, starts, context):
    """Returns rows of context+1 tokens: all but the last are inputs, all but the first targets."""
    return book[np.asarray(starts)[:, None] + np.arange(context + 1)].astype(np.int64)


def spread(book, context, most):
    """Returns at most that many starts of windows that lie evenly in the book."""
    count = min(most, (len(book) - 1) // context)
    return np.linspace(0, len(book) - context - 1, count).astype(np.int64)


def read(directory):
    """Returns the tokens of the files 0.txt, 1.txt, ... in a directory."""
    files = sorted(pathlib.Path(directory).glob("*.txt"), key=lambda file: int(file.stem))
    return [tokens(file.read_text(encoding="ascii")) for file in files]
