package follow

import (
	"slices"

	"github.com/zofl/zofl/wire"
)

// statesMost is how many digests of its own states a device keeps.
const statesMost = 4

// A stateDigest is the digest of one of this device's states.
type stateDigest struct {
	n        uint64
	tip      wire.Tip
	digest   [8]byte
	reported bool
}

// digests holds the digests of this device's last states at which the plan asks for a digest.
// digests also holds the run's latest reference.
type digests struct {
	states    []stateDigest // ascending, at most statesMost
	reference wire.Reference
	own       *[8]byte // this device's digest of the reference's state; nil: not known
}

// forget forgets this device's digests, because its state starts over.
func (d *digests) forget() { d.states, d.own = nil, nil }

// add notes the digest of a state.
func (d *digests) add(s stateDigest) {
	d.states = slices.DeleteFunc(d.states, func(old stateDigest) bool { return old.n >= s.n })
	if len(d.states) == statesMost {
		d.states = slices.Delete(d.states, 0, 1)
	}
	d.states = append(d.states, s)
	if d.refersTo(s.n, s.tip) {
		d.own = &s.digest
	}
}

// refersTo says whether the reference is the digest of the state after record n.
func (d *digests) refersTo(n uint64, tip wire.Tip) bool {
	return d.reference.N == n && d.reference.Tip == tip
}

// setReference takes over the reference in a head that agrees with the replica.
func (d *digests) setReference(r wire.Reference) {
	if r == d.reference {
		return
	}
	d.reference, d.own = r, nil
	for _, s := range d.states {
		if d.refersTo(s.n, s.tip) {
			d.own = &s.digest
		}
	}
}

// digestIfDue computes the digest of the present state if the plan's DigestEvery makes it due.
// digestIfDue computes no digest for a state that lacks vectors. digestIfDue also leaves out early
// states of a replay up to record last, because no reference will name such a state.
func (f *Follower) digestIfDue(last uint64) {
	n, every := f.replica.N(), f.replica.Plan().DigestEvery
	if !due(n, every) || !f.whole() {
		return
	}
	tip := f.replica.Hash().Tip()
	if early := n+statesMost*uint64(every) <= last; early && !f.digests.refersTo(n, tip) {
		return
	}
	digest := f.replica.Digest()
	f.digests.add(stateDigest{n: n, tip: tip, digest: [8]byte(digest[:8])})
}

// Unreported returns the frame of the oldest digest that the device has not reported yet: of the
// state after record n, or for n = 0 of any state; nil: there is none. Call reported once you have
// sent the frame.
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
