"""Drawings of losses: SVG for notebooks and files, matplotlib where it is asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

_WIDE, _HIGH = 640, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 16, 44
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_POINTS = 500  # of a line, at most


def svg(lines: Mapping[str, Numbers], x: str = "round", y: str = "loss",
        alone: bool = False) -> str:
    """A drawing of lines by round, logarithmic where they fall far.

    Its text has the color of the page; alone, in a file, one for light and one for dark screens.
    """
    most = max((len(v) for v in lines.values()), default=0)
    every = [v[np.isfinite(v)] for v in lines.values()]
    values = np.concatenate(every) if every else np.empty(0)
    if not values.size:
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDE}" height="24"/>'
    log = bool(values.min() > 0 and values.max() > 50 * values.min())
    ticks = _decades(values) if log else _ticks(float(values.min()), float(values.max()))
    scale = math.log10 if log else float
    low = min(scale(ticks[0]), scale(float(values.min())))
    high = max(scale(ticks[-1]), scale(float(values.max())))

    def across(i: float) -> float:
        return _LEFT + (_WIDE - _LEFT - _RIGHT) * (i - 1) / max(most - 1, 1)

    def down(v: float) -> float:
        return _HIGH - _BOTTOM - (_HIGH - _TOP - _BOTTOM) * (scale(v) - low) / (high - low)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}" '
           f'width="{_WIDE}" role="img" aria-label="{escape(y)} by {escape(x)}" '
           'font-family="system-ui, sans-serif" font-size="12" fill="currentColor" '
           'class="zofl" style="max-width:100%;height:auto">']
    if alone:
        out.append("<style>.zofl{color:#333}@media(prefers-color-scheme:dark)"
                   "{.zofl{color:#ccc}}</style>")
    for v in ticks:
        out.append(f'<path d="M{_LEFT} {down(v):.1f}H{_WIDE - _RIGHT}" stroke="currentColor" '
                   f'stroke-opacity=".15"/><text x="{_LEFT - 8}" y="{down(v) + 4:.1f}" '
                   f'text-anchor="end">{v:.4g}</text>')
    for i in sorted({1, most, *(int(t) for t in _ticks(1, most) if 1 < t < 0.93 * most)}):
        out.append(f'<text x="{across(i):.1f}" y="{_HIGH - _BOTTOM + 18}" '
                   f'text-anchor="middle">{i}</text>')
    out.append(f'<text x="{(_LEFT + _WIDE - _RIGHT) / 2:.0f}" y="{_HIGH - 6}" '
               f'text-anchor="middle">{escape(x)}</text>')
    out.append(f'<text x="14" y="{(_HIGH - _BOTTOM + _TOP) / 2:.0f}" text-anchor="middle" '
               f'transform="rotate(-90 14 {(_HIGH - _BOTTOM + _TOP) / 2:.0f})">{escape(y)}</text>')
    for n, (name, line) in enumerate(lines.items()):
        points = [f"{across(i + 1):.1f} {down(line[i]):.1f}"
                  for i in range(0, len(line), max(1, len(line) // _POINTS))
                  if math.isfinite(line[i])]
        color = _COLORS[n % len(_COLORS)]
        out.append(f'<path d="M{"L".join(points)}" fill="none" stroke="{color}" '
                   f'stroke-width="2" stroke-linejoin="round"><title>{escape(name)}</title></path>'
                   if points else "")
        if len(lines) > 1 and n < len(_COLORS):
            out.append(f'<text x="{_WIDE - _RIGHT}" y="{_TOP + 14 * n + 8}" text-anchor="end" '
                       f'style="fill:{color}">{escape(name)}</text>')
    return "\n".join([*out, "</svg>"])


def _decades(values: Numbers) -> list[float]:
    first, last = math.floor(np.log10(values.min())), math.ceil(np.log10(values.max()))
    every = max(1, (last - first) // 6)
    return [10.0 ** i for i in range(first, last + 1, every)]


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers around a range, also of one value."""
    if high <= low:
        pad = abs(low) * 0.1 or 1.0
        low, high = low - pad, high + pad
    rough = (high - low) / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= rough * 0.999)
    return [i * step for i in range(math.floor(low / step), math.ceil(high / step) + 1)]


def table(rows: Sequence[tuple[str, Any]]) -> str:
    """Names and values, as HTML."""
    return "<table>" + "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(str(value))}</td></tr>'
        for name, value in rows) + "</table>"


def plot(lines: Mapping[str, Numbers], ax: Any = None) -> Any:
    """Draws lines by round on axes of matplotlib."""
    if ax is None:
        try:
            pyplot = import_module("matplotlib.pyplot")
        except ImportError:
            raise ImportError("plot draws with matplotlib: pip install 'zofl[plot]'; a notebook "
                              "shows a drawing without it") from None
        ax = pyplot.subplots()[1]
    for name, v in lines.items():
        ax.plot(np.arange(1, len(v) + 1), v, label=name)
    ax.set_xlabel("round")
    ax.set_ylabel("loss")
    every = [v[np.isfinite(v)] for v in lines.values()]
    values = np.concatenate(every) if every else np.empty(0)
    if values.size and values.min() > 0 and values.max() > 50 * values.min():
        ax.set_yscale("log")
    if len(lines) > 1:
        ax.legend()
    return ax


def frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A pandas.DataFrame: fields within metrics and settings have columns of their own."""
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise ImportError("to_frame makes a pandas.DataFrame: pip install pandas; without it, rows "
                          "has a dict for each round") from None
    flat = []
    for row in rows:
        out = {k: v for k, v in row.items() if k not in ("event", "metrics", "settings")}
        for group in ("settings", "metrics"):
            out.update(row.get(group) or {})
        flat.append(out)
    return pandas.DataFrame(flat)
