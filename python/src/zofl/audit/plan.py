"""Plans as records carry them: section 5 of docs/wire.md."""

from __future__ import annotations

import struct
from typing import Any

from . import msgpack
from .errors import FrameError, LogError
from .msgpack import Reader

# Fields by number: name, form, and * if a change may have it.
_FIELDS = """
1 run str32|2 preset str32|3 scheme uint|4 run_key bin|5 dim uint|6 segments segments|
7 initial choice|8 initial_digest bin|9 sharing choice|10 distribution choice|
11 difference choice|12 mu float *|13 steps uint|14 perturbations uint *|15 rule choice|
16 beta float *|17 weight_decay float *|18 step float *|19 step_decay choice *|
21 perturbation_schedule counts *|22 transport choice|
23 aggregator choice|24 weights choice|25 max_weight uint *|26 max_scalar float *|
27 roster choice|28 members uint *|29 target uint *|30 over_sample float *|31 quorum uint *|
32 deadline uint *|33 max_attempts uint *|34 reannounce uint *|35 announce_budget uint *|
36 shards uint|37 batch uint *|38 eval_every uint *|39 eval_count uint *|40 metrics names|
41 digest_every uint *|42 rounds uint *|43 stop_metric str32 *|44 stop_when choice *|
45 stop_value float *|46 diverge float *|47 key_check bin|48 subspace_moves uint|
49 subspace_share float *|50 pool uint|51 rebase uint|52 prox float *|53 control choice|
54 server_rule choice|55 server_step float *|56 server_beta1 float *|57 server_beta2 float *|
58 server_epsilon float *|59 server_v0 float|60 precision choice|61 trim float *|
62 clip float *|63 dense_keep uint *|64 boxes boxes|65 beta2 float *|66 epsilon float *|
67 estimator choice|68 features uint|70 length_scale float|71 noise float|
72 window uint|74 active uint *|75 around uint *|76 candidates uint *|
77 radius float *|78 correction choice *|79 correction_at choice *|80 heterogeneity float *|
82 late uint *|86 async choice *|89 floor float *|90 server_decay float *|
91 step_auto choice|92 mu_auto choice *|93 groups choice|94 group_size uint *|
95 regroup uint *|96 classes uint|98 dp_clip float|99 dp_noise float|100 dp_by choice|
101 dp_delta float|102 bound float *|103 claim_bound float *|104 trust uint *|105 key_scheme choice|
106 secure choice|107 secure_range float|108 dp_of choice|109 roots names *|110 cohort choice|
111 secure_lists choice|112 prior choice|113 length_fit choice|
114 loss_unit float *|115 liars uint *|116 best str32 *|117 best_when choice *|
118 columns uint|119 stats stats *|120 min_delta float *|121 patience uint *|
122 covariance choice|123 perturbations_auto choice *|124 restarts uint *|126 close choice *|
129 step_after uint
"""

