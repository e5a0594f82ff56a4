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
	report DigestReports    // entries that no device reports any more are used again
	by     map[string]uint8 // device: index of what it reported
	told   [][8]byte        // values whose first report was told, at most maxValues
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
	before, again := d.by[m.id]
	i := d.find(digest)
	if again && int(before) == i {
		c.counters.Duplicate++
		return
	}
	if again {
		d.report.Values[before].Devices-- // its entry may be free now
	}
	if i < 0 {
		i = d.add(digest)
	}
	if i < 0 || !again && len(d.by) == maxReporters {
		if again {
			d.report.Values[before].Devices++
		}
		c.counters.Overflow++
		return
	}
	c.counters.Digests++
	d.report.Values[i].Devices++
	d.by[m.id] = uint8(i)
	if now := d.counts(); d.report.Values[i].Devices == 1 && len(now.Values) > 1 && d.tell(digest) {
		c.emitEvent(Event{Kind: DigestsDiffer, Digests: now})
	}
}

// find returns the index of the value that devices report, -1 for none.
func (d *digests) find(digest [8]byte) int {
	return slices.IndexFunc(d.report.Values, func(v DigestCount) bool { return v.Digest == digest && v.Devices > 0 })
}

// add makes an entry of no devices for a value, in place of one that is free;
// -1 if there is no room.
func (d *digests) add(digest [8]byte) int {
	values := &d.report.Values
	i := slices.IndexFunc(*values, func(v DigestCount) bool { return v.Devices == 0 })
	switch {
	case i >= 0:
	case len(*values) < maxValues:
		i = len(*values)
		*values = append(*values, DigestCount{})
	default:
		return -1
	}
	(*values)[i] = DigestCount{Digest: digest}
	return i
}

// tell says whether to tell of a value: once, and of so many values that no
// device that changes its mind fills the event log.
func (d *digests) tell(digest [8]byte) bool {
	if len(d.told) == maxValues || slices.Contains(d.told, digest) {
		return false
	}
	d.told = append(d.told, digest)
	return true
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
