package engine

import (
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// An Attempt is the set of devices that an attempt at a record asks.
type Attempt struct {
	Number uint32
	Cohort wire.Cohort
	Draw   uint64       // the record for which the cohort is drawn, see [plan.Plan.Draw]
	Named  policy.Named // these, and nobody else; nil: the cohort
}

// Asks says whether the attempt asks a device.
func (a *Attempt) Asks(run string, slot uint32, id string) bool {
	if a.Named != nil {
		return a.Named.Has(slot)
	}
	if a.Cohort.Members > 0 && a.Cohort.Sampled >= uint64(a.Cohort.Members) {
		return slot < a.Cohort.Members
	}
	return a.Cohort.Has(run, a.Draw, a.Number, slot, id)
}

// choose decides which devices an attempt asks. Some surveys ask everybody. So does a run with
// roots, because no round closes without one: a cohort always has the roots.
func (c *Core) choose(number uint32) Attempt {
	a := Attempt{Number: number, Cohort: c.draw(number), Draw: c.Plan.Draw(c.N+1, c.Point.N)}
	if r := &c.round; r.survey != survey.None && r.surveyor.All() || c.chain.Rooted() {
		a.Cohort.Sampled = uint64(a.Cohort.Members)
	}
	if c.named() {
		a.Named = c.policy.Groups.Choose(c.Rounds+1, number, standing{c})
		a.Cohort.Sampled = uint64(a.Named.Count())
	}
	return a
}