CHOICES: dict[str, dict[int, str]] = {
    "initial": {0: "seeded", 1: "given"},
    "sharing": {0: "shared", 1: "per-client", 3: "groups"},
    "distribution": {1: "normal", 2: "rademacher", 3: "sphere", 4: "subspace",
                     6: "lowrank"},
    "difference": {1: "forward", 2: "central", 3: "none"},
    "rule": {1: "sgd", 2: "momentum", 3: "torch-momentum", 4: "adam", 6: "sign"},
    "step_decay": {0: "constant", 1: "inverse-sqrt", 2: "cosine", 4: "slow-sqrt"},
    "transport": {0: "mean", 1: "relay", 2: "dense"},
    "aggregator": {0: "weighted-mean", 1: "median", 2: "trimmed-mean", 3: "clipped-mean"},
    "weights": {0: "equal", 1: "samples"},
    "roster": {0: "dense", 1: "open"},
    "stop_when": {0: "above", 1: "below"},
    "control": {0: "none", 1: "scaffold-1", 2: "scaffold-2", 4: "svrg"},
    "server_rule": {0: "mean", 1: "sgd", 2: "momentum", 3: "adam", 4: "amsgrad", 5: "yogi",
                    6: "sign", 8: "normalized", 10: "adagrad", 11: "cma"},
    "precision": {0: "single", 1: "half", 3: "int8", 4: "int4", 5: "int2"},
    "estimator": {0: "differences", 1: "surrogate"},
    "correction": {0: "inverse", 1: "one", 2: "zero", 3: "theory"},
    "correction_at": {0: "iterate", 1: "round"},
    "async": {0: "off", 1: "on"},
    "step_auto": {0: "off", 1: "on"},
    "mu_auto": {0: "off", 1: "on"},
    "groups": {0: "none", 1: "random", 2: "sketch", 3: "auto"},
    "dp_by": {0: "device", 1: "coordinator"},
    "key_scheme": {0: "secret", 1: "hkdf"},
    "secure": {0: "none", 1: "sum"},
    "secure_lists": {0: "believed", 1: "agreed"},
    "dp_of": {0: "device", 1: "sum"},
    "cohort": {0: "record", 1: "round"},
    "prior": {0: "mean", 1: "zero"},
    "length_fit": {0: "off", 1: "on"},
    "covariance": {0: "full", 1: "limited"},
    "perturbations_auto": {0: "off", 1: "on"},
    "best_when": {0: "auto", 1: "highest", 2: "lowest"},
    "close": {0: "target", 1: "deadline"},
    "fill": {0: "zero", 1: "uniform", 2: "normal"},
}

_LIMITS = {"dim": (1 << 63) - 1, "rounds": (1 << 63) - 1}
_U32 = (1 << 32) - 1
_ZERO: dict[str, Any] = {"str32": "", "bin": b"", "uint": 0, "float": 0.0, "choice": 0}
# The most elements of a list, and the least bytes of one.
_LISTS = {"segments": (512, 19), "counts": (64, 3), "boxes": (512, 11),
          "names": (16, 1), "stats": (784, 21)}


class Field:
    """One field of a plan."""

    def __init__(self, row: str) -> None:
        number, self.name, self.form, *change = row.split()
        self.number, self.changes = int(number), bool(change)

    @property
    def zero(self) -> Any:
        return _ZERO.get(self.form, [])

    def read(self, r: Reader) -> Any:
        if self.form == "str32":
            return r.text(32, self.name)
        if self.form == "bin":
            return r.bin(64, self.name)
        if self.form == "uint":
            value = r.uint(_LIMITS.get(self.name, _U32), self.name)
            if self.name == "scheme" and value > 1:
                raise FrameError("upgrade", f"scheme {value}")
            return value
        if self.form == "float":
            return r.finite(self.name)
        if self.form == "choice":
            return _choice(r, self.name)
        most, least = _LISTS[self.form]
        count = r.length("array", most, self.name, least)
        return [_ELEMENTS[self.form](r) for _ in range(count)]

    def write(self, value: Any) -> bytes:
        if self.form in _LISTS:
            return msgpack.array(len(value)) + b"".join(map(_WRITERS[self.form], value))
        return bytes(_WRITERS[self.form](value))


def _choice(r: Reader, name: str) -> int:
    value = r.uint(255, name)
    # The zero of a field without such a choice is judged as a zero.
    if value and value not in CHOICES[name]:
        raise FrameError("upgrade", f"{name} {value}")
    return value


def _tuple(r: Reader, count: int, what: str) -> None:
    if r.length("array", _U32, what) != count:
        raise FrameError("form", f"{what} has another number of parts than {count}")


def _segment(r: Reader) -> dict[str, Any]:
    count = r.length("array", _U32, "segment")
    if count not in (6, 7):
        raise FrameError("form", f"a segment of {count} parts")
    out = {"name": r.text(32, "name of a segment"), "len": r.uint(1 << 41, "len of a segment"),
           "fill": _choice(r, "fill"), "scale": r.finite("scale"),
           "mu_scale": r.finite("mu_scale"), "step_scale": r.finite("step_scale")}
    if count == 7:
        out["rows"] = r.uint(1 << 41, "rows of a segment")
        if out["rows"] == 0:
            raise FrameError("form", "rows of a segment are zero and there")
    return out


