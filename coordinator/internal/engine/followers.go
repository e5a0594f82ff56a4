package engine

import (
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/wire"
)

// catchUp has the followers stand where the log does.
func (c *Core) catchUp() {
	c.late = late{log: &c.Position, epoch: c.life.epoch}
	c.late.Past = gather.NewPast(!c.cohort.Roster.Open)
	c.evaluation.log, c.evaluation.tell, c.votes.log = &c.Position, c.emitEvent, &c.Position
	if c.N > 0 {
		c.evaluation.Moved(nil, wire.Record{})
		c.votes.Moved(nil, wire.Record{})
	}
	c.enlist(false)
}

// tell tells the followers of the log's last record. Where it changes the plan it tells all,
// because one may begin or end with it.
func (c *Core) tell(record []byte, r wire.Record) {
	changed := r.Kind == wire.KindChange
	if changed {
		c.enlist(true)
	}
	for _, f := range c.followers {
		f.Moved(record, r)
	}
	if changed {
		c.enlist(false)
	}
}

// enlist lists the followers that the plan asks for, or all.
func (c *Core) enlist(all bool) {
	p := &c.Plan
	c.followers = append(c.followers[:0], &c.cohort, &c.watch, &c.queue)
	for _, some := range []struct {
		asked bool
		one   policy.Follower
	}{
		{p.Bound > 0, &c.chain},
		{p.Late > 0, &c.late},
		{p.EvalEvery > 0 || c.evaluation.N > 0, &c.evaluation},
		{p.DigestEvery > 0, &c.votes},
	} {
		if all || some.asked {
			c.followers = append(c.followers, some.one)
		}
	}
	if c.vectors != nil {
		c.followers = append(c.followers, c.vectors)
	}
	if c.policy.Law != nil {
		c.followers = append(c.followers, c.policy.Law)
	}
}
