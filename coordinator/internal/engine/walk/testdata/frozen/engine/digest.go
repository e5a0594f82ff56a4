package engine

import (
	"slices"

	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/ballot"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/gather"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/grouping"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// referRecords is how many records bring a new reference in their first announcements. Repetitions
// and join answers always bring it.
const referRecords = 4

// beginDigests makes room for the digests of the state after the last record, if devices report
// them.
func (c *Core) beginDigests() {
	if every := uint64(c.Plan.DigestEvery); every > 0 && c.N%every == 0 {
		c.booth.Begin(c.N, c.Hash.Tip())
	}
}

// poll notes that an attempt asks for the digest of the last state, and how many present devices.
func (c *Core) poll(a grouping.Attempt) {
	n, devices := c.N, c.want()
	if !c.roster.Open {
		devices = a.Cohort.Sampled * uint64(c.crowd.Present()) / uint64(max(a.Cohort.Members, 1))
	}
	c.booth.Poll(n, devices, func(slot uint32, id string) bool {
		return a.Asks(c.Plan.Run, slot, id)
	})
}

// digestReport counts a device's digest.
func (c *Core) digestReport(m gather.Member, id string, r *wire.Reply) {
	d := c.booth.Take(m.Slot, id, r, c.N, c.Plan.ClaimBound > 0, &c.counters)
	if d == nil {
		return
	}
	c.refer(d, id, r.Digest)
	if d.Differs(r.Digest) {
		c.emitEvent(report.Event{Kind: report.DigestsDiffer, Digests: d.Reports()})
	}
}

// refer announces the reference of a state if the digest that was just reported makes another one.
func (c *Core) refer(d *ballot.Digests, id string, digest report.Digest) {
	changed, tells := c.booth.Refer(d, id, digest, c.Plan.ClaimBound > 0)
	if changed && d.N >= c.reference.N {
		c.reference = wire.Reference{N: d.N, Tip: d.Tip, Digest: digest}
		c.refersTo = max(c.N, c.announced) + referRecords
	}
	if tells {
		c.emitEvent(report.Event{Kind: report.Referred, Digests: d.Reports()})
	}
}

// witness says whether an id may report digests and nothing else: it is one of Config.Witnesses,
// and no member.
func (c *Core) witness(id string) bool {
	_, member := c.roster.Slots[id]
	return !member && slices.Contains(c.booth.Witnesses, id)
}