def _count(r: Reader) -> dict[str, Any]:
    _tuple(r, 2, "point")
    return {"round": r.uint((1 << 63) - 1, "round"),
            "perturbations": r.uint(65535, "perturbations")}


def _box(r: Reader) -> dict[str, Any]:
    _tuple(r, 2, "box")
    return {"low": r.finite("low"), "high": r.finite("high")}


def _column(r: Reader) -> dict[str, Any]:
    count = r.length("array", 6, "stats")
    if count not in (4, 6):
        raise FrameError("form", f"a column of {count} parts")
    out: dict[str, Any] = {name: r.uint(1 << 52, name) for name in ("count", "missing")}
    out |= {name: r.double(name) for name in ("mean", "std", "min", "max")[:count - 2]}
    return out


_ELEMENTS: dict[str, Any] = {
    "stats": _column,
    "segments": _segment, "counts": _count, "boxes": _box,
    "names": lambda r: r.text(32, "name"),
}
_float = msgpack.float32
_WRITERS: dict[str, Any] = {
    "str32": msgpack.str_, "bin": msgpack.bin_, "uint": msgpack.uint, "float": _float,
    "choice": msgpack.uint, "names": msgpack.str_,
    "segments": lambda s: (msgpack.array(len(s)) + msgpack.str_(s["name"]) + msgpack.uint(s["len"])
                           + msgpack.uint(s["fill"]) + _float(s["scale"])
                           + _float(s["mu_scale"]) + _float(s["step_scale"])
                           + (msgpack.uint(s["rows"]) if "rows" in s else b"")),
    "counts": lambda p: (msgpack.array(2) + msgpack.uint(p["round"])
                         + msgpack.uint(p["perturbations"])),
    "stats": lambda c: (msgpack.array(len(c)) + msgpack.uint(c["count"])
                        + msgpack.uint(c["missing"])
                        + b"".join(map(msgpack.float64, list(c.values())[2:]))),
    "boxes": lambda b: msgpack.array(2) + _float(b["low"]) + _float(b["high"]),
}

FIELDS = {f.number: f for f in map(Field, _FIELDS.replace("\n", "").split("|"))}
_NAMED = {f.name: f for f in FIELDS.values()}


class Plan:
    """A plan's fields by name; a choice by the name of its value."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def __getattr__(self, name: str) -> Any:
        field = _NAMED.get(name)
        if field is None:
            raise AttributeError(name)
        value = self.values.get(name, field.zero)
        if field.form != "choice":
            return value
        try:
            return CHOICES[name][value]
        except KeyError:
            raise LogError(f"the plan has no {name}") from None

    def changed(self, changes: dict[str, Any]) -> Plan:
        """The plan after a change."""
        return Plan({**self.values, **changes})

    def differences(self, first: Plan) -> dict[str, Any]:
        """The fields that differ from another plan's."""
        return {f.name: self.values.get(f.name, f.zero) for f in FIELDS.values()
                if self.values.get(f.name, f.zero) != first.values.get(f.name, f.zero)}


def read_fields(r: Reader, change: bool) -> dict[str, Any]:
    """The map of a plan or of a change."""
    values: dict[str, Any] = {}
    last = 0
    for _ in range(r.length("map", 255, "body")):
        number = r.uint((1 << 64) - 1, "field")
        if number <= last:
            raise FrameError("form", f"field {number} after field {last}")
        field = FIELDS.get(number)
        if field is None or (change and not field.changes):
            raise FrameError("upgrade", f"field {number}")
        last, value = number, field.read(r)
        if value == field.zero and not change:
            raise FrameError("form", f"{field.name} is zero and there")
        values[field.name] = value
    if change and not values:
        raise FrameError("value", "a change of no field")
    return values


def write_fields(values: dict[str, Any]) -> bytes:
    """The map of a plan or of a change; zeros are written."""
    fields = [f for f in FIELDS.values() if f.name in values]
    return msgpack.map_(len(fields)) + b"".join(
        msgpack.uint(f.number) + f.write(values[f.name]) for f in fields)


def float32(value: float) -> float:
    """The value rounded to float32, as a plan file's numbers are."""
    rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return rounded
