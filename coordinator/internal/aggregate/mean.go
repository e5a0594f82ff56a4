package aggregate

import (
	"io"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/loss"
	"github.com/zofl/zofl/coordinator/internal/robust"
	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// mean ends the chain of a record with one term, the mean of all contributions. The record also has
// a term for each older record along which devices sent control variates.
type mean struct {
	sum      *gather.Tally
	loss     *loss.Mean
	controls *gather.Controls // nil: the plan has none
}

func (s *mean) Open(shape Shape) {
	s.sum.Reset(shape.Scalars)
	if s.controls != nil {
		s.controls.Reset()
	}
}

func (s *mean) Add(k *Contribution) {
	s.loss.Add(k.Loss, k.Weight)
	if s.controls != nil && k.Control > 0 {
		s.controls.Add(k.Control, k.Variate, k.Weight)
	}
	s.sum.Add(k.Values, k.Weight)
}

func (s *mean) Close() {}

func (s *mean) Total() (count uint32, weight uint64) { return s.sum.Count, s.sum.Weight }

func (s *mean) Fill(at *Closing, body *wire.Round) {
	var means []float32
	if weight := at.weight(s.sum.Weight); weight > 0 {
		means = s.sum.MeansOver(weight)
	}
	s.fill(at, body, means)
}

func (s *mean) fill(at *Closing, body *wire.Round, means []float32) {
	precision := at.Plan.Precision // each float32 is rounded to it
	body.Terms = []wire.Term{{Source: prng.Shared, Scalars: precision.Append(nil, means...)}}
	if at.Late.Count > 0 {
		body.Terms = at.Late.Terms(body.Terms, at.N, at.Number, at.weight(s.sum.Weight), at.Plan)
	}
	if s.controls != nil {
		body.Terms = s.controls.Terms(body.Terms, at.N, s.sum.Weight, precision)
	}
	if at.Plan.Control == plan.ScaffoldMean {
		body.Slots = at.Contributors()
		body.Population = uint32(max(at.Population, len(body.Slots)))
	}
}

// middle is like mean, but with medians or trimmed means. Late contributions belong to other
// records, so middle uses none.
type middle struct {
	mean
	held       *gather.Contributions
	aggregator gather.Aggregator
}

func (s *middle) Open(shape Shape) {
	s.mean.Open(Shape{})
	s.held.Reset(shape.Scalars)
}

func (s *middle) Add(k *Contribution) {
	s.held.Add(k.Slot, k.Values, k.Weight)
	s.mean.Add(k)
}

func (s *middle) Fill(at *Closing, body *wire.Round) {
	s.fill(at, body, s.aggregator.Combine(s.sum, s.held))
}

// noisy is like mean, with dp_by=coordinator: noisy clips contributions, and adds noise once to
// their sum. The noise is added exactly, before the sum is rounded: rounding first could reveal
// something about the exact sum. Only the record is published. So a coordinator that dies before
// the log has the record leaves no trace of the noise. A coordinator that takes over draws other
// noise, for the only record of that index.
type noisy struct {
	mean
	mechanism dpnoise.Mechanism
	random    io.Reader
}

func noisyOf(m mean, p *plan.Plan, random io.Reader) *noisy {
	if random == nil {
		panic("coordinator: internal error: noise without Config.Random")
	}
	return &noisy{m, dpnoise.New(p.DPClip, p.DPNoise), random}
}

func (s *noisy) Add(k *Contribution) {
	s.mechanism.Clip(k.Values)
	s.mean.Add(k)
}

func (s *noisy) Close() {
	count, weight := s.Total()
	more := make([]float32, s.sum.Len())
	s.mechanism.Noise(more, s.random)
	s.sum.Add(more, 1)
	s.sum.Count, s.sum.Weight = count, weight // the noise is no contributor
}

// dense ends the chain of a record with the digest of the mean of the contributors' vectors.
type dense struct{ mean }

func (s *dense) Add(k *Contribution) {
	s.sum.AddScalars(k.Sent, k.Weight)
	s.loss.Add(k.Loss, k.Weight)
}

func (s *dense) Fill(at *Closing, _ *wire.Round) {
	at.Vector = wire.AppendScalars(make([]byte, 0, 4*s.sum.Len()), s.sum.Means()...)
}

// masked ends the chain of a plan with secure aggregation. No single contribution passes through
// masked.
type masked struct {
	mean
	of   Sum
	sums *robust.Sums // nil: the plan has no bound
}

func (s *masked) Close() {
	loss, count := s.of.Result()
	s.sum.Count, s.sum.Weight = count, uint64(count)
	s.loss.Add(loss, count)
}

func (s *masked) Fill(at *Closing, body *wire.Round) {
	means := s.of.Means()
	if s.sums != nil {
		s.sums.Cut(at.Plan.Bound, means)
	}
	s.fill(at, body, means)
}
