package ballot

import (
	"slices"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// maxStates is the number of states whose digests are counted.
const maxStates = 4

// A Booth counts the digests of the last few states.
type Booth struct {
	Witnesses []string // whose digests are references, the most trusted first

	states []*Digests
}

// Begin makes room for the digests of the state after record n.
func (b *Booth) Begin(n uint64, tip wire.Tip) {
	if len(b.states) == maxStates {
		b.states = slices.Delete(b.states, 0, 1)
	}
	b.states = append(b.states, New(n, tip))
}

// Take counts a device's digest; a device that rebuilt its state may replace its own. It returns
// the state that the digest is of, nil if it was not counted and c says why.
func (b *Booth) Take(id string, r *wire.Reply, last uint64, c *report.Counters) *Digests {
	at := slices.IndexFunc(b.states, func(d *Digests) bool { return d.N == r.N })
	switch {
	case at < 0 && r.N <= last:
		c.Late++
	case at < 0:
		c.OtherRecord++
	case b.states[at].Tip != r.Tip:
		c.WrongTip++
	case b.states[at].Has(id, r.Digest):
		c.Duplicate++
	case b.states[at].Full(id) && !slices.Contains(b.Witnesses, id):
		c.Overflow++
	default:
		c.Digests++
		b.states[at].Set(id, r.Digest)
		return b.states[at]
	}
	return nil
}

// Refer is [Digests.Refer] for a digest that a device just reported.
func (b *Booth) Refer(d *Digests, id string, digest report.Digest) (changed, tells bool) {
	return d.Refer(digest, b.Witnesses, slices.Index(b.Witnesses, id))
}

// Reports returns what devices report of each state.
func (b *Booth) Reports() (list []report.DigestReports) {
	for _, d := range b.states {
		list = append(list, d.Reports())
	}
	return list
}
