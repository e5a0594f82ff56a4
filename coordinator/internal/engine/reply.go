package engine

import (
	"github.com/zofl/zofl/coordinator/internal/contribution"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/internal/quorum"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// reply handles a device's reply.
func (c *Core) reply(id string, frame []byte) {
	r, err := wire.DecodeReply(frame)
	m, ok := c.cohort.Member(id)
	if err != nil {
		c.counters.Malformed++
		if ok && !c.cohort.Roster.Open && c.quorum().Enough() {
			c.excuse(m) // the reply of a device that floods us queues behind its own frames
		}
		return
	}
	if c.witness(id) {
		ok = r.Kind == wire.DigestReport
	}
	if !ok {
		c.counters.Unknown++
		return
	}
	if r.Kind == wire.Decline && r.Reason == wire.DeclineLeaving {
		c.goodbye(m)
		return
	}
	if !c.witness(id) {
		c.heard(m)
		if c.cohort.Timely(r.N, r.Tip) { // a message about another state is no answer
			c.timely(m, &r)
		}
	}
	switch r.Kind {
	case wire.Contribution:
		c.contribution(m, &r)
	case wire.Decline:
		c.decline(m, &r)
	case wire.Evaluation:
		c.evaluationReply(m, &r)
	case wire.DigestReport:
		c.digestReport(m, id, &r)
	}
}

// timely notes a member's message about the open record or the record before.
func (c *Core) timely(m presence.Device, r *wire.Reply) {
	c.compare(m, presence.OfReply(r, c.policy.Groups != nil))
	if r.Kind == wire.Contribution || r.Kind == wire.Decline {
		c.cohort.Redeem(m, r.N)
	}
}

// contribution adds a device's scalars to the open round.
func (c *Core) contribution(m presence.Device, r *wire.Reply) {
	if c.isLate(r) {
		c.lateContribution(m, r)
		return
	}
	current, ok := c.admit(m, r)
	if !ok {
		return
	}
	if c.cohort.Contributed(m) {
		c.again()
		return
	}
	if c.cohort.Attempt.Named != nil && !c.policy.Groups.Counts(m.Slot, r.Rest) {
		c.counters.WrongGroup++
		return
	}
	if fault := c.judge(r); fault != nil {
		*fault++
		c.charges(m, current)
		return
	}
	control, fault := c.controlOf(r)
	if fault != nil {
		*fault++
		return
	}
	c.take(c.seat(m), r, control)
	waited := c.cohort.Waits(m, current)
	c.counted(m, r)
	c.cohort.Took(m, r.N, current, c.now)
	c.answered(waited)
}

// again counts a reply that the coordinator already has. A device repeats its reply when the
// coordinator repeats an announcement.
func (c *Core) again() {
	if c.round.calls > 1 {
		c.counters.Repeated++
	} else {
		c.counters.Duplicate++
	}
}

// counted notes a contribution whose numbers are in the chain.
func (c *Core) counted(m presence.Device, r *wire.Reply) {
	c.cohort.Answers.Set(m, presence.Contributed)
	c.counters.Contributions++
	c.round.losses = append(c.round.losses, r.Loss)
	if c.policy.Law != nil {
		c.policy.Law.Add(c.chain.Item.Values, r.Rest)
	}
}

// decline notes that a device will not contribute.
func (c *Core) decline(m presence.Device, r *wire.Reply) {
	current, ok := c.admit(m, r)
	if !ok {
		return
	}
	if c.cohort.Answers.Of(m) != 0 {
		c.again()
		return
	}
	waited := c.cohort.Waits(m, current)
	c.cohort.Declined(m, r.Reason)
	c.counters.Declines++
	c.rests(m, r, current)
	c.answered(waited)
}

// admit says whether a reply is to the open round and from a device that an attempt asked. current
// says whether the current attempt asks that device.
func (c *Core) admit(m presence.Device, r *wire.Reply) (current, ok bool) {
	switch {
	case r.N <= c.N, r.N == c.N+1 && (c.phase() == appending || c.phase() == failed):
		if c.cohort.Repeats(m, r.N) {
			c.counters.Repeated++
			return false, false
		}
		c.counters.Late++
		c.countLate(m, r)
		c.tooLate(m, r)
		return false, false
	case r.N > c.N+1 || c.phase() != collecting:
		c.counters.OtherRecord++
		return false, false
	case r.Tip != c.Hash.Tip():
		c.counters.WrongTip++
		return false, false
	case r.Kind == wire.Contribution && c.quorum().Closes():
		c.counters.Late++ // the round closes when the run is resumed
		return false, false
	}
	if current, ok = c.cohort.HasAsked(m); !ok {
		c.counters.Unsampled++
		return false, false
	}
	return current, c.hasRoom()
}

// hasRoom says whether there is memory for another answer, and bounds the memory of an open roster.
func (c *Core) hasRoom() bool {
	answers := len(c.cohort.Answers.IDs)
	if c.vectors != nil {
		answers += c.vectors.Faulty()
	}
	if c.cohort.Beyond(answers) {
		c.counters.Overflow++
		return false
	}
	return true
}

// countLate counts an answer that came after its round closed.
func (c *Core) countLate(m presence.Device, r *wire.Reply) {
	if c.phase() == collecting {
		c.cohort.CountLate(m, r)
	}
}

// judge reads a contribution's numbers into the chain's Item. fault is the counter of the fault
// that judge found, or nil.
func (c *Core) judge(r *wire.Reply) (fault *uint64) {
	if c.round.survey != survey.None {
		return c.desk().Survey(&c.chain.Item.Values, r, c.round.survey)
	}
	return c.desk().Scalars(&c.chain.Item.Values, r, c.steps(), int(c.round.perturbations))
}

func (c *Core) desk() *contribution.Checker {
	return &contribution.Checker{Plan: &c.Plan, Counters: &c.counters,
		None: c.vectors != nil || c.policy.Steps != nil}
}

// answered closes the attempt if the attempt has nothing more to wait for. waited says whether the
// attempt waited for the device that answered.
func (c *Core) answered(waited bool) {
	c.cohort.Answered(waited)
	switch c.quorum().Next() {
	case quorum.Commit:
		c.commitRound()
	case quorum.Settle:
		c.settle()
	case quorum.Grant:
		c.grants()
	}
}
