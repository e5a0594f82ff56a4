package engine

import (
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/steer"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// prepare makes the round ready for contributions.
func (c *Core) prepare() {
	c.aggregator = gather.AggregatorOf(&c.Plan)
	if c.round.scalars = c.round.survey.Values(); c.round.survey == survey.None {
		c.round.scalars = c.transport.size(c)
	}
	if c.unsummed() {
		c.sum.Reset(0)
	} else {
		c.sum.Reset(c.round.scalars)
	}
	c.held.Reset(c.round.scalars)
	c.relayed.Reset()
	c.controls.Reset()
	c.uploads.Reset()
	c.loss.Reset()
	c.losses, c.slopes = c.losses[:0], c.slopes[:0]
}

// unsummed says whether contributions are held, and not just added.
func (c *Core) unsummed() bool {
	return c.transport.unsummed() || c.aggregator.Unsummed() || c.round.survey != survey.None
}

// take counts a contribution, whose numbers are in c.values. What is relayed are the bytes that
// came, unless the aggregator shortens them.
func (c *Core) take(m gather.Member, r *wire.Reply, weight uint32) {
	if c.round.survey != survey.None {
		c.held.Add(m.Slot, c.values, weight)
		c.sum.Add(nil, weight)
		return
	}
	factor := c.aggregator.Clip(c.values)
	switch {
	case c.groups != nil:
		c.held.Add(m.Slot, c.values, weight)
	case c.transport.unsummed() && factor < 1:
		c.clipped = c.Plan.Precision.Scale(c.clipped[:0], r.Values, int(c.round.perturbations), factor)
		c.relayed.Add(m.Slot, c.clipped, weight)
	case c.transport.unsummed():
		c.relayed.Add(m.Slot, r.Values, weight)
	case c.aggregator.Unsummed():
		c.held.Add(m.Slot, c.values, weight)
	}
	c.sum.Add(c.values, weight)
}

// body returns the record of the round.
func (c *Core) body() *wire.Round {
	r := &c.round
	contributors, _ := c.counts()
	body := &wire.Round{
		Round:         c.Rounds + 1,
		Attempt:       r.attempt,
		StepSize:      r.step,
		Factor:        r.factor,
		Perturbations: r.perturbations,
		Contributors:  contributors,
		Phase:         r.phase,
	}
	c.transport.fill(c, body)
	if c.Plan.StepAuto > 0 {
		past := steer.Past{Step: c.LastStep.Size, Round: c.LastStep.Round}
		body.StepSize = c.law.Next(&c.Plan, past, body.Round, body.Terms, c.slopes)
		r.step = body.StepSize
	}
	return body
}
