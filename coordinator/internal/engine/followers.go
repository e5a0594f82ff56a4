package engine

import (
	"slices"

	"github.com/zofl/zofl/coordinator/internal/late"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/wire"
)

// catchUp brings the followers to the log's position.
func (c *Core) catchUp() {
	c.late = late.Work{Log: &c.Position, Epoch: c.life.epoch}
	c.late.Past.Listed = !c.cohort.Roster.Open
	c.evaluation.log, c.evaluation.tell, c.votes.log = &c.Position, c.emitEvent, &c.Position
	if c.N > 0 {
		c.evaluation.Moved(nil, wire.Record{})
		c.votes.Moved(nil, wire.Record{})
	}
	c.enlist()
}

// tell passes the log's last record to the followers, and to followers that begin with that record,
// because a change or a rollback gives the run another plan.
func (c *Core) tell(record []byte, r wire.Record) {
	for _, f := range c.followers {
		f.Moved(record, r)
	}
	if r.Kind == wire.KindRound {
		return
	}
	c.resurvey()
	before := slices.Clone(c.followers)
	c.enlist()
	for _, f := range c.followers {
		if !slices.Contains(before, f) {
			f.Moved(record, r)
		}
	}
}

// resurvey adds the surveys that a change of the plan asks for to the surveys that the run already
// had.
func (c *Core) resurvey() {
	old := c.policy.Surveys
	all := c.life.policies(&c.Position).Surveys
	if n := len(all) - len(old); n > 0 {
		c.policy.Surveys = append(all[:n:n], old...)
	}
}

// enlist lists the followers that the plan asks for.
func (c *Core) enlist() {
	p := &c.Plan
	c.followers = append(c.followers[:0], &c.cohort, &c.watch, &c.queue)
	for _, some := range []struct {
		asked bool
		one   policy.Follower
	}{
		{p.Bound > 0, &c.chain},
		{p.Late > 0, &c.late},
		{p.EvalEvery > 0 || c.evaluation.N > 0, &c.evaluation},
		{p.Best != "" && c.bests.begin(c), &c.bests},
		{p.DigestEvery > 0, &c.votes},
	} {
		if some.asked {
			c.followers = append(c.followers, some.one)
		}
	}
	if c.vectors != nil {
		c.followers = append(c.followers, c.vectors)
	}
	if c.policy.Law != nil {
		c.followers = append(c.followers, c.policy.Law)
		if c.policy.Requests != nil && c.requests.begin(c) {
			c.followers = append(c.followers, &c.requests)
		}
	}
}
