package engine

import (
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/crowd"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/gather"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
)

// With secure=sum devices answer an attempt in steps, and package vault has what they send. A
// step closes as an attempt does: when all answered who are waited for, at its end, or a grace
// after its quorum. Then the next one opens, and after the last the round closes with the sum.

// openVault begins the steps of the attempt that was just opened.
func (c *Core) openVault() {
	r := &c.round
	a := secagg.Attempt{Run: c.Plan.Run, N: c.N + 1, Tip: c.Hash.Tip(), Epoch: c.epoch,
		Number: r.attempt, Cohort: r.cohort, Words: r.scalars + 1}
	c.vault.Begin(a, c.now, c.crowd.IsAbsent)
	r.closes = c.vault.Ends(r.closes)
}

// maskedStep handles a device's part of a step, and answers it or makes it wait.
func (c *Core) maskedStep(in Input) {
	r, err := secagg.DecodeRequest(in.Frame)
	if err != nil || !subjects.Answerable(in.Token) || c.vault == nil {
		c.counters.Malformed++
		return
	}
	m, ok := c.member(in.ID)
	if !ok {
		c.counters.Unknown++
		return
	}
	c.heard(m)
	c.same(m, crowd.OfStep(&r), r.N == c.N+1)
	if c.phase != collecting || c.halted() {
		c.vault.Over()
	}
	waited := c.vault.On() && c.awaits(m)
	answer, taken := c.vault.Take(m.Slot, &r, in.Token, &c.counters)
	if answer.Frame != nil {
		c.emit(Output{Kind: OutRespond, Token: answer.Token, Frame: answer.Frame})
	}
	if r.N == c.N+1 {
		c.crowd.Redeem(m.Slot, r.N)
	}
	if taken {
		c.answered(waited)
	}
}

// enough says whether the attempt, or its open step, can close well.
func (c *Core) enough() bool {
	if c.vault.On() {
		return c.vault.Enough()
	}
	return c.complete()
}

// stepOver closes the open step, and says whether another one follows. After the last one the sum
// is the round's.
func (c *Core) stepOver() (goesOn bool) {
	if !c.vault.On() {
		return false
	}
	r, step := &c.round, c.vault.Step()
	answers, ok := c.vault.Close()
	for _, a := range answers {
		c.emit(Output{Kind: OutRespond, Token: a.Token, Frame: a.Frame})
	}
	switch {
	case !ok:
		r.lost = step
		c.emitEvent(report.Event{Kind: report.Refused, Record: wire.KindRound, Attempt: r.attempt,
			Reason: c.shortfall()})
		return false
	case c.vault.On():
		r.asked, r.closes, r.grace, r.pending = c.now, c.vault.Ends(r.deadline), 0, 0
		for slot := range c.slotsAsked() {
			if c.waitsFor(gather.Member{Slot: slot}, true) {
				r.pending++
			}
		}
		return true
	}
	_, loss, count := c.vault.Result()
	c.sum.Count, c.sum.Weight, c.losses = count, uint64(count), append(c.losses, loss)
	c.loss.Add(loss, count)
	c.counters.Contributions += uint64(count)
	c.counters.Malformed += uint64(len(c.vault.Liars()))
	for _, slot := range c.vault.Contributors() {
		m := gather.Member{Slot: slot, ID: c.roster.IDs[slot]}
		c.answers.Set(m, gather.Contributed)
		c.contributed(m, c.N+1, false)
	}
	return false
}

// spent says whether the record cannot be made any more: devices unmask each one once. Then the
// next one is made, along other directions.
func (c *Core) spent() bool {
	r := &c.round
	return c.vault.Spent() || c.vault != nil && r.declines[secagg.DeclineSpent] > 0 &&
		r.hopes >= c.Plan.Quorum
}

// skip takes the index of a record that cannot be made, by a change that changes nothing. A run in
// which that follows itself waits for devices in between.
func (c *Core) skip() {
	if c.skips++; c.skips > c.Plan.MaxAttempts {
		c.skips = 0
		c.runShort()
		return
	}
	c.append(&wire.Record{Kind: wire.KindChange, Change: c.vault.Skip()},
		report.Event{Kind: report.Changed, Fields: []string{"quorum"}})
}
