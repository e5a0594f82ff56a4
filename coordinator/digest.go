package coordinator

import (
	"slices"

	"github.com/zofl/zofl/wire"
)

// Limits on what is remembered of digests.
const (
	maxStates    = 4       // states whose digests are counted
	maxValues    = 8       // values per state
	maxReporters = 1 << 16 // devices per state
)

// digests counts what devices report of the state after one record.
type digests struct {
	tip    wire.Tip
	report DigestReports
	by     map[string]uint8 // device: index of what it reported
}

// beginDigests makes room for the digests of the state after the last record,
// if devices report them.
func (c *core) beginDigests() {
	every := uint64(c.plan.DigestEvery)
	if every == 0 || c.n%every != 0 {
		return
	}
	if len(c.digests) == maxStates {
		c.digests = slices.Delete(c.digests, 0, 1)
	}
	c.digests = append(c.digests, digests{
		tip: c.hash.Tip(), report: DigestReports{N: c.n}, by: map[string]uint8{},
	})
}

// digestReport counts a device's digest. A device that rebuilt its state may
// report another one in place of its first.
func (c *core) digestReport(m member, r *wire.Reply) {
	at := slices.IndexFunc(c.digests, func(d digests) bool { return d.report.N == r.N })
	switch {
	case at < 0 && r.N <= c.n:
		c.counters.Late++
	case at < 0:
		c.counters.OtherRecord++
	case c.digests[at].tip != r.Tip:
		c.counters.WrongTip++
	default:
		c.countDigest(&c.digests[at], m, r.Digest)
	}
}

func (c *core) countDigest(d *digests, m member, digest [8]byte) {
	values := &d.report.Values
	i := slices.IndexFunc(*values, func(v DigestCount) bool { return v.Digest == digest })
	before, again := d.by[m.id]
	switch {
	case again && int(before) == i:
		c.counters.Duplicate++
		return
	case i < 0 && len(*values) == maxValues, !again && len(d.by) == maxReporters:
		c.counters.Overflow++
		return
	}
	c.counters.Digests++
	if i < 0 {
		i = len(*values)
		*values = append(*values, DigestCount{Digest: digest})
	}
	if again {
		(*values)[before].Devices--
	}
	(*values)[i].Devices++
	d.by[m.id] = uint8(i)
	if now := d.counts(); (*values)[i].Devices == 1 && len(now.Values) > 1 {
		c.emitEvent(Event{Kind: DigestsDiffer, Digests: now})
	}
}

// counts returns what devices report now.
func (d *digests) counts() DigestReports {
	now := DigestReports{N: d.report.N}
	for _, v := range d.report.Values {
		if v.Devices > 0 {
			now.Values = append(now.Values, v)
		}
	}
	return now
}
