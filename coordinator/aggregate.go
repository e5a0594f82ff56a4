package coordinator

import (
	"slices"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// prepare makes the round ready for contributions. One has K*P scalars, in a
// first phase P: devices look, and take no step. A dense one has a vector's.
func (c *core) prepare() {
	r := &c.round
	switch {
	case c.dense():
		r.scalars = int(c.plan.Object(r.phase))
	case r.phase == 1:
		r.scalars = int(r.perturbations)
	default:
		r.scalars = int(c.plan.Steps) * int(r.perturbations)
	}
	if c.keeps() {
		c.sum.reset(0)
	} else {
		c.sum.reset(r.scalars)
	}
	c.kept.reset(r.scalars)
	c.controls.reset()
	c.uploads.reset()
	c.loss.Reset()
	c.losses = c.losses[:0]
}

// keeps says whether contributions are kept rather than added.
func (c *core) keeps() bool {
	return c.plan.Transport == wire.Relay ||
		c.plan.Aggregator == wire.Median || c.plan.Aggregator == wire.TrimmedMean
}

// take counts the contribution in c.values.
func (c *core) take(m member, weight uint32) {
	if c.plan.Aggregator == wire.ClippedMean {
		clip(c.values, c.plan.Clip)
	}
	if c.keeps() {
		c.kept.add(m.slot, c.values, weight)
	}
	c.sum.add(c.values, weight)
}

// body returns what the round came to.
func (c *core) body() *wire.Round {
	r := &c.round
	body := &wire.Round{
		Round:         c.rounds + 1,
		Attempt:       r.attempt,
		Step:          r.step,
		Perturbations: r.perturbations,
		Contributors:  c.sum.count,
		Phase:         r.phase,
	}
	if c.dense() {
		c.object = c.vector()
		body.Object = c.object.name.Digest[:]
		return body
	}
	precision := c.plan.Precision
	if c.plan.Transport == wire.Relay {
		c.kept.sort()
		body.Terms = c.kept.terms(precision)
		if c.plan.Weights == wire.BySamples {
			body.Weights = c.kept.weights()
		}
		return body
	}
	body.Terms = []wire.Term{{Source: prng.Shared, Scalars: precision.Append(nil, c.aggregate()...)}}
	body.Terms = c.controls.terms(body.Terms, c.n+1, c.sum.weight, precision)
	if c.plan.Control == wire.ScaffoldMean {
		body.Slots = c.answers.contributors()
		body.Population = uint32(max(c.roster.stored, len(body.Slots)))
	}
	return body
}

// vector returns the mean of the contributors' vectors, for the next record.
func (c *core) vector() *vector {
	data := wire.AppendScalars(make([]byte, 0, 4*c.round.scalars), c.sum.means()...)
	return &vector{ObjectName{N: c.n + 1, Epoch: c.epoch, Digest: wire.HashObject(data)}, data}
}

// aggregate makes one of each scalar's values, as a float32: a record whose
// precision is less rounds it again.
func (c *core) aggregate() []float32 {
	switch c.plan.Aggregator {
	case wire.Median:
		return c.kept.combine(mathx.MedianOf)
	case wire.TrimmedMean:
		return c.kept.combine(func(values []float32) float32 { return trimmedMean(values, c.plan.Trim) })
	}
	return c.sum.means()
}

// contributors returns the slots of who contributed, ascending; the roster is
// dense.
func (a *answers) contributors() []uint32 {
	var slots []uint32
	for _, slot := range a.given {
		if a.slots[slot]&contributed != 0 {
			slots = append(slots, slot)
		}
	}
	slices.Sort(slots)
	return slots
}
