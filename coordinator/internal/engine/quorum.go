package engine

import (
	"math"

	"github.com/zofl/zofl/coordinator/internal/quorum"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// quorum returns how many answers the open round, or the open step of secure aggregation, has and
// needs. All code that decides whether the round may close uses this value.
func (c *Core) quorum() quorum.Quorum {
	r := &c.round
	q := quorum.Quorum{Have: c.chain.Taken, Least: c.Plan.Quorum, Most: c.Plan.Target,
		Waits: c.cohort.Pending, Open: c.cohort.Roster.Open,
		Short: c.halt.shortage.Waits, Paused: c.halt.Pause != nil}
	if c.Plan.Close == plan.CloseAtDeadline {
		q.All, q.Most = true, c.room()
	}
	switch {
	case c.stepping():
		q.Step, q.Short = true, false
		if r.survey != survey.None {
			q.Most = math.MaxUint32
		}
		return c.policy.Steps.Needs(q)
	case r.survey != survey.None && r.surveyor.All():
		q.Most = math.MaxUint32 // all that answer
	case r.survey == survey.None:
		q.Have, q.Must = c.collected(), !c.chain.Vouched()
	}
	return q
}

// room returns how many contributions a record counts of a plan that counts all who answer by the
// deadline. On an open roster [cohort.Cohort.Beyond] bounds them too.
func (c *Core) room() uint32 {
	p := &c.Plan
	switch own := p.Sharing == plan.PerClient || p.Control == plan.ScaffoldMean; {
	case own && p.Transport != plan.DenseVectors: // each takes a part of the record
		return p.Counted()
	case p.Liars > 0:
		return plan.MaxMixed
	}
	return math.MaxUint32
}
