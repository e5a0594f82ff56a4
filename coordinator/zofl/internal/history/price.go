package history

import (
	"math/bits"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan/cost"
)

// A price is the cost of a round for a device, as plan/cost computes it. A price is valid until the
// plan changes, or until the round's number takes more bytes in frames.
type price struct {
	perturbations  uint32
	length         int // of the round's number, in bytes
	up, down, asks uint64
}

// measure adds to a point the numbers of dropped messages and the costs.
func (h *History) measure(run Run, p *Point) {
	if run == nil {
		return
	}
	drops := run.Status().Counters.Drops()
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, d := range drops {
		before := uint64(0)
		if i < len(h.dropped) {
			before = h.dropped[i].Count
		}
		if d.Count > before {
			if p.Rejected == nil {
				p.Rejected = map[string]uint64{}
			}
			p.Rejected[d.Cause] = d.Count - before
		}
	}
	h.dropped = drops
	if p.Phase == 1 {
		p.Queries = h.queries
		return
	}
	length := (bits.Len64(p.Round) + 7) / 8
	if h.price.asks == 0 || h.price.length != length || h.price.perturbations != p.Perturbations {
		plan := run.Plan()
		r := cost.Of(&plan, cost.Input{Round: p.Round})
		h.price = price{p.Perturbations, length, uint64(r.Up.Socket), uint64(r.Down.Socket), r.Queries}
	}
	h.queries += h.price.asks
	p.BytesUp, p.BytesDown, p.Queries = h.price.up, h.price.down, h.queries
}

// reprice discards the price if an event may have changed the plan, so that the next round computes
// it again.
func (h *History) reprice(e *report.Event) {
	switch e.Kind {
	case report.Changed, report.RolledBack, report.Surveyed, report.Adopted:
		h.mu.Lock()
		defer h.mu.Unlock()
		h.price = price{}
	}
}
