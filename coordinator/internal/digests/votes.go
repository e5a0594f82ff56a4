package digests

import (
	"slices"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// maxStates is the number of states whose digests are counted at a time.
const maxStates = 4

// A Votes counts the digests of the last few states.
type Votes struct {
	Witnesses []string // whose digests are references, the most trusted first

	states []*Digests
}

// A poll says whether an attempt asks a device for the digest of a state.
type poll func(slot uint32, id string) bool

// Poll notes an attempt that asks the given number of devices, and all witnesses, for the digest of
// the state after record n. asks says whether the attempt asks a device.
func (b *Votes) Poll(n uint64, devices uint64, asks func(slot uint32, id string) bool) {
	if at := b.find(n); at >= 0 {
		b.states[at].polls = append(b.states[at].polls, asks)
		b.states[at].asked += devices
	}
}

func (b *Votes) find(n uint64) int {
	return slices.IndexFunc(b.states, func(d *Digests) bool { return d.N == n })
}

// asks says whether an attempt asked a device for the digest of a state.
func (d *Digests) asks(slot uint32, id string) bool {
	return slices.ContainsFunc(d.polls, func(p poll) bool { return p(slot, id) })
}

// Begin makes room for the digests of the state after record n.
func (b *Votes) Begin(n uint64, tip wire.Tip) {
	if len(b.states) == maxStates {
		b.states = slices.Delete(b.states, 0, 1)
	}
	b.states = append(b.states, New(n, tip))
}

// Take counts a device's digest. A device that rebuilt its state may replace its earlier digest. A
// strict count accepts digests only of witnesses and of devices that an attempt asked. Take returns
// the state to which the digest belongs, or nil if it did not count the digest. In that case, Take
// adds 1 to a counter in c that says why.
func (b *Votes) Take(slot uint32, id string, r *wire.Reply, last uint64, strict bool,
	c *report.Counters) *Digests {
	at, witness := b.find(r.N), slices.Contains(b.Witnesses, id)
	switch {
	case at < 0 && r.N <= last:
		c.Late++
	case at < 0:
		c.OtherRecord++
	case b.states[at].Tip != r.Tip:
		c.WrongTip++
	case b.states[at].Has(id, r.Digest):
		c.Duplicate++
	case strict && !witness && !b.states[at].asks(slot, id):
		c.Unsampled++
	case b.states[at].Full(id) && !witness:
		c.Overflow++
	default:
		c.Digests++
		b.states[at].Set(id, r.Digest)
		return b.states[at]
	}
	return nil
}

// Refer is [Digests.Refer] for a digest that a device just reported.
func (b *Votes) Refer(d *Digests, id string, digest report.Digest, strict bool) (
	changed, tells bool) {
	return d.Refer(digest, b.Witnesses, slices.Index(b.Witnesses, id), strict)
}

// Reports returns the reported digests of each state.
func (b *Votes) Reports() (list []report.DigestReports) {
	for _, d := range b.states {
		list = append(list, d.Reports())
	}
	return list
}
