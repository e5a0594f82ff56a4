package aggregate

import (
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/loss"
	"github.com/zofl/zofl/coordinator/internal/perclass"
	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// total counts the contributions that a last stage received.
type total struct {
	count  uint32
	weight uint64
}

func (t *total) add(k *Contribution, loss *loss.Mean) {
	loss.Add(k.Loss, k.Weight)
	t.count++
	t.weight += uint64(k.Weight)
}

func (t *total) Total() (count uint32, weight uint64) { return t.count, t.weight }
func (t *total) Close()                               {}

// relay ends the chain of a record with a term for each contributor, in ascending order of slots.
// relay writes the bytes that arrived, unless a stage scaled the contribution down.
type relay struct {
	total
	chain         *Chain
	all           gather.Relayed
	perturbations int
	short         wire.Scalars
}

func (s *relay) Open(shape Shape) {
	s.perturbations = shape.Perturbations
	s.total = total{}
	s.all.Reset()
}

func (s *relay) Add(k *Contribution) {
	s.add(k, &s.chain.Loss)
	sent := k.Sent
	if k.Factor < 1 {
		p := s.chain.plan.Precision
		s.short = p.Scale(s.short[:0], k.Sent, s.perturbations, k.Factor)
		sent = s.short
	}
	s.all.Add(k.Slot, sent, k.Weight)
}

func (s *relay) Fill(at *Closing, body *wire.Round) {
	s.all.Sort()
	body.Terms = s.all.Terms()
	if at.Plan.Weights == plan.BySamples {
		body.Weights = s.all.Weights()
	}
	if at.Late.Count == 0 {
		return
	}
	body.Terms = at.Late.Terms(body.Terms, at.N, at.Number, at.weight(s.weight), at.Plan)
	if at.Plan.Weights == plan.BySamples {
		body.Weights = at.Late.Weights(body.Weights)
	}
}

// byGroup ends the chain of a record that has a term for each group with a contribution.
type byGroup struct {
	total
	chain      *Chain
	aggregator gather.Aggregator
}

func (s *byGroup) Open(shape Shape) { s.chain.held.Reset(shape.Scalars) }

func (s *byGroup) Add(k *Contribution) {
	s.add(k, &s.chain.Loss)
	s.chain.held.Add(k.Slot, k.Values, k.Weight)
}

func (s *byGroup) Fill(at *Closing, body *wire.Round) {
	groups := s.chain.held.ByGroup(at.Group, wiregroups.Count(at.Plan))
	if at.Plan.RelaysWeights() {
		body.Weights = gather.GroupWeights(groups)
	}
	for g := range groups {
		groups[g].Weigh(s.chain.parts.Groups.Weights)
	}
	body.Terms = gather.GroupTerms(groups, s.aggregator, at.Plan.TermPrecision())
}

// Heed passes the round's contributions to the policy that compares kinds of groups, and returns
// that policy's decision.
func (c *Chain) Heed() (found survey.Result) {
	if _, ok := c.End.(*byGroup); ok {
		found = survey.Result{Kind: wiregroups.Choice, Answers: c.Taken,
			Why: c.parts.Groups.Heed(c.plan, c.held.Rows(), c.held.Weights())}
	}
	return found
}

// byClass is like byGroup, but with scalars for each class of a device's samples.
type byClass struct {
	total
	chain *Chain
	held  perclass.Held
}

func (s *byClass) Open(shape Shape) {
	s.total = total{}
	s.held.Reset(shape.Perturbations)
}

func (s *byClass) Add(k *Contribution) {
	s.add(k, &s.chain.Loss)
	s.held.Add(k.Slot, s.chain.plan, k.Sent, k.Values)
}

func (s *byClass) Fill(at *Closing, body *wire.Round) {
	body.Terms = s.held.Terms(at.Plan, s.chain.parts.Groups)
}

// Rows ends the chain of a survey and keeps each answer.
type Rows struct {
	total
	*gather.Contributions
	loss *loss.Mean
}

func (s *Rows) Open(shape Shape) { s.Reset(shape.Scalars) }

func (s *Rows) Add(k *Contribution) {
	s.add(k, s.loss)
	s.Contributions.Add(k.Slot, k.Values, k.Weight)
}

// Fill does nothing, because the record of a survey is no round.
func (s *Rows) Fill(*Closing, *wire.Round) {}
