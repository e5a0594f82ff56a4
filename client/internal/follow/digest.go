package follow

import (
	"slices"

	"github.com/zofl/zofl/wire"
)

// statesKept is how many digests of its own states a device remembers.
const statesKept = 4

// A stateDigest is the digest of a state that was due.
type stateDigest struct {
	n        uint64
	tip      wire.Tip
	digest   [8]byte
	reported bool
}

// digests are those of this device's last states that were due, and the run's
// reference for one of them.
type digests struct {
	states    []stateDigest // ascending, at most statesKept
	reference wire.Reference
	own       *[8]byte // of the state that reference is of, nil: not known
}

// forget is for a state that begins anew.
func (d *digests) forget() { d.states, d.own = nil, nil }

// add notes the digest of a state.
func (d *digests) add(s stateDigest) {
	d.states = slices.DeleteFunc(d.states, func(old stateDigest) bool { return old.n >= s.n })
	if len(d.states) == statesKept {
		d.states = slices.Delete(d.states, 0, 1)
	}
	d.states = append(d.states, s)
	if d.of(s.n, s.tip) {
		d.own = &s.digest
	}
}

// of says whether the reference is of a state.
func (d *digests) of(n uint64, tip wire.Tip) bool {
	return d.reference.N == n && d.reference.Tip == tip
}

// heed takes the reference of an announcement that the log agrees with.
func (d *digests) heed(h *Head) {
	r := h.Reference
	if r.N == 0 || r == d.reference {
		return
	}
	d.reference, d.own = r, nil
	for _, s := range d.states {
		if d.of(s.n, s.tip) {
			d.own = &s.digest
		}
	}
}

// digestIfDue remembers the digest of the state after a record that was just
// applied, if the plan has them compared: not in the early part of a replay
// that ends at record last, as nobody asks for those, and not of a state that lacks
// vectors.
func (f *Follower) digestIfDue(last uint64) {
	n, every := f.replica.N(), f.replica.Plan().DigestEvery
	tip := f.replica.Hash().Tip()
	if !due(n, every) || !f.whole() || n+statesKept*uint64(every) <= last && !f.digests.of(n, tip) {
		return
	}
	digest := f.replica.Digest()
	f.digests.add(stateDigest{n: n, tip: tip, digest: [8]byte(digest[:8])})
}

// Unreported returns the oldest digest of a state that is to be reported, as a frame, and
// what notes that it was; nil: there is none. n is the only record of interest, 0: any.
func (f *Follower) Unreported(n uint64) (frame []byte, reported func()) {
	for i := range f.digests.states {
		s := &f.digests.states[i]
		if s.reported || n > 0 && s.n != n {
			continue
		}
		report := wire.Reply{Kind: wire.DigestReport, N: s.n, Tip: s.tip, Digest: s.digest}
		return report.Append(nil), func() { s.reported = true }
	}
	return nil, nil
}
