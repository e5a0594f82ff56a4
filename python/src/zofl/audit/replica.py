"""The model of a run as a replay of its records."""

from __future__ import annotations

import numpy as np

from . import record as records
from .arithmetic import check_arithmetic
from .directions import F32
from .errors import LogError
from .key import run_key
from .plan import Plan
from .record import Record, Round
from .replay import Applied
from .state import State, initial, segments, shapes


class Replica:
    """Checks records against the chain and applies them to a state."""

    def __init__(self, secret: bytes | None = None, given: F32 | None = None,
                 keep: set[int] | None = None) -> None:
        check_arithmetic()
        self.secret, self.given = secret, given
        self.keep = keep or set()  # records that rollbacks return to
        self.states: dict[int, State] = {}
        self.state: State | None = None

    def apply(self, data: bytes) -> Record:
        """Applies the log's next record."""
        r = records.read(data)
        if self.state is None:
            self._begin(r, data)
        else:
            follows(r, self.state.n, self.state.hash, self.state.ended)
            self._next(r, data)
        assert self.state is not None
        if r.n in self.keep:
            self.states[r.n] = self.state.copy()
        return r

    def _begin(self, r: Record, data: bytes) -> None:
        plan = Plan(r.values)
        if r.kind != records.PLAN or r.prev != records.genesis(plan.run):
            raise LogError("the log does not begin with the plan of its run")
        check_plan(plan)
        state = State(plan, data, run_key(plan, self.secret))
        state.n, state.hash, state.epoch = 1, records.hash_record(data), r.epoch
        state.begin(initial(plan, state.key, self.given))
        if plan.pool:
            state.x0 = state.vectors["x"].copy()
        self.state = state

    def _next(self, r: Record, data: bytes) -> None:
        state = self.state
        assert state is not None
        if r.kind == records.ROLLBACK:
            if r.to not in self.states:
                raise LogError(f"record {r.n}: a rollback to record {r.to}, which is not at hand")
            state = self.state = self.states[r.to].copy()
        state.n, state.hash, state.epoch = r.n, records.hash_record(data), r.epoch
        if r.kind == records.CHANGE:
            changed = state.plan.changed(r.values)
            check_plan(changed)
            state.plan = changed
            if state.evolution is not None and r.values.get("step", 0) > 0:
                state.evolution.sigma = np.float64(np.float32(changed.step))
        elif r.kind == records.END:
            state.ended = True
        elif r.round is not None:
            try:
                self._round(state, r.round)
            except LogError as error:
                raise LogError(f"record {r.n}: {error}") from None

    def _round(self, state: State, r: Round) -> None:
        check(state, r)
        if state.plan.transport == "dense":
            self._dense(state, r)
            return
        with np.errstate(all="ignore"):  # a diverged model has infinities
            Applied(state, r).apply()

    def _dense(self, state: State, r: Round) -> None:
        first = r.phase == 1
        if state.plan.estimator == "surrogate":
            place = "x" if first else "w"
        else:
            place = "c" if first else "x"
        state.missing[place] = r.object
        state.phase = state.n if first else 0
        state.rounds += not first

    def supply(self, data: bytes) -> None:
        """Gives the vector that a record names, by its digest."""
        state, name = self.state, records.hash_object(data)
        assert state is not None
        for place, digest in list(state.missing.items()):
            if digest == name:
                self._place(state, place, np.frombuffer(data, "<f4").astype(np.float32))
                del state.missing[place]

    def _place(self, state: State, place: str, vector: F32) -> None:
        dim = state.plan.dim
        both = place == "x" and state.plan.control == "scaffold-2"
        want = state.plan.features if place == "w" else 2 * dim if both else dim
        if len(vector) != want or not np.isfinite(vector).all():
            raise LogError(f"record {state.n}: not {want} finite numbers in its vector")
        if place == "w":
            state.w = vector
            return
        state.vectors[place] = vector[:dim].copy()
        if both:
            state.vectors["c"] = vector[dim:].copy()


