// Package digests counts the digests that devices report for a state, and decides which digest is
// the reference.
package digests

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// These limits bound the counted and reported digests. The digests of a state that 65,536 devices
// have reported take about 2.5 MiB.
const (
	MostReporters = 1 << 16 // devices per state, besides witnesses
	MostValues    = 8       // values per state that are reported
	mostDiffering = 16      // ids per state that are reported
)

// plurality is the number of devices that must report a digest before the digest can be the
// reference without a witness. More devices must report it than any other digest.
const plurality = 3

// byPlurality is the source of a reference that no witness reported.
const byPlurality = "plurality"

// Digests counts the digests that devices report for the state after one record.
//
// Invariants:
//  1. count[v] is the number of entries of by with value v, and never 0.
//  2. sizes[n] is the number of values that exactly n devices report. most is the largest such n.
//  3. order has the keys of by, in the order of their first report.
type Digests struct {
	N   uint64
	Tip wire.Tip

	by    map[string]report.Digest
	order []string
	count map[report.Digest]uint32
	sizes map[uint32]int
	most  uint32
	told  []report.Digest // values whose first report was an event, at most MostValues

	reference report.Digest
	source    string          // of the reference; "" for none
	rank      int             // of the witness that is the source
	referred  []report.Digest // values that an event named as the reference, at most MostValues

	polls []poll // of a strict booth
	asked uint64 // devices in polls, those asked twice counted twice
}

// New returns a Digests for the state after record n, without any report.
func New(n uint64, tip wire.Tip) *Digests {
	return &Digests{
		N: n, Tip: tip,
		by: map[string]report.Digest{}, count: map[report.Digest]uint32{}, sizes: map[uint32]int{},
	}
}

// Has says whether a device's last report is digest.
func (d *Digests) Has(id string, digest report.Digest) bool {
	before, again := d.by[id]
	return again && before == digest
}

// Full says whether there is no room for a device that has not reported yet.
func (d *Digests) Full(id string) bool {
	_, again := d.by[id]
	return !again && len(d.by) >= MostReporters
}

// Set counts a device's digest in place of the device's last digest. The two digests must differ.
func (d *Digests) Set(id string, digest report.Digest) {
	if before, again := d.by[id]; again {
		d.leave(before)
	} else {
		d.order = append(d.order, id)
	}
	d.by[id] = digest
	d.enter(digest)
}

// Differs says whether the digest that was just counted differs from other digests and should be
// reported.
func (d *Digests) Differs(digest report.Digest) bool {
	return d.count[digest] == 1 && len(d.count) > 1 && tell(&d.told, digest)
}

// Refer decides whether digest, which was just counted, becomes the reference. A witness's digest
// does if no witness with a better rank has reported the state. Another device's digest does if no
// witness has reported the state and more devices report this digest than any other. A tie changes
// nothing. rank is the rank of the witness that reported the digest, negative for another device. A
// strict count accepts only witnesses if there are any, and otherwise only a digest of a majority
// of the devices asked. changed says whether the reference or its source has changed; tells says
// whether to report that.
func (d *Digests) Refer(digest report.Digest, witnesses []string, rank int, strict bool) (
	changed, tells bool) {
	source := byPlurality
	witnessed := d.source != "" && d.source != byPlurality
	switch {
	case rank >= 0 && (!witnessed || rank <= d.rank):
		source, d.rank = witnesses[rank], rank
	case strict && (len(witnesses) > 0 || 2*uint64(d.count[digest]) <= d.asked):
		return false, false
	case witnessed, d.count[digest] < plurality, !d.leads(digest):
		return false, false
	}
	if d.source == source && d.reference == digest {
		return false, false
	}
	d.source, d.reference = source, digest
	return true, tell(&d.referred, digest)
}

func (d *Digests) enter(v report.Digest) {
	n := d.count[v]
	d.resize(n, n+1)
	d.count[v] = n + 1
	d.most = max(d.most, n+1)
}

func (d *Digests) leave(v report.Digest) {
	n := d.count[v]
	d.resize(n, n-1)
	if d.count[v] = n - 1; n == 1 {
		delete(d.count, v)
	}
	if d.most == n && d.sizes[n] == 0 {
		d.most--
	}
}

// resize moves one value in sizes from count from to count to.
func (d *Digests) resize(from, to uint32) {
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
func (d *Digests) leads(v report.Digest) bool {
	return d.count[v] == d.most && d.sizes[d.most] == 1
}

// tell says whether to emit an event for a value: once for each value, and only for MostValues
// values, so that a device that keeps changing its digest does not flood the recorder.
func tell(told *[]report.Digest, v report.Digest) bool {
	if len(*told) == MostValues || slices.Contains(*told, v) {
		return false
	}
	*told = append(*told, v)
	return true
}

// Reports returns the digests that devices have reported so far. The result does not depend on map
// order. Reports stops as soon as it has seen all values, because there are usually few values.
func (d *Digests) Reports() report.DigestReports {
	now := report.DigestReports{N: d.N, Reporters: uint32(len(d.by)), Source: d.source}
	if d.source != "" {
		now.Reference = d.reference
		now.Differing = now.Reporters - d.count[d.reference]
	}
	seen := map[report.Digest]bool{}
	named := min(int(now.Differing), mostDiffering)
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
	now.Values = slices.Clip(now.Values[:min(len(now.Values), MostValues)])
	return now
}
