"""Which tensors of a module are trained, and by which names."""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ..errors import UsageError
from ..holders import parameters_of
from ..tree import Train, select

_LETTERS = frozenset(string.ascii_letters + string.digits + "-_")  # of a segment's name
_MOST = 32  # of them
_ENOUGH = 1 << 16  # numbers of a tensor, to see how it is rounded
_TYPES = (torch.float32, torch.bfloat16, torch.float16)


def trained(module: Any, train: Train) -> dict[str, Any]:
    """The tensors that patterns choose, by name; without patterns those that require a gradient.

    A tensor with several names counts once, by the first of them that is chosen.
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"the model is a {type(module).__name__}: give a torch.nn.Module")
    everything = parameters_of(module)
    found: dict[str, Any] = {}
    seen: dict[tuple[Any, ...], str] = {}
    chosen = _chosen(everything, train)
    for name, p in everything.items():
        if name in chosen and p.numel() and seen.setdefault(_memory(p), name) == name:
            _check(name, p)
            found[name] = p
    _apart(found)
    return found


def twins(module: Any, chosen: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Of each tensor all those of the module that are other names of its memory, it among them."""
    found: dict[tuple[Any, ...], dict[int, Any]] = {_memory(p): {id(p): p} for p in chosen.values()}
    for t in [*module.parameters(), *module.buffers()]:
        if (same := found.get(_memory(t))) is not None:
            same[id(t)] = t
    return {name: list(found[_memory(p)].values()) for name, p in chosen.items()}


def segments_of(names: Sequence[str]) -> list[str]:
    """What a plan calls tensors, as `zofl plan --initial` does: a segment's name is shorter."""
    plain = [_plain(name) for name in names]
    return [short if plain.count(short) == 1 and 0 < len(short) <= _MOST else _hashed(name)
            for name, short in zip(names, plain)]


def named_by(names: Sequence[str], segments: Sequence[Mapping[str, Any]]) -> list[str]:
    """The tensors of these names that a plan's segments are called after."""
    there = {s.get("name") for s in segments}
    return [n for n in names if _plain(n) in there or _hashed(n) in there]


def differs(shapes: Mapping[str, Sequence[int]], segments: Sequence[Mapping[str, Any]]) -> str:
    """Where the tensors of a module, in their order with their shapes, are not those that a plan's
    segments are called after; "": nowhere. Segments of other names say nothing of tensors."""
    names, listed = list(shapes), {str(s.get("name")): s for s in segments}
    called = dict(zip(names, segments_of(names)))
    if not set(called.values()) & listed.keys():
        return ""
    for name, segment in called.items():
        shape = tuple(shapes[name])
        if segment not in listed:
            return f"the module has {name} of the shape {shape}, which the plan does not train"
        size, rows = int(listed[segment].get("len", 0)), int(listed[segment].get("rows", 0))
        if torch.Size(shape).numel() != size:
            return f"{name} has the shape {shape} in the module, and {size} parameters in the plan"
        if rows and rows != shape[0]:
            return f"{name} has the shape {shape} in the module, and {rows} rows in the plan"
    for segment in listed:
        if segment not in called.values():
            return f"the plan trains {segment}, which the module does not have, or train leaves out"
    return ""


def rounded(parameters: Mapping[str, Any], plan: Mapping[str, Any]) -> str:
    """Which tensor of 16 bits hides most of a plan's distance mu, and how much; "": none does.

    Of what a plan has as a matrix no point is rounded.
    """
    mu, segments = plan.get("mu"), plan.get("segments") or []
    if not isinstance(mu, float):  # devices choose it by what they measure
        return ""
    matrices = {s.get("name") for s in segments if s.get("rows")}
    worst, text = 0.25, ""
    for (name, p), called in zip(parameters.items(), segments_of(list(parameters))):
        if p.dtype == torch.float32 or called in matrices:
            continue
        part = p.detach().reshape(-1)[:_ENOUGH]
        share = float(((part.float() + mu).to(p.dtype) == part).float().mean())
        if share > worst:
            worst, text = share, (
                f"{name} holds {str(p.dtype)[6:]}: {share:.0%} of its numbers are rounded to the "
                f"same at mu = {mu:g}, and the loss does not see it. Keep what is trained in "
                "float32, as module.float() does")
    return text


def _plain(name: str) -> str:
    return "".join(c if c in _LETTERS else "_" for c in name)


def _hashed(name: str) -> str:
    """The end of a name, and a hash of all of it."""
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{_plain(name)[-(_MOST - 9):]}-{digest}"


def _chosen(everything: dict[str, Any], train: Train) -> set[str]:
    floats = [n for n, p in everything.items() if p.is_floating_point()]
    if train is None:
        own = {n for n in floats if everything[n].requires_grad}
        if not own:
            raise UsageError("the module has no parameter that requires_grad: name those to train, "
                             "as in train='*lora*'", 2)
        return own
    try:
        return select(floats, train)
    except ValueError as error:
        text = re.sub(r"\bx0\b", "the module", str(error))
        if others := sorted(everything.keys() - set(floats)):
            text += f"; {others[0]} holds {everything[others[0]].dtype}, which is not trained"
        raise UsageError(text, 2) from None


def _memory(p: Any) -> tuple[Any, ...]:
    """Where a tensor lies: that of tied ones is the same."""
    if p.numel() == 0 or p.device.type == "meta":
        return (id(p),)
    return p.device, p.data_ptr(), tuple(p.shape), p.stride()


def _check(name: str, p: Any) -> None:
    if p.device.type == "meta":
        raise UsageError(f"{name} is on the meta device, without numbers: load the module first", 2)
    if p.layout != torch.strided:
        raise UsageError(f"{name} is {p.layout}: train a dense tensor", 2)
    if p.dtype not in _TYPES:
        raise UsageError(f"{name} holds {p.dtype}: call model.float(), as a run has float32, and the "
                         "module that, bfloat16 or float16", 2)


def _apart(found: dict[str, Any]) -> None:
    """Raises if two tensors share a part of their memory: then one has no value of its own."""
    spans = sorted((str(p.device), p.data_ptr(), p.data_ptr() + _bytes(p), name)
                   for name, p in found.items() if p.numel())
    for (device, _, end, one), (other, begin, _, two) in zip(spans, spans[1:]):
        if device == other and begin < end:
            raise UsageError(f"{one} and {two} share memory, but are not the same tensor: train one "
                             "of the two", 2)


def _bytes(p: Any) -> int:
    """How far a tensor reaches in memory."""
    last = sum((n - 1) * stride for n, stride in zip(p.shape, p.stride()))
    return int((last + 1) * p.element_size())
