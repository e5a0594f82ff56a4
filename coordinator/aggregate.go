package coordinator

import (
	"slices"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// prepare makes the round ready for contributions. One has K*P scalars, in a
// first phase P: devices look, and take no step. A dense one has a vector's.
func (c *core) prepare() {
	r := &c.round
	switch {
	case c.Dense():
		r.scalars = int(c.Plan.Object(r.phase))
	case r.phase == 1:
		r.scalars = int(r.perturbations)
	default:
		r.scalars = int(c.Plan.Steps) * int(r.perturbations)
	}
	if c.keeps() {
		c.sum.Reset(0)
	} else {
		c.sum.Reset(r.scalars)
	}
	c.kept.Reset(r.scalars)
	c.controls.Reset()
	c.uploads.Reset()
	c.loss.Reset()
	c.losses = c.losses[:0]
}

// keeps says whether contributions are kept rather than added.
func (c *core) keeps() bool {
	return c.Plan.Transport == wire.Relay ||
		c.Plan.Aggregator == wire.Median || c.Plan.Aggregator == wire.TrimmedMean
}

// take counts the contribution in c.values.
func (c *core) take(m member, weight uint32) {
	if c.Plan.Aggregator == wire.ClippedMean {
		gather.Clip(c.values, c.Plan.Clip)
	}
	if c.keeps() {
		c.kept.Add(m.slot, c.values, weight)
	}
	c.sum.Add(c.values, weight)
}

// body returns what the round came to.
func (c *core) body() *wire.Round {
	r := &c.round
	body := &wire.Round{
		Round:         c.Rounds + 1,
		Attempt:       r.attempt,
		Step:          r.step,
		Perturbations: r.perturbations,
		Contributors:  c.sum.Count,
		Phase:         r.phase,
	}
	if c.Dense() {
		c.object = c.vector()
		body.Object = c.object.Name.Digest[:]
		return body
	}
	precision := c.Plan.Precision
	if c.Plan.Transport == wire.Relay {
		c.kept.Sort()
		body.Terms = c.kept.Terms(precision)
		if c.Plan.Weights == wire.BySamples {
			body.Weights = c.kept.Weights()
		}
		return body
	}
	body.Terms = []wire.Term{{Source: prng.Shared, Scalars: precision.Append(nil, c.aggregate()...)}}
	body.Terms = c.controls.Terms(body.Terms, c.N+1, c.sum.Weight, precision)
	if c.Plan.Control == wire.ScaffoldMean {
		body.Slots = c.answers.contributors()
		body.Population = uint32(max(c.roster.stored, len(body.Slots)))
	}
	return body
}

// vector returns the mean of the contributors' vectors, for the next record.
func (c *core) vector() *runlog.Object {
	data := wire.AppendScalars(make([]byte, 0, 4*c.round.scalars), c.sum.Means()...)
	return &runlog.Object{Name: runlog.NameOf(c.N+1, c.epoch, data), Data: data}
}

// aggregate makes one of each scalar's values, as a float32: a record whose
// precision is less rounds it again.
func (c *core) aggregate() []float32 {
	switch c.Plan.Aggregator {
	case wire.Median:
		return c.kept.Combine(mathx.MedianOf)
	case wire.TrimmedMean:
		return c.kept.Combine(func(values []float32) float32 { return gather.TrimmedMean(values, c.Plan.Trim) })
	}
	return c.sum.Means()
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
