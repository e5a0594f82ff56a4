"""The vectors of records, and what is hashed of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from vectors import ROOT

from zofl.audit import plan, record
from zofl.audit.errors import FrameError

VECTORS = sorted((ROOT / "wire/testdata/vectors").glob("record-*.txt"))


def vector(path: Path) -> tuple[str, bytes]:
    head, _, body = path.read_text().partition("\n\n")
    return dict(line.split(": ", 1) for line in head.splitlines())["expect"], bytes.fromhex(body)


@pytest.mark.parametrize("path", VECTORS, ids=lambda p: p.stem)
def test_vector(path: Path) -> None:
    expect, data = vector(path)
    if expect == "ok":
        assert record.write(record.read(data)) == data
        return
    with pytest.raises(FrameError) as caught:
        record.read(data)
    assert caught.value.kind == expect, str(caught.value)


def test_there_are_vectors() -> None:
    assert len(VECTORS) >= 254


def golden() -> dict[str, str]:
    lines = (ROOT / "wire/testdata/golden.txt").read_text().splitlines()
    return dict(line.split(" = ", 1) for line in lines if " = " in line)


@pytest.mark.parametrize("line", [g for g in golden() if g.startswith(("genesis", "hash"))])
def test_golden(line: str) -> None:
    kind, name = line.split()
    if kind == "genesis":
        got = record.genesis(name)
    else:
        got = record.hash_record(vector(ROOT / f"wire/testdata/vectors/{name}.txt")[1])
    assert got.hex() == golden()[line]


def test_fields_are_those_of_the_page() -> None:
    page = (ROOT / "docs/wire.md").read_text()
    table = page.split("<!-- generated: fields -->")[1].split("<!-- end -->")[0]
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \| ([\w ]+) \|[^|]*\| (c?) ?\|", table, re.M)
    got = [(f.number, f.name, f.changes) for f in plan.FIELDS.values()]
    assert got == [(int(n), name, c == "c") for n, name, _, c in rows]
    forms = {"str": "str32", "finite float": "float"}
    for number, _, form, _ in rows:
        if form != "array":
            assert plan.FIELDS[int(number)].form == forms.get(form, form)


def test_choices_are_those_of_the_page() -> None:
    page = (ROOT / "docs/wire.md").read_text()
    table = page.split("<!-- generated: choices -->")[1].split("<!-- end -->")[0]
    rows = re.findall(r"^\| (`\w+`|fill of a segment) \| (\d.*) \|$", table, re.M)
    want = {name.strip("`").split(" ")[0]:
            {int(number): choice for number, choice in re.findall(r"(\d+) ([\w-]+)", choices)}
            for name, choices in rows}
    assert plan.CHOICES == want
