package engine

import (
	"slices"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

const (
	// plurality is how many devices must report a digest, and more than any other, before it is the
	// reference without a witness.
	plurality = 3
	// referRecords is how many records bring a new reference in their first announcements.
	// Repetitions and join answers always bring it.
	referRecords = 4
)

// byPlurality is the source of a reference that no witness reported.
const byPlurality = "plurality"

// refer makes a digest that was just reported the reference of its state, if the first of
// Config.Witnesses to have reported that state did so, or if no witness has and the digest leads. A
// tie changes nothing.
func (c *Core) refer(d *digests, digest report.Digest, rank int) {
	source := byPlurality
	witnessed := d.source != "" && d.source != byPlurality
	switch {
	case rank >= 0 && (!witnessed || rank <= d.rank):
		source, d.rank = c.witnesses[rank], rank
	case witnessed, d.count[digest] < plurality, !d.leads(digest):
		return
	}
	if d.source == source && d.reference == digest {
		return
	}
	d.source, d.reference = source, digest
	if d.n >= c.reference.N {
		c.reference = wire.Reference{N: d.n, Tip: d.tip, Digest: digest}
		c.refersTo = max(c.N, c.announced) + referRecords
	}
	if tell(&d.referred, digest) {
		c.emitEvent(report.Event{Kind: report.Referred, Digests: d.reports()})
	}
}

// witness says whether an id may report digests and nothing else: it is one of Config.Witnesses,
// and no member.
func (c *Core) witness(id string) bool {
	if !slices.Contains(c.witnesses, id) {
		return false
	}
	_, ok := c.roster.slots[id]
	return !ok
}
