package runlog

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A history returns the run's plan and round after any record, for rollbacks and control variates.
// A history needs memory for every record that is not a round, and for every change of the number
// of perturbations P, but not for every round.
//
// Invariants:
//  1. A stretch covers the records from its n up to the n of the next stretch. All its records
//     after record n are rounds with the same number of perturbations, or the first and second
//     phases of such rounds in turn.
//  2. Stretches ascend by n; the first begins with record 1.
type history struct {
	plans     []plan.Plan // after each record that changed the plan
	stretches []stretch
}

type stretch struct {
	n             uint64
	follows       uint64 // the record that n continues: n-1, or the record to which a rollback returns
	round         bool   // record n is a round, or a phase of one
	rounds        uint64 // number of the last round after record n
	point         Point  // after record n
	perturbations uint32 // of the stretch's rounds
	plan          int    // index of the plan after record n
}

// add notes the state p after its last record r.
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

// extend adds the round record p.N to the last stretch if the stretch can cover it, and says
// whether it did.
func (h *history) extend(p *Position, perturbations uint32) bool {
	s := &h.stretches[len(h.stretches)-1]
	first := p.N == s.n+1 && !s.round // the stretch has no round yet
	if !first && perturbations != s.perturbations {
		return false
	}
	next := *s // a stretch that begins between two phases cannot be extended
	next.perturbations = perturbations
	if rounds, point := h.after(&next, p.N); rounds != p.Rounds || point != p.Point {
		return false
	}
	s.perturbations = perturbations
	return true
}

// after returns the number of the last round and the point after record n, which s covers.
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

// at returns the plan, the number of the last round and the point after record n.
func (h *history) at(n uint64) (plan plan.Plan, rounds uint64, at Point) {
	s := &h.stretches[h.find(n)]
	rounds, at = h.after(s, n)
	return h.plans[s.plan], rounds, at
}

// find returns the index of the stretch that covers record n >= 1.
func (h *history) find(n uint64) int {
	i, found := slices.BinarySearchFunc(h.stretches, n,
		func(s stretch, n uint64) int { return cmp.Compare(s.n, n) })
	if !found {
		i--
	}
	return i
}

// round returns the perturbations of record n if it is a round on the path to record last, which no
// rollback has undone.
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

// last returns the records of the newest count rounds, or phases of rounds, on the path to record
// n, newest first. The list is shorter if the path has fewer.
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

// Round returns the perturbations of record n if it is a round on the path to the last record,
// which no rollback has undone.
func (p *Position) Round(n uint64) (perturbations uint32, ok bool) {
	return p.history.round(n, p.N)
}

// At returns the plan, the number of the last round and the point after record n, which is in 1..N.
func (p *Position) At(n uint64) (plan plan.Plan, rounds uint64, at Point) { return p.history.at(n) }
