package runlog

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/wire"
)

// A history is what rollbacks and control variates need of a log: what it came to
// after each record. It grows with the records that are no rounds and with
// changes of P, not with the log.
//
// Invariants:
//  1. A stretch is of the records from its n up to the next stretch's. All but the
//     first are rounds, or by turns their first and second phases, with the same
//     number of perturbations.
//  2. Stretches ascend by n; the first begins with record 1.
type history struct {
	plans     []wire.Plan // each as a record made it
	stretches []stretch
}

type stretch struct {
	n             uint64
	follows       uint64 // the record whose state n goes on from: n-1, or that of a rollback
	round         bool   // record n is a round, or a phase of one
	rounds        uint64 // number of the last round after record n
	point         Point  // after record n
	perturbations uint32 // of the rounds in it
	plan          int    // index of the plan after record n
}

// add notes what p is after its last record, which is r.
func (h *history) add(p *Position, r *wire.Record) {
	s := stretch{n: p.N, follows: p.N - 1, rounds: p.Rounds, point: p.Point}
	switch r.Kind {
	case wire.KindPlan, wire.KindChange, wire.KindRollback:
		h.plans = append(h.plans, p.Plan)
	case wire.KindRound:
		if h.extend(p, r.Round.Perturbations) {
			return
		}
		s.round, s.perturbations = true, r.Round.Perturbations
	}
	if r.Kind == wire.KindRollback {
		s.follows = r.To
	}
	s.plan = len(h.plans) - 1
	h.stretches = append(h.stretches, s)
}

// extend says whether a round is as the last stretch goes on.
func (h *history) extend(p *Position, perturbations uint32) bool {
	s := &h.stretches[len(h.stretches)-1]
	first := p.N == s.n+1 && !s.round // the stretch has no rounds yet
	if !first && perturbations != s.perturbations {
		return false
	}
	next := *s // that begins between two phases goes no further
	next.perturbations = perturbations
	if rounds, point := h.after(&next, p.N); rounds != p.Rounds || point != p.Point {
		return false
	}
	s.perturbations = perturbations
	return true
}

// after returns the number of the last round and the point after record n of s.
func (h *history) after(s *stretch, n uint64) (rounds uint64, at Point) {
	i := n - s.n
	switch {
	case i == 0:
		return s.rounds, s.point
	case h.plans[s.plan].Phases() == 1:
		return s.rounds + i, Point{}
	case i%2 == 1:
		return s.rounds + i/2, Point{n, s.perturbations}
	}
	return s.rounds + i/2, Point{}
}

// at returns the plan, the number of the last round and the point after record n,
// which is of the history.
func (h *history) at(n uint64) (plan wire.Plan, rounds uint64, at Point) {
	s := &h.stretches[h.find(n)]
	rounds, at = h.after(s, n)
	return h.plans[s.plan], rounds, at
}

// find returns the index of the stretch that has record n, from 1.
func (h *history) find(n uint64) int {
	i, found := slices.BinarySearchFunc(h.stretches, n, func(s stretch, n uint64) int { return cmp.Compare(s.n, n) })
	if !found {
		i--
	}
	return i
}

// round returns the perturbations of record n if it is a round that the state
// after record last has in it: one that no rollback undid.
func (h *history) round(n, last uint64) (perturbations uint32, ok bool) {
	for i := h.find(last); n > 0 && n <= last; {
		s := &h.stretches[i]
		if n >= s.n {
			return s.perturbations, n > s.n || s.round
		}
		if last = s.follows; last == s.n-1 {
			i--
		} else {
			i = h.find(last)
		}
	}
	return 0, false
}

// last returns the last rounds, or phases of rounds, that the state after record n
// has in it, the newest first: count of them, fewer if there are no more.
func (h *history) last(n uint64, count int) (rounds []uint64) {
	for n > 0 && len(rounds) < count {
		s := &h.stretches[h.find(n)]
		for ; n > s.n && len(rounds) < count; n-- {
			rounds = append(rounds, n)
		}
		if s.round && len(rounds) < count {
			rounds = append(rounds, s.n)
		}
		n = s.follows
	}
	return rounds
}

// Round returns the perturbations of record n if it is a round that the state after
// the last record has in it: one that no rollback undid.
func (p *Position) Round(n uint64) (perturbations uint32, ok bool) { return p.history.round(n, p.N) }

// At returns the plan, the number of the last round and the point after record n,
// which is one of 1..N.
func (p *Position) At(n uint64) (plan wire.Plan, rounds uint64, at Point) { return p.history.at(n) }
