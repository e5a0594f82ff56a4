package coordinator

import (
	"slices"

	"github.com/zofl/zofl/wire"
)

const (
	// plurality is how many devices have to report a digest, more than any other
	// one, before it is the reference without a witness.
	plurality = 3
	// referRecords is how many records bring a new reference in their first
	// announcements; repetitions and answers to joins always bring it.
	referRecords = 4
)

// byPlurality is the source of a reference that is no witness's.
const byPlurality = "plurality"

// refer takes a digest that was just reported for the reference, if the first of
// Config.Witnesses to have reported that state did, or if no witness has and it
// leads. Reports that tie change nothing.
func (c *core) refer(d *digests, digest Digest, rank int) {
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
		c.emitEvent(Event{Kind: Referred, Digests: d.reports()})
	}
}

// witness says whether an id may report digests and do nothing else: it is one
// of Config.Witnesses, and no member.
func (c *core) witness(id string) bool {
	if !slices.Contains(c.witnesses, id) {
		return false
	}
	_, ok := c.roster.slots[id]
	return !ok
}
