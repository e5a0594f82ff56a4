package cost

import (
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A transport is the part of a round's cost that depends on the plan's transport.
type transport interface {
	// fill completes the round's record of a phase.
	fill(s *sample, r *wire.Round)
	// add adds to c the cost of a contribution to the round's record i, by a device with an id.
	add(s *sample, c *Round, i int, id string)
}

func transportOf(p *plan.Plan) transport {
	switch p.Transport {
	case plan.Relay:
		return relayTransport{}
	case plan.DenseVectors:
		return denseTransport{}
	}
	return meanTransport{}
}

// meanTransport: a record has one term, and terms of older records for control variates.
type meanTransport struct{}

func (meanTransport) fill(s *sample, r *wire.Round) {
	p := s.plan
	r.Terms = []wire.Term{{Scalars: s.blob(s.blocks(r.Phase))}}
	switch {
	case r.Phase == 2 && p.SendsControl():
		r.Terms = append(r.Terms, wire.Term{Back: 1, Scalars: s.blob(s.variate(r.Phase))})
	case p.Control == plan.ScaffoldMean:
		r.Slots, r.Population = s.slots(), max(p.Members, p.Counted())
		for older := min(s.round-1, uint64(len(r.Slots))); older > 0; older-- {
			r.Terms = append(r.Terms,
				wire.Term{Back: s.round - older, Scalars: s.blob(s.variate(r.Phase))})
		}
	}
	for back := range min(s.round-1, uint64(p.Late)) {
		r.Terms = append(r.Terms,
			wire.Term{Back: 1 + back, Scalars: s.blob(s.blocks(r.Phase))})
	}
}

func (meanTransport) add(s *sample, c *Round, i int, id string) { s.addScalars(c, i, id) }

// relayTransport: a record has a term for each contributor, or for each group of contributors.
type relayTransport struct{ meanTransport }

func (relayTransport) fill(s *sample, r *wire.Round) {
	for group := range grouping.Count(s.plan) {
		s.relayOf(r, 0, group+1)
	}
	if len(r.Terms) > 0 {
		return
	}
	s.relay(r, 0)
	if p := s.plan; p.Late > 0 && p.Async == 0 && s.round > 1 {
		r.Contributors *= 2
		s.relay(r, min(s.round-1, uint64(p.Late)))
	}
}

// relay adds a term for each contributor, along the record that is back records earlier.
func (s *sample) relay(r *wire.Round, back uint64) {
	for _, slot := range s.slots() {
		s.relayOf(r, back, slot+1)
	}
}

// relayOf adds a term of the given source.
func (s *sample) relayOf(r *wire.Round, back uint64, source uint32) {
	r.Terms = append(r.Terms,
		wire.Term{Back: back, Source: source, Scalars: s.blob(s.blocks(r.Phase))})
	if s.plan.RelaysWeights() {
		r.Weights = append(r.Weights, s.plan.MaxWeight)
	}
}

// denseTransport: a record has the digest of a vector.
type denseTransport struct{}

func (denseTransport) fill(_ *sample, r *wire.Round) {
	r.Object = make(plan.Bytes, wire.ObjectLen)
}

func (denseTransport) add(s *sample, c *Round, i int, id string) { s.addVector(c, i, id) }
