package engine

import (
	"slices"

	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/gather"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/steer"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// prepare makes the round ready for contributions.
func (c *Core) prepare() {
	c.aggregator = gather.AggregatorOf(&c.Plan)
	if c.round.scalars = c.round.survey.Values(); c.round.survey == survey.None {
		c.round.scalars = c.transport.size(c)
	}
	c.guard.Begin(&c.Plan, &c.Past)
	if c.sum.Reset(c.sizeOfSum()); c.guard.Holds() {
		c.sum.Reset(0)
	}
	c.held.Reset(c.round.scalars)
	c.classed.Reset(int(c.round.perturbations))
	c.relayed.Reset()
	c.controls.Reset()
	c.uploads.Reset()
	c.loss.Reset()
	c.losses, c.slopes = c.losses[:0], c.slopes[:0]
}

// isRoot says whether the operator vouches for a member.
func (c *Core) isRoot(slot uint32) bool {
	return slices.Contains(c.Plan.Roots, c.roster.IDs[slot])
}

// sizeOfSum returns how many scalars are summed.
func (c *Core) sizeOfSum() int {
	if c.unsummed() {
		return 0
	}
	return c.round.scalars
}

// unsummed says whether contributions are held, and not just added.
func (c *Core) unsummed() bool {
	return c.transport.unsummed() || c.aggregator.Unsummed() || c.round.survey != survey.None
}

// take counts a contribution, whose numbers are in c.values and c.control. control is the record of
// its control variate, 0 for none.
func (c *Core) take(m gather.Member, r *wire.Reply, control uint64) {
	weight := c.weightOf(r)
	if c.round.survey != survey.None {
		c.held.Add(m.Slot, c.values, weight)
		c.sum.Add(nil, weight)
		c.loss.Add(r.Loss, weight)
		return
	}
	if !c.guard.Holds() {
		c.add(m.Slot, r, control)
		return
	}
	c.guard.Hold(m.Slot, r, c.values, control, c.control)
	c.sum.Add(nil, weight)
	c.controls.Add(control, c.control, weight) // to know whether the next one fits
}

// addHeld adds the contributions that were held until the round closes. It leaves c.values and
// c.control as they are: the next replies are read into them, and held ones are the guard's.
func (c *Core) addHeld() {
	held, values, control := c.guard.Close(), c.values, c.control
	if !c.guard.Holds() {
		return
	}
	c.sum.Reset(c.sizeOfSum())
	c.controls.Reset()
	c.trusted = false
	for _, k := range held {
		c.trusted = c.trusted || c.guard.Weight(k.Slot, c.weightOf(&k.Reply)) > 0
	}
	for _, k := range held {
		c.values, c.control = k.Values, k.Variate
		c.add(k.Slot, &k.Reply, k.Control)
	}
	c.values, c.control = values, control
}

// add adds a contribution to the round's sums. What is relayed are the bytes that came, unless
// something shortens them.
func (c *Core) add(slot uint32, r *wire.Reply, control uint64) {
	c.veil.Cut(c.values)
	factor, weight := c.guard.Cut(slot, c.values), c.guard.Weight(slot, c.weightOf(r))
	if c.guard.Holds() { // mended since: without bounds a contribution counts in full
		c.judged(slot, factor)
	}
	switch {
	case c.guard.Holds() && !c.trusted: // mended since: nobody counts, and nothing moves
		clear(c.values)
		weight = c.weightOf(r)
	case weight == 0:
		return
	}
	c.loss.Add(r.Loss, weight)
	if control > 0 {
		c.guard.CutVariate(slot, c.control)
		c.controls.Add(control, c.control, weight)
	}
	factor *= c.aggregator.Clip(c.values)
	switch {
	case c.Plan.Classes > 0:
		c.classed.Add(slot, &c.Plan, r.Values, c.values)
	case c.groups != nil:
		c.held.Add(slot, c.values, weight)
	case c.transport.unsummed() && factor < 1:
		c.clipped = c.Plan.Precision.Scale(c.clipped[:0], r.Values, int(c.round.perturbations), factor)
		c.relayed.Add(slot, c.clipped, weight)
	case c.transport.unsummed():
		c.relayed.Add(slot, r.Values, weight)
	case c.aggregator.Unsummed():
		c.held.Add(slot, c.values, weight)
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
		past := steer.Past{Step: c.LastStep.Size, Round: c.LastStep.Round,
			Factor: c.Squares.Factor(&c.Plan, body.Round, body.Terms)}
		body.StepSize = c.law.Next(&c.Plan, past, body.Round, body.Terms, c.losses, c.slopes)
		r.step = body.StepSize
	}
	return body
}
