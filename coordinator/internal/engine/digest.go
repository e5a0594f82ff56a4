package engine

import (
	"slices"

	"github.com/zofl/zofl/coordinator/internal/digests"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// referRecords is the number of records whose first announcements bring a new reference.
// Repetitions and answers to joins always bring the reference.
const referRecords = 4

// votes holds the digests that devices report, and the reference that follows from them.
type votes struct {
	digests.Votes
	reference wire.Reference // the newest; N is 0 before the first
	refersTo  uint64         // the last record whose first announcement brings it
	log       *runlog.Position
}

// begin sets the reference for the state at which the log begins. n is the last record of the log.
func (v *votes) begin(b *runlog.Base, n uint64) {
	v.reference = wire.Reference{N: b.N, Tip: b.Hash.Tip(), Digest: b.Digest}
	v.refersTo = n + referRecords
}

// Moved makes room for the digests of the state after the last record, if devices report them.
func (v *votes) Moved([]byte, wire.Record) {
	if every := uint64(v.log.Plan.DigestEvery); every > 0 && v.log.N%every == 0 {
		v.Begin(v.log.N, v.log.Hash.Tip())
	}
}

// poll notes that the attempt asks for the digest of the last state, and about how many present
// devices it asks.
func (c *Core) poll() {
	devices, asks := c.cohort.Poll()
	c.votes.Poll(c.N, devices, asks)
}

// digestReport counts a device's digest.
func (c *Core) digestReport(m presence.Device, id string, r *wire.Reply) {
	d := c.votes.Take(m.Slot, id, r, c.N, c.Plan.ClaimBound > 0, &c.counters)
	if d == nil {
		return
	}
	c.refer(d, id, r.Digest)
	if d.Differs(r.Digest) {
		c.emitEvent(report.Event{Kind: report.DigestsDiffer, Digests: d.Reports()})
	}
}

// refer announces another reference of a state if the digest that was just reported changes it.
func (c *Core) refer(d *digests.Digests, id string, digest report.Digest) {
	changed, tells := c.votes.Refer(d, id, digest, c.Plan.ClaimBound > 0)
	if changed && d.N >= c.votes.reference.N {
		c.votes.reference = wire.Reference{N: d.N, Tip: d.Tip, Digest: digest}
		c.votes.refersTo = max(c.N, c.announcer.last) + referRecords
	}
	if tells {
		c.emitEvent(report.Event{Kind: report.Referred, Digests: d.Reports()})
	}
}

// witness says whether an id may only report digests, because the id is in Config.Witnesses and is
// not a member.
func (c *Core) witness(id string) bool {
	_, member := c.cohort.Roster.Slots[id]
	return !member && slices.Contains(c.votes.Witnesses, id)
}
