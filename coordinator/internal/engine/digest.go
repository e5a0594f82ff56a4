package engine

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// Limits on the digests that are counted and reported: about 10 MiB for a state that 65,536 devices
// have reported.
const (
	maxStates    = 4       // states whose digests are counted
	maxReporters = 1 << 16 // devices per state
	maxValues    = 8       // values per state that are reported
	maxDiffering = 16      // ids per state that are reported
)

// digests counts what devices report of the state after one record.
//
// Invariants:
//  1. count[v] is the number of entries of by with value v, never 0.
//  2. sizes[n] is the number of values that n devices report. most is the largest such n.
//  3. order has the keys of by, in order of arrival.
type digests struct {
	n     uint64
	tip   wire.Tip
	by    map[string]report.Digest
	order []string
	count map[report.Digest]uint32
	sizes map[uint32]int
	most  uint32
	told  []report.Digest // values whose first report was an event, at most maxValues

	reference report.Digest
	source    string          // of the reference; "" for none
	rank      int             // of the witness that is the source
	referred  []report.Digest // values that an event named as the reference, at most maxValues
}

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
	c.digests = append(c.digests, &digests{
		n: c.N, tip: c.Hash.Tip(),
		by: map[string]report.Digest{}, count: map[report.Digest]uint32{}, sizes: map[uint32]int{},
	})
}

// digestReport counts a device's digest. A device that rebuilt its state may replace its digest.
func (c *Core) digestReport(id string, r *wire.Reply) {
	at := slices.IndexFunc(c.digests, func(d *digests) bool { return d.n == r.N })
	switch {
	case at < 0 && r.N <= c.N:
		c.counters.Late++
	case at < 0:
		c.counters.OtherRecord++
	case c.digests[at].tip != r.Tip:
		c.counters.WrongTip++
	default:
		c.countDigest(c.digests[at], id, r.Digest)
	}
}

func (c *Core) countDigest(d *digests, id string, digest report.Digest) {
	before, again := d.by[id]
	rank := slices.Index(c.witnesses, id)
	switch {
	case again && before == digest:
		c.counters.Duplicate++
		return
	case !again && len(d.by) >= maxReporters && rank < 0:
		c.counters.Overflow++
		return
	case again:
		d.leave(before)
	default:
		d.order = append(d.order, id)
	}
	c.counters.Digests++
	d.by[id] = digest
	d.enter(digest)
	c.refer(d, digest, rank)
	if d.count[digest] == 1 && len(d.count) > 1 && tell(&d.told, digest) {
		c.emitEvent(report.Event{Kind: report.DigestsDiffer, Digests: d.reports()})
	}
}

func (d *digests) enter(v report.Digest) {
	n := d.count[v]
	d.resize(n, n+1)
	d.count[v] = n + 1
	d.most = max(d.most, n+1)
}

func (d *digests) leave(v report.Digest) {
	n := d.count[v]
	d.resize(n, n-1)
	if d.count[v] = n - 1; n == 1 {
		delete(d.count, v)
	}
	if d.most == n && d.sizes[n] == 0 {
		d.most--
	}
}

// resize counts a value that to devices report in place of from.
func (d *digests) resize(from, to uint32) {
	if from > 0 {
		if d.sizes[from]--; d.sizes[from] == 0 {
			delete(d.sizes, from)
		}
	}
	if to > 0 {
		d.sizes[to]++
	}
}

// leads says whether more devices report v than any other value.
func (d *digests) leads(v report.Digest) bool {
	return d.count[v] == d.most && d.sizes[d.most] == 1
}

// tell says whether to emit an event for a value: once each, and for so few values that a device
// that keeps changing its digest does not flood the recorder.
func tell(told *[]report.Digest, v report.Digest) bool {
	if len(*told) == maxValues || slices.Contains(*told, v) {
		return false
	}
	*told = append(*told, v)
	return true
}

// reports returns what devices report now. The result does not depend on map order. It stops as
// early as it can, because there are usually few values.
func (d *digests) reports() report.DigestReports {
	now := report.DigestReports{N: d.n, Reporters: uint32(len(d.by)), Source: d.source}
	if d.source != "" {
		now.Reference = d.reference
		now.Differing = now.Reporters - d.count[d.reference]
	}
	seen := map[report.Digest]bool{}
	named := min(int(now.Differing), maxDiffering)
	for _, id := range d.order {
		if len(seen) == len(d.count) && len(now.Differ) == named {
			break
		}
		v := d.by[id]
		if !seen[v] {
			seen[v] = true
			now.Values = append(now.Values, report.DigestCount{Digest: v, Devices: d.count[v]})
		}
		if v != d.reference && len(now.Differ) < named {
			now.Differ = append(now.Differ, id)
		}
	}
	slices.SortStableFunc(now.Values, func(a, b report.DigestCount) int {
		return cmp.Compare(b.Devices, a.Devices)
	})
	now.Values = slices.Clip(now.Values[:min(len(now.Values), maxValues)])
	return now
}
