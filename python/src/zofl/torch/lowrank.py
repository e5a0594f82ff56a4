"""Directions of rank 1 in a module: no point is written into its weights.

While a loss works with a module, a parameter W stands for W + s a b^T. A product with it is computed
from W, a and b, and so are its rows and convolutions. For anything else the sum is made, and
forgotten after that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch

Function = Callable[..., Any]

_C: Any = import_module("torch._C")
# In this block a sheet is a tensor as any other.
_plainly: Any = getattr(_C, "DisableTorchFunctionSubclass", _C.DisableTorchFunction)
_LISTS = (list, tuple)


@dataclass(eq=False)
class Sum:
    """What a parameter stands for: x + s a b^T, or of a tensor that is no matrix x + s a."""

    base: Any  # x in the module's type, of the parameter's shape
    x: Any  # x, as exactly as it is at hand
    scale: float
    rows: Any  # a
    columns: Any = None  # b
    made: Any = None  # the sum, where it is kept
    used: bool = False  # whether the loss has asked for numbers
    graph: bool = False  # whether it did so with gradients
    changed: bool = False  # whether it has written to them

    def value(self) -> Any:
        """The sum."""
        if self.made is not None:
            return self.made
        if self.columns is None:
            self.made = torch.add(self.x, self.rows.view(self.x.shape), alpha=self.scale).to(
                self.base.dtype)
            return self.made
        flat = self.x.reshape(len(self.rows), -1)
        return torch.addr(flat, self.rows.to(flat.dtype), self.columns.to(flat.dtype),
                          alpha=self.scale).view(self.x.shape).to(self.base.dtype)

    def asked(self, wants: bool) -> None:
        """Notes that the loss has asked for numbers, where gradients are wanted or not."""
        self.used = True
        self.graph = self.graph or wants

    @property
    def apart(self) -> bool:
        """Whether the sum may be left unmade."""
        return self.columns is not None and self.made is None


class Sheet(torch.nn.Parameter):
    """The class of a parameter while it stands for a sum."""

    stands_for: Sum

    @classmethod
    def __torch_function__(cls, func: Function, types: Any, args: Any = (),
                           kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        with _plainly():
            if func in _ABOUT:
                return func(*args, **kwargs)
            if func == _VERSION:
                return func(*args) + args[0].stands_for.changed
            for sheet in _sheets((args, kwargs)):
                sheet.stands_for.asked(torch.is_grad_enabled() and sheet.requires_grad)
            rule = _RULES.get(func) if not kwargs or func in _NAMED else None
            found = NotImplemented if rule is None else rule(func, *args, **kwargs)
            return _made(func, args, kwargs) if found is NotImplemented else found

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return memo.setdefault(id(self), self._plain())

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._plain().__reduce_ex__(protocol)

    def _plain(self) -> Any:
        """A parameter of its own with the sum in it."""
        with _plainly():
            self.stands_for.asked(False)
            return torch.nn.Parameter(self.stands_for.value().clone(), self.requires_grad)


def _sheets(value: Any) -> list[Any]:
    if isinstance(value, Sheet):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [s for v in value for s in _sheets(v)] if isinstance(value, _LISTS) else []


def _values(value: Any) -> Any:
    """Arguments with sums in place of what stands for them."""
    if isinstance(value, Sheet):
        return value.stands_for.value()
    if isinstance(value, dict):
        return {key: _values(v) for key, v in value.items()}
    if isinstance(value, _LISTS) and _sheets(value):
        return type(value)(_values(v) for v in value)
    return value


def _made(func: Function, args: Any, kwargs: Any) -> Any:
    """The function of the sums. A sum that it changes, or returns a part of, is kept."""
    writes = _writes(func, kwargs)
    if writes or func in _SHARES:
        for sheet in _sheets((args, kwargs)):
            sheet.stands_for.made = sheet.stands_for.value()
            sheet.stands_for.changed = sheet.stands_for.changed or writes
    given = _values(args)
    found = func(*given, **_values(kwargs))
    if not (args and isinstance(args[0], Sheet) and isinstance(found, torch.Tensor)):
        return found
    if found._base is not None and found._base is _whole(given[0]):
        args[0].stands_for.made = given[0]
    return args[0] if found is given[0] else found


def _whole(t: Any) -> Any:
    """The tensor that t is a view of, or t."""
    return t if t._base is None else t._base


def _writes(func: Function, kwargs: Any) -> bool:
    """Whether a function changes an argument, by torch's own rule of names."""
    name = getattr(func, "__name__", "")
    if name.startswith("__"):
        return name in ("__setitem__", "__set__") or name[:3] == "__i" and name not in (
            "__int__", "__index__", "__invert__")
    return name.endswith("_") or kwargs.get("out") is not None


def _plus(y: Any, scale: float, t: Any, a: Any) -> Any:
    """y + s t a^T, of all rows of y."""
    y = y.contiguous()
    y.view(-1, y.shape[-1]).addr_(t.to(y.dtype), a.to(y.dtype), alpha=scale)
    return y


def _along(h: Any, b: Any) -> Any:
    """The product of each row of h with b."""
    return h.reshape(-1, h.shape[-1]).mv(b.to(h.dtype))


