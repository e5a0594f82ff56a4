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

// A Chain holds the stages of the open round. Rounds use the Chain's memory again. What stages know
// about devices lives as long as the run, because a change of the plan may add or remove a stage.
type Chain struct {
	End   End
	Taken uint32 // contributions that were taken, held or not
	Loss  loss.Mean
	Item  Contribution // the one that is taken now

	// Unread is the error if a plan with a bound could not read the log, and otherwise nil.
	Unread error

	plan  *plan.Plan
	parts Parts
	first Stage

	bounds   *bounds        // nil: the round has none
	robust   *robust.Bounds // nil: no round had any
	past     *robust.Past   // nil: the plan has no bound
	sums     *robust.Sums   // the same of a plan with secure aggregation
	claims   *claims        // nil: the round has no vectors
	claimed  claims
	mixed    neighbors
	controls gather.Controls
	sum      gather.Tally
	held     gather.Contributions
	relay    relay
	classes  byClass
}

// A Sum is the sum of contributions that the coordinator cannot see one by one.
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
	// Claims has how many samples vectors claimed in the last rounds; nil: the plan's rounds have no
	// vectors, or weights do not depend on claims.
	Claims *median.Running
	// First returns the first record of the log, and Records calls each with every record of the log.
	First   func() []byte
	Records func(each func(record []byte)) error
	Root    func(slot uint32) bool // whether the operator vouches for a member
	// More are stages outside this package, which come before the package's stages. Each function
	// returns a stage that passes contributions on to next. If the plan needs no such stage, the
	// function returns next itself.
	More []func(p *plan.Plan, next Stage) Stage
	// Suspected receives members whose last contributions make them suspects: at first, and then more
	// and more rarely.
	Suspected func(slot uint32)
}

// New returns the chain of a plan. The plan may change between rounds.
func New(p *plan.Plan, parts Parts) Chain {
	return Chain{plan: p, parts: parts}
}

// A Shape is the number of values in a contribution: steps*P in a round, another number in a
// survey.
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
		if p.Bound == 0 {
			c.sums = nil // the follower of a plan without a bound hears of no records
		}
		return &masked{mean: m, of: c.parts.Sum, sums: c.sums}
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
	case c.parts.Claims != nil:
		c.claims, c.claimed.past = &c.claimed, c.parts.Claims
		c.claims.Stage, first = first, c.claims
	case bounded(c.plan):
		first = c.bound(first)
	case c.robust != nil:
		c.robust.Rest()
	}
	if c.plan.Liars > 0 {
		c.mixed.Stage, c.mixed.liars = first, c.plan.Liars
		first = &c.mixed
	}
	for _, more := range c.parts.More {
		first = more(c.plan, first)
	}
	return first
}

// bounded says whether a plan's rounds have robust bounds.
func bounded(p *plan.Plan) bool {
	return p.Bound > 0 && !p.Summed() || p.ClaimBound > 0 && p.Weights == plan.BySamples
}

// bound returns a stage that applies robust bounds and passes contributions on to next.
func (c *Chain) bound(next Stage) Stage {
	if c.robust == nil {
		c.robust = &robust.Bounds{Root: c.parts.Root}
		c.robust.Remember(c.past)
	}
	c.robust.Begin(c.plan)
	c.bounds = &bounds{Stage: next, chain: c}
	return c.bounds
}

// Recall reads once from the log how long contributions were, if the plan bounds their length. If
// the plan has no bound, Recall forgets the lengths. Call Recall whenever the plan may have
// changed. If Recall fails, Unread has the error, and the next call reads the log again.
func (c *Chain) Recall() error {
	c.Unread = nil
	switch {
	case c.plan.Bound == 0:
		c.past = nil
		return nil
	case c.past != nil:
		return nil
	case c.parts.Sum != nil:
		return c.recallSums()
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

// Moved notes the log's next record for a plan with a bound.
func (c *Chain) Moved(record []byte, r wire.Record) {
	switch {
	case c.sums != nil:
		c.sums.Note(c.parts.First(), record)
	case r.Kind != wire.KindRound:
		_ = c.Recall() // see Unread
	case c.past != nil:
		c.past.Note(c.parts.First(), record)
	}
}

// recallSums does the work of Recall for a plan with secure aggregation.
func (c *Chain) recallSums() error {
	if c.sums != nil {
		return nil
	}
	sums := &robust.Sums{}
	c.Unread = c.parts.Records(func(record []byte) { sums.Note(c.parts.First(), record) })
	if c.Unread == nil {
		c.sums = sums
	}
	return c.Unread
}

// Add passes the contribution in Item to the first stage.
func (c *Chain) Add() {
	k := &c.Item
	k.Weight, k.Factor = c.WeightOf(k.Claim), 1
	c.Taken++
	c.first.Add(k)
}

// Close ends the round. End then has all contributions that the record counts.
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

// Trim scales down a late contribution, because late contributions do not pass through the chain.
func (c *Chain) Trim(slot uint32, values []float32) {
	if c.bounds != nil {
		c.robust.Cut(slot, values)
		c.robust.Limit(values)
	}
	gather.AggregatorOf(c.plan).Clip(values)
}

// Fits says whether the record has room for a control variate of size bytes along record n.
func (c *Chain) Fits(n uint64, size, scalars int) bool {
	return c.controls.Fits(n, size, c.plan, scalars)
}

// Vouched says whether a root has contributed, or the plan needs no root's contribution.
func (c *Chain) Vouched() bool { return c.bounds == nil || c.robust.Vouched() }

// Rooted says whether the plan has roots. No round of such a plan closes without a root's
// contribution.
func (c *Chain) Rooted() bool { return c.plan.Trust > 0 && len(c.plan.Roots) > 0 }

// Bounded says whether any round of this coordinator had robust bounds, or a bound of its mean.
func (c *Chain) Bounded() bool { return c.robust != nil || c.sums != nil }

// Cuts is the number of contributions and control variates that robust bounds scaled down, or of
// means with secure aggregation.
func (c *Chain) Cuts() uint64 {
	switch {
	case c.robust != nil:
		return c.robust.Cuts
	case c.sums != nil:
		return c.sums.Cuts
	}
	return 0
}

// Member returns how many contributions and control variates of a member were scaled down, and the
// share of its weight that the member lost.
func (c *Chain) Member(slot uint32) (cuts uint32, lost float64) {
	if c.robust == nil {
		return 0, 0
	}
	return c.robust.Member(slot)
}

// A Suspect is a member whose last contributions stand out.
type Suspect = robust.Suspect

// Suspects returns the members whose last contributions were far longer than usual, or contradicted
// the others. With soon, Suspects also returns members with only a few contributions, all bad.
func (c *Chain) Suspects(soon bool) []Suspect {
	if c.robust == nil {
		return nil
	}
	return c.robust.Suspects(soon)
}

// Remembers says whether this coordinator has seen enough contributions to judge members.
func (c *Chain) Remembers() bool { return c.robust != nil && c.robust.Remembers() }

// Variates returns the number of records along whose directions the round has control variates.
func (c *Chain) Variates() int { return c.controls.Count() }
