"""A round of the log, applied: docs/replay.md."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import pool, rules, scalars
from .directions import F32
from .errors import LogError
from .record import Round
from .state import State, segments
from .terms import Part, Terms

F64 = np.float64


class Applied:
    """One round applied to a state."""

    def __init__(self, state: State, r: Round) -> None:
        self.state, self.plan, self.r = state, state.plan, r
        self.terms = Terms(state)
        self.eta = np.float32(r.step) * self.terms.step_scale

    # What the record says, as parts of sums.

    def part(self, index: int, count: int = 0) -> Part:
        """A term as its scalars; count is the number of local steps."""
        t = self.r.terms[index]
        precision = self.plan.precision
        if self.plan.sharing == "groups" and scalars.few_bits(precision):
            precision = "half"  # means of groups
        own = t.back == 0
        g = scalars.decode(t.scalars, precision, count or self.plan.steps,
                           self.r.perturbations if own else 0)
        return Part(self.state.n - t.back, t.source, g, g)

    def parts(self) -> tuple[list[Part], list[int]]:
        """All terms of a plain round with their coefficients, and the own terms' weights."""
        relay = self.plan.transport == "relay"
        parts = [self.part(i) for i in range(len(self.r.terms))]
        weights = self.r.weights or [1] * len(parts)
        total = sum(weights)
        for part, w in zip(parts, weights):
            if relay:
                divisor = F64(total * part.g.shape[1])
                part.a = (part.g.astype(np.float64) * F64(w) / divisor).astype(np.float32)
            else:
                part.a = part.g / np.float32(part.g.shape[1])
        return parts, [w for w, t in zip(weights, self.r.terms) if t.back == 0]

    # A round.

    def apply(self) -> None:
        plan, state = self.plan, self.state
        if plan.control in ("scaffold-1", "svrg") and self.r.phase == 1:
            state.means = self.part(0, 1).g[0].copy()
            state.phase = state.n
            return
        if plan.server_rule == "normalized":
            self.normalized()
        elif state.evolution is not None:
            state.evolution.apply(state.vectors["x"], self.terms.key(state.n),
                                  plan.perturbations, self.part(0).g[0])
        else:
            self.local_steps()
        state.rounds += 1
        if plan.pool and state.rounds % plan.rebase == 0:
            rebased(state)

    def local_steps(self) -> None:
        plan, state = self.plan, self.state
        x = state.vectors["x"]
        base = x.copy()
        parts, correction, older, share = self.corrected()
        start = None if state.pool is None else state.pool.a.copy()
        for k, v in enumerate(self.terms.sums(parts, plan.steps)):
            if share is not None:
                state.vectors["S"] += share * v
            if correction is not None:
                v += correction
            if plan.prox:
                v += np.float32(plan.prox) * (x - base)
            if plan.weight_decay:
                v += np.float32(plan.weight_decay) * x
            self.descend(x, v)
            if state.pool is not None and start is not None:
                state.pool.step(plan, self.pooled(parts, k), start, np.float32(self.r.step))
        if older is not None:
            state.vectors["S"] += np.float32(-self.r.contributors) * older
        state.population = self.r.population
        state.phase, state.means = 0, np.zeros(0, np.float32)
        self.server(x, base)
        self.trail(x - base)

    def descend(self, x: F32, v: F32) -> None:
        rule, beta = self.plan.rule, np.float32(self.plan.beta)
        if rule != "sgd":
            m = self.state.vectors["m"]
            rules.momentum(m, beta, rules.ONE - beta if rule == "momentum" else rules.ONE, v)
            v = m
        x -= self.eta * v

    def corrected(self) -> tuple[list[Part], F32 | None, F32 | None, np.float32 | None]:
        """The parts of the round; correction, older and m/K of control variates."""
        if self.plan.control == "none":
            return self.parts()[0], None, None, None
        own = self.part(0)
        own.a = own.g / np.float32(own.g.shape[1])
        if self.plan.control in ("scaffold-1", "svrg"):
            return [own], self.point(), None, None
        older = np.zeros(self.plan.dim, np.float32)
        parts = [self.part(i) for i in range(1, len(self.r.terms))]
        for part in parts:
            part.a = part.g / np.float32(part.g.size)
        if parts:
            older = self.terms.whole(parts)
        n = self.state.population
        inverse = np.float32(1) / np.float32(n) if n else np.float32(0)
        correction = inverse * self.state.vectors["S"] - older
        share = np.float32(self.r.contributors) / np.float32(self.plan.steps)
        return [own], correction, older if parts else None, share

    def point(self) -> F32:
        """The correction of scaffold-1 or svrg, along the directions of phase 1."""
        c = self.state.means
        if self.plan.control == "svrg":
            g = c.reshape(1, -1)
            t = Part(self.state.phase, 0, g, g / np.float32(len(c)))
            return next(self.terms.sums([t], 1))
        t = self.part(1, 1)
        if t.n != self.state.phase or t.g.shape[1] != len(c):
            raise LogError("phase 2 does not have the scalars of its phase 1")
        t.a = (c - t.g) / np.float32(len(c))
        return next(self.terms.sums([t], 1))

    def server(self, x: F32, base: F32) -> None:
        plan, rule = self.plan, self.plan.server_rule
        if rule == "mean":
            return
        delta = x - base
        x[:] = base
        step = np.float32(F64(np.float32(plan.server_step)) * F64(np.float32(self.r.factor)))
        beta1, beta2 = np.float32(plan.server_beta1), np.float32(plan.server_beta2)
        vectors = self.state.vectors
        if rule == "sgd":
            x += step * delta
        elif rule == "momentum":
            rules.momentum(vectors["sm"], beta1, rules.ONE, delta)
            x += step * vectors["sm"]
        elif rule == "sign":
            rules.sign_step(x, step, delta)
        else:
            moments = [vectors[name] for name in ("sm", "sv", "sl") if name in vectors]
            rules.adaptive_step(rule, x, moments, step, beta1, beta2,
                                np.float32(plan.server_epsilon), delta)

    def trail(self, move: F32) -> None:
        state, tau = self.state, self.plan.subspace_moves
        if state.trail is None:
            return
        state.trail[state.rounds % tau] = move
        if (state.rounds + 1) % tau == 0:
            newest = np.ascontiguousarray(state.trail[::-1])
            state.basis = rules.orthonormalize(newest, rules.cholesky(rules.gram(newest)))

    # Rule normalized.

    def normalized(self) -> None:
        plan, state = self.plan, self.state
        parts, weights = self.parts()
        u = self.mean_square(parts[: len(weights)], weights)
        v = next(self.terms.sums(parts, 1))
        beta1, beta2 = np.float32(plan.server_beta1), np.float32(plan.server_beta2)
        state.p1 = state.p1 * F64(beta1)
        if u != 0:
            state.v = F64(beta2) * state.v + (F64(1) - F64(beta2)) * u
            state.p2 = state.p2 * F64(beta2)
        m, x = state.vectors["sm"], state.vectors["x"]
        rules.momentum(m, beta1, rules.ONE - beta1, v)
        for s in segments(plan):
            part = slice(s.start, s.stop)
            a = F64(np.float32(self.r.step)) * F64(s.step_scale)
            keep = np.float32(F64(1) - F64(np.float32(plan.server_decay)) * a)
            if keep != 1:
                x[part] *= keep
            rate = self.rate(a)
            if rate != 0 and np.isfinite(rate):
                x[part] -= rate * m[part]

    def rate(self, a: np.float64) -> np.float32:
        s = self.state
        if s.v == 0:
            return np.float32(0)
        return np.float32(a / ((F64(1) - s.p1) * np.sqrt(s.v / (F64(1) - s.p2))))

    def mean_square(self, parts: Sequence[Part], weights: Sequence[int]) -> np.float64:
        if not parts:
            return F64(0)
        total, over = F64(0), F64(0)
        for part, w in zip(parts, weights):
            s = F64(0)
            for c in part.g[0]:
                s += F64(c) * F64(c)
            total += F64(w) * s
            over += F64(w * part.g.shape[1])
        u = total / over
        return u * F64(self.plan.dim) if self.plan.distribution == "sphere" else u

    # Seed pool.

    def pooled(self, parts: Sequence[Part], k: int) -> list[tuple[int, np.float32]]:
        """Of each term of a step the index in the pool and the coefficient."""
        return [(pool.index(w, self.plan.pool), self.terms.slope(a))
                for part in parts for w, a in zip(self.terms.addresses(part, k), part.a[k])]


def rebased(state: State) -> None:
    """Computes x and m of a pool from its coefficients."""
    coefficients, terms = state.pool, Terms(state)
    assert coefficients is not None
    x = terms.step_scale * terms.along_pool(coefficients.a)
    state.vectors["x"] = np.float32(coefficients.a[-1]) * state.x0 + x
    if coefficients.b is not None:
        m = terms.along_pool(coefficients.b)
        state.vectors["m"] = np.float32(coefficients.b[-1]) * state.x0 + m
