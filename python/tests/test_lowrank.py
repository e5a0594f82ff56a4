"""Directions of rank 1: their vectors, and what a plan of them needs."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from vectors import paragraphs

from zofl.audit import directions as prng
from zofl.audit import lowrank, plan, state
from zofl.audit.errors import FrameError, LogError
from zofl.audit.msgpack import Reader
from zofl.audit.replica import check_plan

VECTORS = list(paragraphs("prng/lowrank/testdata/lowrank.txt"))


def test_count() -> None:
    assert len(VECTORS) == 28


def floats(text: str) -> list[np.float32]:
    return list(np.array([int(w, 16) for w in text.split()], np.uint32).view(np.float32))


def shapes(text: str) -> list[lowrank.Shape]:
    parts = [[int(n) for n in part.split("x")] for part in text.split()]
    return [lowrank.Shape(*p) if len(p) == 2 else lowrank.Shape(0, *p) for p in parts]


def start(kind: str, stop: int) -> prng.F32:
    x = prng.directions([prng.Address(1, domain=prng.INITIAL)], prng.UNIFORM, stop)[0]
    kept = {"uniform": 0xFFFFFFFF, "subnormal": 0x807FFFFF, "zero": 0x80000000}[kind]
    masked: prng.F32 = (x.view(np.uint32) & np.uint32(kept)).view(np.float32)
    return masked


def result(v: dict[str, str]) -> prng.F32:
    layout, at, stop = shapes(v["shapes"]), int(v["at"]), int(v["at"]) + int(v["length"])
    addresses = [prng.Address(int(v["key"], 16), int(v["step"]), int(v["perturbation"]) + j,
                              int(v["source"])) for j in range(len(v.get("a", "1").split()))]
    if v["op"] == "fill":
        return lowrank.directions(addresses, layout)[0][at:stop]
    x = np.zeros(lowrank.length(layout), np.float32)
    x[:stop] = start(v["x"], stop)
    a = floats(v["a"])
    if v["op"] == "perturb":
        x += a[0] * lowrank.directions(addresses, layout)[0]
        return x[at:stop]
    with np.errstate(over="ignore"):
        lowrank.add_terms(x, a, addresses, layout)
    return x[at:stop]


@pytest.mark.parametrize("v", VECTORS, ids=lambda v: v["op"])
def test_vector(v: dict[str, str]) -> None:
    got = result(v).view(np.uint32)
    words = [f"{w:08x}" for w in got]
    assert words[:4] == v["first"].split()
    assert words[-4:] == v["last"].split()
    assert hashlib.sha256(got.astype("<u4").tobytes()).hexdigest() == v["sha256"]


def segment(rows: int, length: int) -> dict[str, object]:
    out = {"name": "w", "len": length, "fill": 0, "scale": 0.0, "mu_scale": 0.0,
           "step_scale": 0.0}
    return {**out, "rows": rows} if rows else out


def of(rows: int, length: int, **more: object) -> plan.Plan:
    return plan.Plan({"dim": length, "steps": 1, "perturbations": 1, "distribution": 6,
                      "difference": 1, "rule": 1, "segments": [segment(rows, length)], **more})


def test_plan() -> None:
    p = of(4, 12)
    check_plan(p)
    assert state.shapes(p) == [lowrank.Shape(4, 3)]
    written = plan.write_fields(p.values)
    assert plan.read_fields(Reader(written), False) == p.values


@pytest.mark.parametrize("p", [of(0, 12), of(5, 12), of(1, 12), of(12, 12), of(24, 12),
                               of(4, 12, pool=7, rebase=1)],
                         ids=["none", "divides", "one row", "one column", "too many", "pool"])
def test_refused(p: plan.Plan) -> None:
    with pytest.raises(LogError):
        check_plan(p)


def test_zero_rows() -> None:
    """A segment without rows has six parts: a seventh of 0 says nothing."""
    written = plan.write_fields({"segments": [{**segment(0, 12), "rows": 0}]})
    with pytest.raises(FrameError):
        plan.read_fields(Reader(written), False)
