"""The server rules and the history subspace, one rounding an operation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .directions import F32, blocked_sum

F64 = NDArray[np.float64]
ONE = np.float32(1)


def momentum(m: F32, beta: np.float32, gain: np.float32, v: F32) -> None:
    """m = beta m + gain v."""
    m *= beta
    m += gain * v


def adaptive_step(
    rule: str, x: F32, moments: Sequence[F32], alpha: np.float32, beta1: np.float32,
    beta2: np.float32, epsilon: np.float32, delta: F32,
) -> None:
    """adam, amsgrad, yogi and adagrad; moments are m, v and, for amsgrad, the largest v."""
    m, v = moments[0], moments[1]
    momentum(m, beta1, ONE - beta1, delta)
    gain, square = ONE - beta2, delta * delta
    if rule == "yogi":
        move = gain * square
        down, up = v > square, v < square
        np.subtract(v, move, out=v, where=down)
        np.add(v, move, out=v, where=up)
    elif rule == "adagrad":
        v += square
    else:
        v *= beta2
        v += gain * square
    if rule == "amsgrad":
        largest = moments[2]
        np.copyto(largest, v, where=v > largest)
        v = largest
    x += alpha * (m / np.sqrt(v + epsilon))


def sign_step(x: F32, alpha: np.float32, delta: F32) -> None:
    """x moves by alpha along the sign of each element; NaN stays visible."""
    np.add(x, alpha, out=x, where=delta > 0)
    np.subtract(x, alpha, out=x, where=delta < 0)
    np.copyto(x, delta, where=np.isnan(delta))


def gram(columns: F32) -> F64:
    """The upper triangle of A^T A; columns has a column a row."""
    wide = columns.astype(np.float64)
    g = np.zeros((len(columns), len(columns)))
    for j in range(len(columns)):
        for i in range(j + 1):
            g[i, j] = blocked_sum(wide[i] * wide[j])
    return g


def cholesky(g: F64) -> F64:
    """R of A = QR, with columns of zeros for those that depend on earlier ones."""
    count = len(g)
    r = np.zeros((count, count))
    if not np.isfinite(g).all():
        return r
    largest = float(max(g.diagonal()))
    dropped = [False] * count
    for j in range(count):
        pivot = float(g[j, j])
        for i in range(j):
            if dropped[i]:
                continue
            s = float(g[i, j])
            for k in range(i):
                s -= float(r[k, i]) * float(r[k, j])
            r[i, j] = s / float(r[i, i])
            pivot -= float(r[i, j]) * float(r[i, j])
        if pivot > 1e-10 * largest:
            r[j, j] = math.sqrt(pivot)
        else:
            dropped[j] = True
            r[:, j] = 0
    return r


def orthonormalize(columns: F32, r: F64) -> F32:
    """Q = A R^-1, in float64, rounded once."""
    q = np.zeros(columns.shape)
    for j in range(len(columns)):
        if r[j, j] == 0:
            continue
        t = columns[j].astype(np.float64)
        for i in range(j):
            t -= r[i, j] * q[i]
        q[j] = t / r[j, j]
    return q.astype(np.float32)
