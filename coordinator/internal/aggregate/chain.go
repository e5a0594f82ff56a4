package aggregate

import (
	"io"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/grouping"
	"github.com/zofl/zofl/coordinator/internal/loss"
	"github.com/zofl/zofl/coordinator/internal/median"
	"github.com/zofl/zofl/coordinator/internal/robust"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A Chain is the stages of the open round. Its memory is used again from round to round. What
// stages know about devices lives as long as the run, because a change of the plan may add or
// remove a stage.
type Chain struct {
	End   End
	Taken uint32 // contributions that were taken, held or not
	Loss  loss.Mean
	Item  Contribution // the one that is taken now

	// Unread is why a plan with a bound could not read the log, and nil if it could.
	Unread error

	plan  *plan.Plan
	parts Parts
	first Stage

	bounds   *bounds        // nil: the round has none
	robust   *robust.Bounds // nil: no round had any
	past     *robust.Past   // nil: the plan has no bound
	claims   *claims        // nil: the round has no vectors
	claimed  claims
	controls gather.Controls
	sum      gather.Tally
	held     gather.Contributions
	relay    relay
	classes  byClass
}

// A Sum is the sum of contributions that nobody can see one by one.
type Sum interface {
	// Means returns the means of the scalars.
	Means() []float32
	// Result returns the mean of the losses of count devices.
	Result() (loss float32, count uint32)
}

// Parts holds what the stages of a run need in addition to its plan.
type Parts struct {
	Random io.Reader // where noise comes from
	Sum    Sum       // nil: contributions come one by one
	Groups *grouping.Chooser
	// First returns the first record of the log, and Records reads those that the log has.
	First   func() []byte
	Records func(each func(record []byte)) error
	Root    func(slot uint32) bool // whether the operator vouches for a member
	// More are stages outside this package, which come before its own. Each function returns a stage
	// that passes contributions on to next. If the plan needs no such stage, it returns next itself.
	More []func(p *plan.Plan, next Stage) Stage
	// Judged receives the verdict of robust aggregation on a contribution: the factor that shortened
	// it, and the share of its weight that its device lost.
	Judged func(slot uint32, factor, lost float64)
}

// New returns the chain of a plan, which may change between rounds.
func New(p *plan.Plan, parts Parts) Chain {
	return Chain{plan: p, parts: parts}
}

// A Shape is the number of values in a contribution: steps*P, or another number for a survey.
type Shape struct {
	Scalars, Perturbations int
	Survey                 bool // stages change no answer to a survey
}

// Open begins a round.
func (c *Chain) Open(shape Shape) {
	c.Taken = 0
	c.Loss.Reset()
	c.bounds, c.claims, c.End = nil, nil, c.end(shape)
	if c.first = c.End; !shape.Survey {
		c.first = c.filtered()
	}
	c.first.Open(shape)
}

// end returns the last stage of a round.
func (c *Chain) end(shape Shape) End {
	p, a := c.plan, gather.AggregatorOf(c.plan)
	m := mean{sum: &c.sum, loss: &c.Loss}
	if p.SendsControl() {
		m.controls = &c.controls
	}
	_, noise := p.Noisy()
	switch {
	case shape.Survey:
		return &Rows{Contributions: &c.held, loss: &c.Loss}
	case c.parts.Sum != nil:
		return &masked{mean: m, of: c.parts.Sum}
	case p.Classes > 0:
		c.classes.chain = c
		return &c.classes
	case p.Sharing == plan.GroupDirections:
		return &byGroup{chain: c, aggregator: a}
	case p.Transport == plan.Relay:
		c.relay.chain = c
		return &c.relay
	case p.Transport == plan.DenseVectors:
		return &dense{m}
	case a.Unsummed():
		return &middle{m, &c.held, a}
	case noise:
		return noisyOf(m, p, c.parts.Random)
	}
	return &m
}

// filtered returns the first stage of a round whose last stage is End.
func (c *Chain) filtered() (first Stage) {
	first = c.End
	if a := gather.AggregatorOf(c.plan); a.Clips() {
		first = &clip{first, a}
	}
	switch {
	case c.plan.Transport == plan.DenseVectors:
		c.claims = &c.claimed
		c.claims.Stage, first = first, c.claims
	case bounded(c.plan):
		first = c.bound(first)
	case c.robust != nil:
		c.robust.Rest()
	}
	for _, more := range c.parts.More {
		first = more(c.plan, first)
	}
	return first
}

// bounded says whether a round of a plan has robust bounds.
func bounded(p *plan.Plan) bool {
	return p.Bound > 0 || p.ClaimBound > 0 && p.Weights == plan.BySamples
}

// bound returns the stage of robust bounds before next.
func (c *Chain) bound(next Stage) Stage {
	if c.robust == nil {
		c.robust = &robust.Bounds{Root: c.parts.Root}
		c.robust.Remember(c.past)
	}
	c.robust.Begin(c.plan)
	c.bounds = &bounds{Stage: next, chain: c}
	return c.bounds
}

// Recall reads how long contributions were from the log, once, if the plan bounds them. A plan
// without a bound forgets it. Call Recall whenever the plan may have changed. If it fails, Unread
// says why, and the next call reads the log again.
func (c *Chain) Recall() error {
	c.Unread = nil
	switch {
	case c.plan.Bound == 0:
		c.past = nil
		return nil
	case c.past != nil:
		return nil
	}
	past := &robust.Past{}
	c.Unread = c.parts.Records(func(record []byte) { past.Note(c.parts.First(), record) })
	if c.Unread == nil {
		c.past = past
	}
	if c.robust != nil {
		c.robust.Remember(past)
	}
	return c.Unread
}

// Moved follows the log for a plan with a bound.
func (c *Chain) Moved(record []byte, r wire.Record) {
	switch {
	case r.Kind != wire.KindRound:
		_ = c.Recall() // see Unread
	case c.past != nil:
		c.past.Note(c.parts.First(), record)
	}
}

// Add takes the contribution that is in Item.
func (c *Chain) Add() {
	k := &c.Item
	k.Weight, k.Factor = c.WeightOf(k.Claim), 1
	c.Taken++
	c.first.Add(k)
}

// Close ends the round. End then holds what the record counts.
func (c *Chain) Close() { c.first.Close() }

// WeightOf returns the weight for a claimed number of samples.
func (c *Chain) WeightOf(claim uint32) uint32 {
	if c.plan.Weights != plan.BySamples {
		return 1
	}
	switch {
	case c.bounds != nil:
		claim = c.robust.Samples(claim)
	case c.claims != nil:
		claim = median.Samples(c.plan.ClaimBound, c.claims.usual, claim)
	}
	return min(claim, c.plan.MaxWeight)
}

// Trim changes a late contribution, which does not pass through the chain.
func (c *Chain) Trim(slot uint32, values []float32) {
	if c.bounds != nil {
		c.robust.Cut(slot, values)
	}
	gather.AggregatorOf(c.plan).Clip(values)
}

// Fits says whether the record has room for a control variate of this many bytes along record n.
func (c *Chain) Fits(n uint64, size, scalars int) bool {
	return c.controls.Fits(n, size, c.plan, scalars)
}

// Vouched says whether a root has contributed, if one must.
func (c *Chain) Vouched() bool { return c.bounds == nil || c.robust.Vouched() }

// Rooted says whether the plan has roots, without which no round closes.
func (c *Chain) Rooted() bool { return c.plan.Trust > 0 && len(c.plan.Roots) > 0 }

// Cuts is how many contributions and control variates were cut.
func (c *Chain) Cuts() uint64 {
	if c.robust == nil {
		return 0
	}
	return c.robust.Cuts
}

// Member returns how many of a member's were cut, and the share of its weight that it lost.
func (c *Chain) Member(slot uint32) (cuts uint32, lost float64) {
	if c.robust == nil {
		return 0, 0
	}
	return c.robust.Member(slot)
}

// Variates returns how many records the round's control variates are along.
func (c *Chain) Variates() int { return c.controls.Count() }
