package engine

import (
	"slices"

	"github.com/zofl/zofl/coordinator/internal/ballot"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// referRecords is how many records bring a new reference in their first announcements. Repetitions
// and join answers always bring it.
const referRecords = 4

// refer announces the reference of a state if the digest that was just reported makes another one.
func (c *Core) refer(d *ballot.Digests, digest report.Digest, rank int) {
	changed, tells := d.Refer(digest, c.witnesses, rank)
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
	if !slices.Contains(c.witnesses, id) {
		return false
	}
	_, ok := c.roster.slots[id]
	return !ok
}
