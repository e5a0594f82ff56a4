package engine

import (
	"slices"

	"github.com/zofl/zofl/coordinator/internal/ballot"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// maxStates is the number of states whose digests are counted.
const maxStates = 4

// beginDigests makes room for the digests of the state after the last record, if devices report
// them.
func (c *Core) beginDigests() {
	every := uint64(c.Plan.DigestEvery)
	if every == 0 || c.N%every != 0 {
		return
	}
	if len(c.digests) == maxStates {
		c.digests = slices.Delete(c.digests, 0, 1)
	}
	c.digests = append(c.digests, ballot.New(c.N, c.Hash.Tip()))
}

// digestReport counts a device's digest. A device that rebuilt its state may replace its digest.
func (c *Core) digestReport(id string, r *wire.Reply) {
	at := slices.IndexFunc(c.digests, func(d *ballot.Digests) bool { return d.N == r.N })
	switch {
	case at < 0 && r.N <= c.N:
		c.counters.Late++
	case at < 0:
		c.counters.OtherRecord++
	case c.digests[at].Tip != r.Tip:
		c.counters.WrongTip++
	default:
		c.countDigest(c.digests[at], id, r.Digest)
	}
}

func (c *Core) countDigest(d *ballot.Digests, id string, digest report.Digest) {
	rank := slices.Index(c.witnesses, id)
	switch {
	case d.Has(id, digest):
		c.counters.Duplicate++
		return
	case rank < 0 && d.Full(id):
		c.counters.Overflow++
		return
	}
	c.counters.Digests++
	d.Set(id, digest)
	c.refer(d, digest, rank)
	if d.Differs(digest) {
		c.emitEvent(report.Event{Kind: report.DigestsDiffer, Digests: d.Reports()})
	}
}
