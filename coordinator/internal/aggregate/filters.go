package aggregate

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/median"
	"github.com/zofl/zofl/coordinator/internal/robust"
	"github.com/zofl/zofl/wire"
)

// clip scales contributions down to the plan's clipping norm, for aggregator=clipped-mean.
type clip struct {
	Stage
	aggregator gather.Aggregator
}

func (s *clip) Add(k *Contribution) {
	k.Factor *= s.aggregator.Clip(k.Values)
	s.Stage.Add(k)
}

// claims notes how many samples vectors claim, to bound later claims, because the coordinator
// cannot hold vectors until a round closes. claims notes them even while the plan does not bound
// claims, because no record has the claims.
type claims struct {
	Stage
	now   []float64 // of the open round
	past  *median.Running
	usual float64 // before the open round
}

func (s *claims) Open(shape Shape) {
	s.now, s.usual = s.now[:0], s.past.Value()
	s.Stage.Open(shape)
}

func (s *claims) Add(k *Contribution) {
	s.now = append(s.now, float64(k.Claim))
	s.Stage.Add(k)
}

func (s *claims) Close() {
	s.past.Add(median.Lower(s.now))
	s.Stage.Close()
}

// bounds holds contributions until the round closes. Then bounds passes on what package robust
// leaves of the contributions.
type bounds struct {
	Stage
	chain *Chain
	now   Contribution
}

func (s *bounds) Add(k *Contribution) {
	r := wire.Reply{Values: k.Sent, Weight: k.Claim, Loss: k.Loss}
	s.chain.robust.Hold(k.Slot, &r, k.Values, k.Control, k.Variate)
	if k.Length > 0 {
		s.chain.robust.Sent(k.Length)
	}
	s.chain.controls.Add(k.Control, k.Variate, k.Weight) // to know whether the next one fits
}

func (s *bounds) Close() {
	g, now := s.chain.robust, &s.now
	held := g.Close()
	s.chain.controls.Reset()
	trusted := s.trusted(held)
	for i := range held {
		k := &held[i]
		*now = Contribution{Slot: k.Slot, Sent: k.Reply.Values, Claim: k.Reply.Weight,
			Loss: k.Reply.Loss, Values: k.Values, Control: k.Control, Variate: k.Variate}
		out, longest := g.Out(k.Values), g.Longest(k.Values)
		now.Factor = g.Cut(k.Slot, k.Values)
		now.Weight = g.Weight(k.Slot, s.chain.WeightOf(k.Reply.Weight))
		switch {
		case !trusted:
			clear(now.Values)
			now.Weight = s.chain.WeightOf(now.Claim)
		case now.Weight == 0, out:
			continue
		}
		now.Factor *= robust.Shorten(k.Values, longest)
		if k.Control > 0 {
			g.CutVariate(k.Slot, k.Variate)
		}
		s.Stage.Add(now)
	}
	s.Stage.Close()
	for _, slot := range g.Reports() {
		s.chain.parts.Suspected(slot)
	}
}

// neighbors holds contributions until the round closes, and then mixes each with those nearest to
// it, before any other stage: a contribution that was cut would no longer be far from the others.
type neighbors struct {
	Stage
	liars   uint32
	held    []Contribution
	numbers []float32 // that held refers to
}

func (s *neighbors) Open(shape Shape) {
	clear(s.held)
	s.held, s.numbers = s.held[:0], s.numbers[:0]
	s.Stage.Open(shape)
}

func (s *neighbors) Add(k *Contribution) {
	one, at := *k, len(s.numbers)
	one.Length = robust.Length(k.Values)
	s.numbers = append(s.numbers, k.Values...)
	one.Sent, one.Values = nil, s.numbers[at:len(s.numbers):len(s.numbers)]
	s.held = append(s.held, one)
}

func (s *neighbors) Close() {
	slices.SortFunc(s.held, func(a, b Contribution) int { return cmp.Compare(a.Slot, b.Slot) })
	all := make([][]float32, len(s.held))
	for i := range s.held {
		all[i] = s.held[i].Values
	}
	robust.Mix(all, s.liars)
	for i := range s.held {
		s.Stage.Add(&s.held[i])
	}
	s.Stage.Close()
}

// trusted says whether any contribution has weight. If none has, the round must not move the model.
func (s *bounds) trusted(held []robust.Contribution) bool {
	for i := range held {
		if k := &held[i]; s.chain.robust.Weight(k.Slot, s.chain.WeightOf(k.Reply.Weight)) > 0 {
			return true
		}
	}
	return false
}
