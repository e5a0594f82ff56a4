package engine

import (
	"github.com/zofl/zofl/coordinator/internal/contribution"
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/internal/quorum"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// reply handles a device's reply.
func (c *Core) reply(id string, frame []byte) {
	r, err := wire.DecodeReply(frame)
	m, ok := c.cohort.member(id)
	if err != nil {
		c.counters.Malformed++
		if ok && !c.cohort.roster.Open && c.quorum().Enough() {
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
		c.redeem(m, &r)
		c.same(m, presence.OfReply(&r, c.policy.Groups != nil), c.timely(r.N, r.Tip))
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

// contribution adds a device's scalars to the open round.
func (c *Core) contribution(m gather.Member, r *wire.Reply) {
	if c.isLate(r) {
		c.lateContribution(m, r)
		return
	}
	current, ok := c.admit(m, r)
	if !ok {
		return
	}
	if c.cohort.contributed(m) {
		c.again()
		return
	}
	if c.named() && !c.policy.Groups.Counts(m.Slot, r.Rest) {
		c.counters.WrongGroup++
		return
	}
	if fault := c.judge(r); fault != nil {
		*fault++
		return
	}
	control, fault := c.controlOf(r)
	if fault != nil {
		*fault++
		return
	}
	c.take(c.seat(m), r, control)
	waited := c.waitsFor(m, current)
	c.counted(m, r)
	c.contributed(m, r.N, current)
	c.answered(waited)
}

// again counts a reply that the coordinator has. A device repeats its reply when an announcement
// is repeated.
func (c *Core) again() {
	if c.round.calls > 1 {
		c.counters.Repeated++
	} else {
		c.counters.Duplicate++
	}
}

// counted notes a contribution whose numbers were counted.
func (c *Core) counted(m gather.Member, r *wire.Reply) {
	c.cohort.answers.Set(m, gather.Contributed)
	c.counters.Contributions++
	c.round.losses = append(c.round.losses, r.Loss)
	if c.policy.Law != nil {
		c.policy.Law.Add(r.Rest)
	}
}

// decline notes that a device will not contribute.
func (c *Core) decline(m gather.Member, r *wire.Reply) {
	current, ok := c.admit(m, r)
	if !ok {
		return
	}
	if c.cohort.answers.Of(m) != 0 {
		c.again()
		return
	}
	waited := c.waitsFor(m, current)
	c.cohort.answers.Set(m, gather.Declined)
	c.counters.Declines++
	if int(r.Reason) < len(c.round.declines) {
		c.round.declines[r.Reason]++
	} else {
		c.round.declines[0]++
	}
	c.declined(m, r, current)
	c.answered(waited)
}

// admit says whether a reply is to the open round, from a device that was asked. current says
// whether the current attempt asks it.
func (c *Core) admit(m gather.Member, r *wire.Reply) (current, ok bool) {
	switch {
	case r.N <= c.N, r.N == c.N+1 && (c.phase() == appending || c.phase() == failed):
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
	attempts := c.round.attempts
	for i := len(attempts) - 1; i >= 0; i-- {
		if c.asked(attempts[i], m) {
			return i == len(attempts)-1, c.hasRoom()
		}
	}
	c.counters.Unsampled++
	return false, false
}

// hasRoom bounds the memory that an open roster can take.
func (c *Core) hasRoom() bool {
	more := c.vectors.uploads.Faulty()
	if c.cohort.roster.Open && c.beyond(len(c.cohort.answers.IDs)+more) {
		c.counters.Overflow++
		return false
	}
	return true
}

// beyond says whether there are more answers than honest devices of an open roster could give.
func (c *Core) beyond(answers int) bool { return uint64(answers) > 4*c.want()+1024 }

// countLate counts an answer that came after its round closed, to estimate how many devices of an
// open roster answer.
func (c *Core) countLate(m gather.Member, r *wire.Reply) {
	k := &c.cohort
	if !k.roster.Open || c.phase() != collecting || r.N != c.N || r.Tip != c.prev {
		return
	}
	if k.late.Of(m) == 0 && !c.beyond(len(k.late.IDs)) {
		k.late.Set(m, gather.Declined)
		k.rate.Answers++
	}
}

// judge reads a contribution's numbers into c.values. fault is the counter for the fault that it
// found, or nil.
func (c *Core) judge(r *wire.Reply) (fault *uint64) {
	if c.round.survey != survey.None {
		return c.desk().Survey(&c.item.Values, r, c.round.survey)
	}
	return c.desk().Scalars(&c.item.Values, r, c.steps(), int(c.round.perturbations))
}

func (c *Core) desk() *contribution.Checker {
	return &contribution.Checker{Plan: &c.Plan, Counters: &c.counters,
		None: c.transport.vectors() || c.policy.Steps != nil}
}

// answered closes the attempt if it has nothing more to wait for. waited says that the attempt
// waited for the device that answered.
func (c *Core) answered(waited bool) {
	if c.cohort.roster.Open {
		if c.round.attempt == 0 {
			c.cohort.rate.Answers++
		}
	} else if waited {
		c.round.pending--
	}
	switch c.quorum().Next() {
	case quorum.Commit:
		c.commitRound()
	case quorum.Settle:
		c.settle()
	case quorum.Grant:
		c.grants()
	}
}
