package engine

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// With secure=sum devices answer an attempt in steps, and the policy holds what devices send. A
// step closes as an attempt does: when every awaited device has answered, at the step's end, or a
// short wait after the step's quorum. Then the next step opens. After the last step, the round
// closes with the sum.

// stepping says whether a step is open.
func (c *Core) stepping() bool { return c.policy.Steps != nil && c.policy.Steps.On() }

// hopeless says whether the attempt will get no answer, because too few devices could take part.
func (c *Core) hopeless() bool { return c.policy.Steps != nil && c.policy.Steps.Hopeless() }

// openSteps begins the steps of the attempt that was just opened.
func (c *Core) openSteps() {
	r := &c.round
	a := wire.Announcement{N: c.N + 1, Attempt: c.cohort.Attempt.Number, Epoch: c.life.epoch,
		Cohort: c.cohort.Attempt.Cohort}
	c.policy.Steps.Begin(&a, c.Hash.Tip(), r.scalars, c.now, c.cohort.Crowd.IsAbsent)
	if c.stepping() {
		r.closes = c.policy.Steps.Ends(r.closes)
	}
}

// respond answers a device that waits.
func (c *Core) respond(token string, frame []byte) {
	c.emit(Output{Kind: OutRespond, Token: token, Frame: frame})
}

// maskedStep handles a device's message in a step: it answers the device, or makes the device wait.
func (c *Core) maskedStep(in Input) {
	steps := c.policy.Steps
	if steps == nil || !subjects.Answerable(in.Token) {
		c.counters.Malformed++
		return
	}
	message, err := steps.Read(in.Frame)
	if err != nil {
		c.counters.Malformed++
		return
	}
	m, ok := c.cohort.Member(in.ID)
	if !ok {
		c.counters.Unknown++
		return
	}
	c.heard(m)
	if message.N == c.N+1 {
		c.cohort.Redeem(m, message.N)
		c.compare(m, message.Sent)
	}
	if c.phase() != collecting || c.halted() {
		steps.Abort()
	}
	waited := steps.On() && c.cohort.Waits(m, c.cohort.Asks(m))
	taken := steps.Take(m.Slot, message, in.Token, &c.counters, c.respond)
	if taken {
		c.answered(waited)
	}
}

// stepOver closes the open step, and says whether another step follows. After the last step,
// stepOver takes the sum as the round's result.
func (c *Core) stepOver() (goesOn bool) {
	r, steps := &c.round, c.policy.Steps
	step := steps.Step()
	ok := steps.Close(c.respond)
	if !steps.On() {
		c.accuse()
	}
	switch {
	case !ok:
		r.lost = step
		c.emitEvent(report.Event{Kind: report.Refused, Record: wire.KindRound,
			Attempt: c.cohort.Attempt.Number, Reason: c.shortfall()})
		return false
	case steps.On():
		r.closes, r.grace = steps.Ends(r.deadline), 0
		c.cohort.AwaitStep(c.now)
		return true
	}
	c.takeSum()
	return false
}

// takeSum counts the devices whose numbers are in the sum.
func (c *Core) takeSum() {
	steps := c.policy.Steps
	loss, count := steps.Result()
	c.chain.Taken, c.round.losses = count, append(c.round.losses, loss)
	c.counters.Contributions += uint64(count)
	for _, slot := range steps.Contributors() {
		m := presence.Device{Slot: slot, ID: c.cohort.Roster.IDs[slot]}
		c.cohort.Answers.Set(m, presence.Contributed)
		c.cohort.Took(m, c.N+1, false, c.now)
	}
}

// accuse has attempts leave out the members that sent what is false, and names them, and those of
// whom one did. The keys of two devices with one id contradict each other, too. Such a member stays
// until it is known whether it is two, because whoever is left out no longer shows it.
// Who may be honest stays where the others are fewer than the quorum: the run would wait for ever.
func (c *Core) accuse() {
	var list []presence.Accused
	stay := 0
	for i := range c.cohort.Crowd.Members {
		if !c.cohort.Crowd.Members[i].Retired {
			stay++
		}
	}
	for _, a := range c.policy.Steps.Accused() {
		if c.cohort.Crowd.Members[a.Slot].MayBeTwo() {
			continue
		}
		needed := a.Out && len(a.Or) > 0 && stay <= int(c.Plan.Quorum)
		if a.Out = a.Out && !needed; a.Out {
			stay--
		}
		list = append(list, presence.Accused{Slot: a.Slot, Out: a.Out, Why: c.accusation(&a, needed)})
	}
	for _, a := range c.cohort.Crowd.Accuse(list, c.now) {
		c.emitEvent(report.Event{Kind: report.Suspected, ID: c.cohort.Roster.IDs[a.Slot], Reason: a.Why})
	}
}

// accusation says what a member did, who may have done it in the member's place, and what an
// operator can do. needed says that sums would leave the member out if they could do without.
func (c *Core) accusation(a *policy.Accused, needed bool) string {
	names, times := c.cohort.Roster.IDs, presence.Count(a.Times, "attempt")
	me, or := names[a.Slot], ""
	switch n := len(a.Or); {
	case !a.Out && !needed:
		return fmt.Sprintf("it or %s sends false shares, or calls true ones false: they contradicted "+
			"each other in %s; sums do without these shares; `zofl retire ID` removes one",
			names[a.Or[0]], times)
	case n == 1:
		or = ", or " + names[a.Or[0]] + " did"
	case n > 1:
		or = fmt.Sprintf(", or one of %d others did", n)
	}
	if needed {
		return fmt.Sprintf("it sent false shares in %s%s; sums need them all: start more devices, or "+
			"remove one with `zofl retire ID`", times, or)
	}
	return fmt.Sprintf("sums leave it out: it sent false keys or shares in %s%s; `zofl retire %s` or "+
		"`zofl device revoke %[3]s` removes it", times, or, me)
}

// addAccused adds the members that may have sent what is false to the suspects of a status.
func (c *Core) addAccused(out *report.Status) {
	for _, a := range c.cohort.Crowd.Accused() {
		if out.Suspects == nil {
			out.Suspects = map[string]string{}
		}
		if len(out.Suspects) < mostSuspects {
			out.Suspects[c.cohort.Roster.IDs[a.Slot]] = a.Why
		}
	}
}

// spent says whether no further attempt can make the record, because devices unmask each record
// only once. The core then skips to the next record, along other directions.
func (c *Core) spent() bool {
	k := &c.cohort
	return c.policy.Steps != nil && c.policy.Steps.Spent(k.Reasons[:], k.Reachable)
}

// skip uses up the index of a record that cannot be made, with a change that changes nothing. After
// MaxAttempts skipped records in a row, the run waits for devices.
func (c *Core) skip() {
	if c.round.skips++; c.round.skips > c.Plan.MaxAttempts {
		c.round.skips = 0
		c.runShort()
		return
	}
	c.append(&wire.Record{Kind: wire.KindChange, Change: c.policy.Steps.Skip()},
		report.Event{Kind: report.Changed, Fields: []string{"quorum"}})
}
