package coordinator

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/wire"
)

// A history is what rollbacks need of a log: what it came to after each record.
// It grows with the records that are no rounds, not with the log.
//
// Invariants:
//  1. A stretch is of the records from its n up to the next stretch's: after
//     record n+i it had come to rounds+i, by the plan with the index plan.
//  2. Stretches ascend by n; the first begins with record 1.
type history struct {
	plans     []wire.Plan // each as a record made it
	stretches []stretch
}

type stretch struct {
	n      uint64
	rounds uint64
	plan   int
}

// add notes what p is after its last record, which is of a kind.
func (h *history) add(p *position, kind wire.RecordKind) {
	switch kind {
	case wire.KindPlan, wire.KindChange, wire.KindRollback:
		h.plans = append(h.plans, p.plan)
	case wire.KindRound:
		if last := h.stretches[len(h.stretches)-1]; p.rounds-last.rounds == p.n-last.n {
			return
		}
	}
	h.stretches = append(h.stretches, stretch{p.n, p.rounds, len(h.plans) - 1})
}

// at returns the plan and the number of the last round after record n, which is
// of the history.
func (h *history) at(n uint64) (wire.Plan, uint64) {
	i, found := slices.BinarySearchFunc(h.stretches, n, func(s stretch, n uint64) int { return cmp.Compare(s.n, n) })
	if !found {
		i--
	}
	s := h.stretches[i]
	return h.plans[s.plan], s.rounds + (n - s.n)
}
