package client

import (
	"context"
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
func (d *digests) heed(a *arrival) {
	r, ok := a.Reference()
	if !ok || r == d.reference {
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
func (c *Client) digestIfDue(last uint64) {
	n, every := c.replica.N(), c.replica.Plan().DigestEvery
	tip := c.replica.Hash().Tip()
	if !due(n, every) || !c.whole() || n+statesKept*uint64(every) <= last && !c.digests.of(n, tip) {
		return
	}
	digest := c.replica.Digest()
	c.digests.add(stateDigest{n: n, tip: tip, digest: [8]byte(digest[:8])})
}

// reportDigests sends the digests of all states that are new, of a passive
// replica.
func (c *Client) reportDigests(ctx context.Context) error {
	for i := range c.digests.states {
		s := &c.digests.states[i]
		if s.reported {
			continue
		}
		sent, err := c.publish(ctx, digestReport(s))
		if err != nil || !sent {
			return err // offline: the next announcement is another chance
		}
		s.reported = true
	}
	return nil
}

// reportDigest sends the state's digest from a device that takes part.
func (c *Client) reportDigest(ctx context.Context, a *arrival) error {
	plan, n := c.replica.Plan(), c.replica.N()
	if a.State != wire.Open || !a.Cohort.Has(plan.Run, a.N, a.Attempt, c.slot, c.cfg.ID) {
		return nil
	}
	for i := range c.digests.states {
		if s := &c.digests.states[i]; s.n == n && !s.reported {
			s.reported = true
			_, err := c.publish(ctx, digestReport(s))
			return err
		}
	}
	return nil
}

func digestReport(s *stateDigest) []byte {
	reply := wire.Reply{Kind: wire.DigestReport, N: s.n, Tip: s.tip, Digest: s.digest}
	return reply.Append(nil)
}
