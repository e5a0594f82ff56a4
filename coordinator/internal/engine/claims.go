package engine

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// Claims are records that devices say they have, and that the log lacks: the log ends before them,
// or has other records in their place. Claims mean that somebody lost the log, or restored an older
// copy. Devices then hold the last copy of the model, so the run pauses until an operator decides.
// A run that has ended cannot pause, because nobody could resume it. The devices of such a run
// accept the end, and keep their copy as the earlier model.
type claims struct {
	anew   bool   // Config.BeginAnew
	loss   uint64 // Config.AcceptLoss
	began  uint64 // the log's last record when this coordinator began
	waived bool   // a person resumed a run that a claim had paused

	// next is the pause that follows the present one, which has another reason; nil: none does.
	next *runlog.Pause
}

// ahead says whether a joining device has to wait because it has records of this run that the log
// lacks. If the device has to wait, ahead pauses the run, or says that the run pauses again once a
// person has ended the present pause.
func (c *Core) ahead(id string, k *wire.Known) bool {
	claim := runlog.Claim{N: k.N, Tip: k.Tip}
	switch {
	case c.End != nil || c.holds(claim) || k.Key != wire.KeyTip(&c.Plan):
		return false
	case c.accepts(claim):
		if c.halt.Accept(claim) {
			c.decide()
		}
		return false
	}
	p := &runlog.Pause{Reason: c.lacksRecord(id, k.N), Claim: &claim}
	switch was := c.halt.Pause; {
	case was == nil:
		c.pauseFor(p)
	case was.Claim != nil && was.Claim.N < k.N: // more is lost than was said
		c.halt.Pause = p
		c.decide()
	case was.Claim == nil && (c.claims.next == nil || c.claims.next.Claim.N < k.N):
		c.claims.next = p
		c.emitEvent(report.Event{Kind: report.RunPaused, Reason: c.why()})
	}
	return true
}

// also returns what a status adds to the reason of a pause while a claim waits behind that pause.
func (l *claims) also() string {
	if l.next == nil {
		return ""
	}
	return "; `zofl resume` pauses the run again: " + l.next.Reason
}

// pauseNext pauses the run because of the claim that waited behind the pause that a person has
// ended, and says whether there was one. Otherwise the run could bury the lost records under new
// ones before the device asks again.
func (c *Core) pauseNext() bool {
	p := c.claims.next
	c.claims.next = nil
	if p == nil {
		return false
	}
	c.emitEvent(report.Event{Kind: report.RunResumed})
	c.pauseFor(p)
	return true
}

// lacksRecord returns the text that says why the run pauses.
func (c *Core) lacksRecord(id string, n uint64) string {
	const ways = "restore the log, or make one from a device's checkpoint (zofl recover), or accept " +
		"the loss (%szofl resume)"
	if n > c.N {
		return fmt.Sprintf("device %s has record %d of this run, and the log ends with record %d: "+
			ways, id, n, c.N, fmt.Sprintf("zofl serve --accept-loss %d, or ", n-c.claims.began))
	}
	return fmt.Sprintf("device %s has another record %d than the log, which lost that one and went "+
		"on to record %d: "+ways, id, n, c.N, "")
}

// holds says whether the log has a claimed record. holds returns true for records before the state
// with which a log begins, and for record 1, because record 1 alone is no model that could be lost.
func (c *Core) holds(claim runlog.Claim) bool {
	tip, known := c.Tip(claim.N)
	return claim.N < max(c.Begins, 2) || known && tip == claim.Tip
}

// accepts says whether an operator has accepted the loss of a claimed record.
func (c *Core) accepts(claim runlog.Claim) bool {
	return c.claims.anew || c.claims.waived || c.halt.Accepts(claim, c.claims.began)
}

// waive accepts the loss that paused the run, and all other records that the log lacked when this
// coordinator began.
func (c *Core) waive() {
	if p := c.halt.Pause; p.Claim != nil {
		c.claims.waived = true
		c.halt.Accept(*p.Claim)
	}
}