def _linear(func: Function, input: Any, weight: Any, bias: Any = None) -> Any:
    if isinstance(input, Sheet) or not isinstance(weight, Sheet) or not weight.stands_for.apart:
        return NotImplemented
    w = weight.stands_for
    return _plus(func(input, w.base, _values(bias)), w.scale, _along(input, w.columns), w.rows)


def _product(func: Function, input: Any, other: Any) -> Any:
    if isinstance(input, Sheet) or not other.stands_for.apart or other.dim() != 2:
        return NotImplemented
    w = other.stands_for
    return _plus(func(input, w.base), w.scale, _along(input, w.rows), w.columns)


def _product_and(func: Function, bias: Any, input: Any, other: Any) -> Any:
    if not isinstance(other, Sheet):
        return NotImplemented
    return _product(lambda h, w: func(_values(bias), h, w), input, other)


def _embedding(func: Function, input: Any, weight: Any, padding_idx: Any = None,
               max_norm: Any = None, *more: Any, **named: Any) -> Any:
    if max_norm is not None or not weight.stands_for.apart:
        return NotImplemented
    w = weight.stands_for
    y = func(input, w.base, padding_idx, max_norm, *more, **named)
    return _plus(y, w.scale, w.rows[input.reshape(-1)], w.columns)


def _convolution(func: Function, input: Any, weight: Any, bias: Any = None, *more: Any,
                 **named: Any) -> Any:
    groups = named.get("groups", more[3] if len(more) > 3 else 1)
    if isinstance(input, Sheet) or not isinstance(weight, Sheet) or groups != 1 \
            or not weight.stands_for.apart:
        return NotImplemented
    w = weight.stands_for
    y = func(input, w.base, _values(bias), *more, **named)
    kernel = w.columns.to(y.dtype).view(1, *w.base.shape[1:])
    a = w.rows.to(y.dtype).view(-1, *[1] * (w.base.dim() - 2))
    return y.addcmul_(func(input, kernel, None, *more, **named), a, value=w.scale)


def _turned(func: Function, of: Any, *axes: int) -> Any:
    w = of.stands_for
    if not w.apart or w.base.dim() != 2 or axes and {a % 2 for a in axes} != {0, 1}:
        return NotImplemented
    out: Any = torch.Tensor._make_subclass(Sheet, w.base.t())
    out.stands_for = Sum(w.base.t(), w.x.t(), w.scale, w.columns, w.rows)
    return out


def _some_rows(func: Function, of: Any, index: Any) -> Any:
    """W[index], of some rows, whose sums are made."""
    if not isinstance(of, Sheet) or not of.stands_for.apart \
            or not isinstance(index, (int, slice, torch.Tensor)) or isinstance(index, bool):
        return NotImplemented
    w = of.stands_for
    found = w.x[index]
    a = w.rows.to(found.dtype)[index]
    a = a.reshape(a.shape + (1,) * (w.x.dim() - 1))
    z = a * w.columns.to(found.dtype).view(w.x.shape[1:])
    return torch.add(found, z, alpha=w.scale).to(w.base.dtype)


def _getters(*names: str) -> list[Any]:
    return [getattr(torch.Tensor, n).__get__ for n in names if hasattr(torch.Tensor, n)]


_VERSION, = _getters("_version")
_SHARES = {*_getters("data"), torch.Tensor.detach}
# What asks for no numbers.
_ABOUT = {
    *_getters("shape", "dtype", "device", "layout", "ndim", "requires_grad", "is_leaf", "grad",
              "grad_fn", "names", "is_cuda", "is_cpu", "is_meta", "is_sparse", "is_quantized",
              "is_mkldnn", "is_mps", "is_xpu", "is_nested", "itemsize", "nbytes"),
    torch.Tensor.size, torch.Tensor.dim, torch.Tensor.numel, torch.Tensor.nelement,
    torch.Tensor.stride, torch.Tensor.element_size, torch.Tensor.is_contiguous,
    torch.Tensor.is_floating_point, torch.Tensor.is_complex, torch.Tensor.__len__,
    torch.Tensor.__hash__, torch.Tensor.get_device, torch.is_floating_point, torch.is_complex,
    torch.numel}
# Rules whose functions may be called with names of arguments. Others are called by order alone.
_NAMED: dict[Any, Function] = {
    torch.nn.functional.linear: _linear,
    torch.nn.functional.embedding: _embedding,
    **dict.fromkeys([torch.nn.functional.conv1d, torch.nn.functional.conv2d,
                     torch.nn.functional.conv3d], _convolution)}
_RULES: dict[Any, Function] = {
    **_NAMED,
    torch.addmm: _product_and,
    **dict.fromkeys([torch.Tensor.matmul, torch.Tensor.__matmul__, torch.matmul, torch.Tensor.mm,
                     torch.mm], _product),
    **dict.fromkeys([*_getters("T", "mT"), torch.Tensor.t, torch.t, torch.Tensor.transpose,
                     torch.transpose], _turned),
    torch.Tensor.__getitem__: _some_rows}