def check_plan(plan: Plan) -> None:
    """What the replay needs of a plan. Which fields go together it does not judge."""
    needs = {"dim": 1, "steps": 1, "perturbations": 1, "rebase": int(plan.pool > 0),
             "subspace_moves": int(plan.distribution == "subspace"),
             "features": int(plan.estimator == "surrogate")}
    for name, least in needs.items():
        if getattr(plan, name) < least:
            raise LogError(f"the plan has {name}={getattr(plan, name)}, at least {least}")
    for name, most in {"dim": 1 << 41, "steps": 65535, "perturbations": 65535, "pool": 65536,
                       "subspace_moves": 64, "features": 65536}.items():
        if getattr(plan, name) > most:
            raise LogError(f"the plan has {name}={getattr(plan, name)}, at most {most}")
    segments(plan)
    matrices = any(s.rows for s in shapes(plan))
    if plan.distribution == "lowrank" and (not matrices or plan.pool):
        raise LogError("the plan has distribution=lowrank with a pool, or without a matrix")
    if len(plan.boxes) not in (0, 1, len(plan.segments)):
        raise LogError(f"the plan has {len(plan.boxes)} boxes for {len(plan.segments)} segments")
    scalars_travel = plan.transport != "dense"
    simple = plan.control == "none" and plan.distribution != "subspace" and not plan.pool
    if scalars_travel and plan.estimator == "surrogate":
        raise LogError("the plan has a surrogate without transport=dense")
    if not scalars_travel and (plan.pool or plan.distribution == "subspace"):
        raise LogError("the plan has transport=dense with a pool or a subspace")
    if plan.pool and (plan.transport != "mean" or plan.control != "none"
                      or plan.distribution == "subspace" or plan.server_rule != "mean"):
        raise LogError("the plan has a pool with fields that exclude it")
    if plan.server_rule == "normalized" and not (simple and scalars_travel and plan.steps == 1):
        raise LogError("the plan has server_rule=normalized with fields that exclude it")
    if plan.server_rule == "cma":
        if not (simple and plan.transport == "mean" and plan.steps == 1 and not plan.late
                and plan.distribution == "normal" and plan.rule == "sgd"):
            raise LogError("the plan has server_rule=cma with fields that exclude it")
        if plan.covariance == "full" and plan.dim > 1000:
            raise LogError(f"the plan has covariance=full of {plan.dim} parameters")
    if plan.control != "none" and plan.transport == "relay":
        raise LogError("the plan has control variates with transport=relay")
    if scalars_travel and plan.rule in ("adam", "sign"):
        raise LogError(f"the plan has rule={plan.rule} without transport=dense")


def follows(r: Record, n: int, hash_: bytes, ended: bool) -> None:
    """Whether r is the record after n."""
    if ended:
        raise LogError(f"record {r.n} comes after the end")
    if r.n != n + 1:
        raise LogError(f"record {r.n} follows record {n}")
    if r.prev != hash_:
        raise LogError(f"record {r.n} does not follow the hash of record {n}")


def check(state: State, r: Round) -> None:
    """What a round of the plan must be, beyond its form: docs/replay.md, "Refused"."""
    plan = state.plan
    if r.step < 0 or (r.step == 0 and plan.server_rule != "normalized"):
        raise LogError(f"a step of {r.step}")
    if r.factor <= 0 or (r.factor != 1 and plan.server_rule in ("mean", "normalized", "cma")):
        raise LogError(f"a factor of {r.factor}")
    if r.perturbations == 0:
        raise LogError("no perturbations")
    if plan.server_rule == "cma" and (np.float32(r.step) != np.float32(plan.step)
                                      or not 4 <= r.perturbations <= most_candidates(plan)):
        raise LogError(f"{r.perturbations} candidates of step {r.step}")
    phase = 0 if not two_phases(plan) else 2 if state.phase else 1
    if r.phase != phase:
        raise LogError(f"phase {r.phase}, not {phase}")
    counted = plan.distribution == "subspace" or plan.pool
    if counted and r.round != state.rounds + 1:
        raise LogError(f"round {r.round} after {state.rounds} rounds")
    if plan.transport == "dense":
        if not r.object or r.terms or r.slots or r.weights or r.population:
            raise LogError("not the vector alone that a dense round has")
        return
    check_terms(plan, r)


def most_candidates(plan: Plan) -> int:
    """The most candidates of a round of server_rule=cma."""
    grown = plan.perturbations * (64 if plan.perturbations_auto == "on" else 1)
    return int(min(grown << min(plan.restarts, 16), 14 << 10))


def check_terms(plan: Plan, r: Round) -> None:
    """Whose terms a round may have, and how many."""
    relay = plan.transport == "relay"
    late = plan.late > 0
    weighted = relay and plan.weights != "equal"
    if r.object or not r.terms:
        raise LogError("no terms, or a vector beside them")
    for i, t in enumerate(r.terms):
        own = (t.back == 0 or not late) if relay else i == 0
        if (own and t.back) or (t.source > 0) != relay:
            raise LogError(f"term {i} along {t.back} records back, of source {t.source}")
        if not own and (t.back == 0 or (plan.control in ("none", "svrg") and not late)):
            raise LogError(f"term {i} along {t.back} records back")
    if r.phase and len(r.terms) != (1 if plan.control == "svrg" else r.phase):
        raise LogError(f"{len(r.terms)} terms in phase {r.phase}")
    if len(r.weights) != (len(r.terms) if weighted else 0):
        raise LogError(f"{len(r.weights)} weights")
    if plan.control == "scaffold-2":
        if not 0 < r.contributors <= r.population:
            raise LogError(f"{r.contributors} contributors of {r.population}")
    elif r.population:
        raise LogError("a population, which the plan does not have")


def two_phases(plan: Plan) -> bool:
    return bool(plan.control in ("scaffold-1", "svrg") or plan.estimator == "surrogate")
