package engine

import (
	"github.com/zofl/zofl/coordinator/internal/late"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// With Plan.Late = N a contribution that missed its record counts in a later record, along the
// older record's directions, discounted by its age. This file decides which late contributions
// count.
//
// The age of a contribution to record n' in record n is the number of n's round minus the number of
// the round of n'. Rounds are numbered along the log's path. So changes of the plan do not age a
// contribution, and a rollback drops contributions to records that the rollback undoes.
//
// A contribution counts at most once. So the coordinator accepts late contributions only to records
// that it closed itself, because it knows which devices contributed to these records. The
// coordinator drops, as late, contributions to a record that another epoch closed, or that was in
// the log when this coordinator started.

// isLate says whether a contribution is to a record that is closed, or is being appended.
func (c *Core) isLate(r *wire.Reply) bool {
	closed := r.N <= c.N || r.N == c.N+1 && (c.phase() == appending || c.phase() == failed)
	return c.Plan.Late > 0 && closed
}

// lateContribution keeps a contribution to a closed record until the next record counts it.
func (c *Core) lateContribution(m presence.Device, r *wire.Reply) {
	c.countLate(m, r)
	past := c.late.Past.Find(r.N)
	if fault := c.judgeLate(past, m, r); fault != nil {
		*fault++
		if fault == &c.counters.Late {
			c.tooLate(m, r)
		}
		return
	}
	past.Counted.Set(m, presence.Contributed)
	c.counters.Contributions++
	c.cohort.Took(m, past.N, false, c.now)
	c.chain.Trim(m.Slot, c.chain.Item.Values)
	of := late.Lateness{N: past.N, Number: past.Number, Own: c.transport.unsummed()}
	c.late.Waiting.Add(of, m.Slot, c.chain.Item.Values, c.chain.WeightOf(r.Weight), r.Loss)
}

// judgeLate reads a late contribution's numbers into the chain's Item. If the contribution does not
// count, fault is the counter of the reason. Otherwise fault is nil.
func (c *Core) judgeLate(past *late.Round, m presence.Device, r *wire.Reply) (fault *uint64) {
	switch {
	case past == nil || !c.late.Fresh(past.Number):
		return &c.counters.Late
	case r.Tip != past.Tip:
		return &c.counters.WrongTip
	case !past.Asked(m):
		return &c.counters.Unsampled
	case past.Knows(m, c.cohort.Roster.Stored):
		return &c.counters.Duplicate
	}
	steps := int(c.Plan.Steps)
	if fault := c.desk().Scalars(&c.chain.Item.Values, r, steps, past.Scalars/steps); fault != nil {
		return fault
	}
	if !c.hasLateRoom(past) {
		return &c.counters.Overflow
	}
	return nil
}

// hasLateRoom says whether a record still has room for a contribution to a round. A record of
// transport=relay has room for Plan.Target late contributions. A record of transport=mean has one
// term for each round, however many devices contributed, but the number of an open roster's devices
// is not bounded.
func (c *Core) hasLateRoom(past *late.Round) bool {
	switch {
	case past.Scalars > late.MostScalars(&c.Plan):
		return false // P was larger then
	case c.transport.unsummed():
		return c.late.Waiting.Count < c.Plan.Target
	}
	return !c.cohort.Beyond(len(past.Counted.IDs))
}

// collected returns how many contributions count towards the target and the quorum.
func (c *Core) collected() uint32 {
	if c.Plan.Async > 0 && c.round.survey == survey.None {
		return c.chain.Taken + c.late.Waiting.Count
	}
	return c.chain.Taken
}

// joinLate moves the waiting late contributions into the record that the core makes now. joinLate
// also remembers which devices contributed on time.
func (c *Core) joinLate() {
	l := &c.late
	if c.Plan.Late == 0 {
		return
	}
	l.Join()
	own := len(c.round.losses) > 0
	l.Joining.Losses(func(loss float32, weight uint32) {
		c.chain.Loss.Add(loss, weight)
		if !own { // older states' losses are better than none for the watch
			c.round.losses = append(c.round.losses, loss)
		}
	})
	l.Past.Add(late.Round{N: c.N + 1, Number: c.Rounds + 1, Tip: c.Hash.Tip(),
		Scalars: c.round.scalars, Asked: c.cohort.Everyone()}, &c.cohort.Answers)
}

// counts returns how many contributions the new record counts, and their weight.
func (c *Core) counts() (contributors uint32, weight uint64) {
	l := &c.late.Joining
	count, own := c.chain.End.Total()
	return count + l.Count, own + l.Weight
}
