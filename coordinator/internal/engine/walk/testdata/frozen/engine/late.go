package engine

import (
	"slices"

	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/gather"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/grouping"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// With Plan.Late = N a contribution that missed its record counts in a later one: along the older
// record's directions, discounted by its age. This file decides which contributions these are.
//
// The age of a contribution to record n' in record n is the number of n's round less that of n'.
// Rounds are numbered along the log's path, so changes do not age a contribution, and a rollback
// drops those to records that it undoes.
//
// A contribution counts at most once. The coordinator therefore takes late ones only to records
// that it closed itself, of which it knows who counted. Contributions to a record that another
// epoch closed, or that this coordinator found in the log when it started, are dropped as late.

// isLate says whether a contribution is to a record that was closed, or is being appended.
func (c *Core) isLate(r *wire.Reply) bool {
	closed := r.N <= c.N || r.N == c.N+1 && (c.phase == appending || c.phase == failed)
	return c.Plan.Late > 0 && closed
}

// lateContribution keeps a contribution to a closed record for the next one.
func (c *Core) lateContribution(m gather.Member, r *wire.Reply) {
	c.countLate(m, r)
	past := c.lateWork.Past.Find(r.N)
	if fault := c.judgeLate(past, m, r); fault != nil {
		*fault++
		if fault == &c.counters.Late {
			c.tooLate(m, r)
		}
		return
	}
	past.Counted.Set(m, gather.Contributed)
	c.counters.Contributions++
	c.contributed(m, past.N, false)
	c.guard.Cut(m.Slot, c.values)
	c.aggregator.Clip(c.values)
	of := gather.Lateness{N: past.N, Number: past.Number, Own: c.transport.unsummed()}
	c.lateWork.Waiting.Add(of, m.Slot, c.values, c.weightOf(r), r.Loss)
}

// judgeLate reads a late contribution's numbers into c.values. fault is the counter of why it does
// not count, nil if it does.
func (c *Core) judgeLate(past *gather.PastRound, m gather.Member, r *wire.Reply) (fault *uint64) {
	switch {
	case past == nil || !c.lateWork.Fresh(&c.Plan, past.Number, c.N, c.Rounds):
		return &c.counters.Late
	case r.Tip != past.Tip:
		return &c.counters.WrongTip
	case !past.Asked(m):
		return &c.counters.Unsampled
	case past.Knows(m, c.roster.Stored):
		return &c.counters.Duplicate
	}
	steps := int(c.Plan.Steps)
	if fault := c.desk().Scalars(&c.values, r, steps, past.Scalars/steps); fault != nil {
		return fault
	}
	if !c.hasLateRoom(past) {
		return &c.counters.Overflow
	}
	return nil
}

// hasLateRoom says whether a record still has room for a contribution to a round. A record of
// transport=relay has room for Plan.Target late ones. One of transport=mean has a term for each
// round, however many contributed, but an open roster's members are not bounded.
func (c *Core) hasLateRoom(past *gather.PastRound) bool {
	switch {
	case past.Scalars > gather.MostScalars(&c.Plan):
		return false // P was larger then
	case c.transport.unsummed():
		return c.lateWork.Waiting.Count < c.Plan.Target
	}
	return !c.roster.Open || uint64(len(past.Counted.IDs)) <= 4*c.want()+1024
}

// collected returns how many contributions count towards the target and the quorum.
func (c *Core) collected() uint32 {
	if c.Plan.Async > 0 && c.round.survey == survey.None {
		return c.sum.Count + c.lateWork.Waiting.Count
	}
	return c.sum.Count
}

// complete says whether the open round may close: it has its quorum, and a root's contribution
// where one is needed.
func (c *Core) complete() bool { return c.has(c.Plan.Quorum) }

// full says whether the open round closes without waiting for anybody: it has its target, or where
// it lacked devices its quorum.
func (c *Core) full() bool {
	if c.shortage.Waits {
		return c.complete()
	}
	return c.has(c.target())
}

// has says whether so many contributions count, and a root's is among them where one has to be.
func (c *Core) has(contributions uint32) bool {
	return c.collected() >= contributions && (c.round.survey != survey.None || c.guard.Vouched())
}

// joinLate moves the contributions that waited into the record that is being made, and remembers
// who is counted on time.
func (c *Core) joinLate() {
	l := &c.lateWork
	if c.Plan.Late == 0 {
		return
	}
	l.Join()
	own := len(c.losses) > 0
	l.Joining.Losses(func(loss float32, weight uint32) {
		c.loss.Add(loss, weight)
		if !own { // older states' losses are better than none for the watch
			c.losses = append(c.losses, loss)
		}
	})
	n, attempts := c.N+1, slices.Clone(c.round.attempts)
	asked := func(m gather.Member) bool {
		return slices.ContainsFunc(attempts,
			func(a grouping.Attempt) bool { return a.Asks(c.Plan.Run, m.Slot, m.ID) })
	}
	l.Past.Add(gather.PastRound{N: n, Number: c.Rounds + 1, Tip: c.Hash.Tip(),
		Scalars: c.round.scalars, Asked: asked}, &c.answers)
}

// counts returns how many contributions the record that is being made counts, and their weight.
func (c *Core) counts() (contributors uint32, weight uint64) {
	l := &c.lateWork.Joining
	return c.sum.Count + l.Count, c.sum.Weight + l.Weight
}

// means returns the mean of the open round's scalars, over the late contributions' weight too.
func (c *Core) means() []float32 {
	if means, _, count := c.vault.Result(); count > 0 {
		return means
	}
	if c.veil.Adds {
		return c.veil.Means(&c.sum)
	}
	if c.lateWork.Joining.Count == 0 {
		return c.aggregator.Combine(&c.sum, &c.held)
	}
	_, weight := c.counts()
	return c.sum.MeansOver(weight)
}

// lateTerms appends the terms of the late contributions to those of the record that is being made.
func (c *Core) lateTerms(terms []wire.Term) []wire.Term {
	_, weight := c.counts()
	return c.lateWork.Joining.Terms(terms, c.N+1, c.Rounds+1, weight, &c.Plan)
}
