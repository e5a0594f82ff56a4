package engine

import (
	"slices"

	"github.com/zofl/zofl/coordinator/internal/aggregate"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// prepare makes the round ready for contributions.
func (c *Core) prepare() {
	r := &c.round
	if c.policy.Law != nil {
		r.perturbations = c.policy.Law.Open(r.perturbations)
	}
	shape := aggregate.Shape{Perturbations: int(r.perturbations), Survey: r.survey != survey.None}
	if shape.Survey {
		shape.Scalars = r.survey.ValuesOf(&c.Plan)
	} else {
		shape.Scalars = c.transport.size(c)
	}
	r.scalars = shape.Scalars
	c.chain.Open(shape)
	if c.vectors != nil {
		c.vectors.Reset()
	}
}

// isRoot says whether the operator trusts a member.
func (c *Core) isRoot(slot uint32) bool {
	return slices.Contains(c.Plan.Roots, c.cohort.Roster.IDs[slot])
}

// take counts a contribution, whose numbers are in the chain's Item. control is the record of the
// contribution's control variate, 0 for none.
func (c *Core) take(slot uint32, r *wire.Reply, control uint64) {
	k := &c.chain.Item
	k.Slot, k.Claim, k.Loss, k.Sent, k.Control = slot, r.Weight, r.Loss, r.Values, control
	c.chain.Add()
}

// body returns the record of the round, and passes the round's losses to the watch.
func (c *Core) body() *wire.Round {
	r := &c.round
	contributors, _ := c.counts()
	body := &wire.Round{
		Round:         c.Rounds + 1,
		Attempt:       c.cohort.Attempt.Number,
		StepSize:      r.step,
		Factor:        r.factor,
		Perturbations: r.perturbations,
		Contributors:  contributors,
		Phase:         r.phase,
	}
	c.fill(body)
	if c.policy.Losses != nil {
		rise, luck := c.policy.Losses.Compare(body, r.losses)
		r.rise = rise
		c.watch.Lucky(luck)
	}
	c.observe()
	if c.policy.Law != nil {
		body.StepSize = c.policy.Law.Next(&c.Position, body, r.losses)
		r.step = body.StepSize
	}
	return body
}
