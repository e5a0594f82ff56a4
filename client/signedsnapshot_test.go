package client_test

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

// sign gives the host a key, and returns an edit of a client's config that pins the key.
func (h *host) sign() func(*client.Config) {
	h.t.Helper()
	var err error
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{3}, ed25519.SeedSize))
	if h.signer, err = signed.NewSigner(key); err != nil {
		h.t.Fatal(err)
	}
	return func(c *client.Config) { c.Coordinator = h.signer.Key().String() }
}

// vouch lets the host vouch for the state after record n.
func (h *host) vouch(n uint64) {
	digest := h.witness(n).Digest()
	h.vouches = map[uint64]wire.Reference{n: {N: n, Tip: wire.HashRecord(h.records[n-1]).Tip(),
		Digest: [8]byte(digest[:8])}}
}

// TestSignedSnapshots: a device that pins the coordinator's key takes a snapshot only if the
// coordinator vouches for its digest. The device never takes the plan's numbers from another party.
// The device ends with the log's bits in every case, also in a run without digests.
func TestSignedSnapshots(t *testing.T) {
	for _, tt := range []struct {
		name  string
		every uint32 // digest_every
		vouch bool
		hold  func(l *library, n uint64) // nil: the log's state
		asks  bool                       // the device begins a download
		takes bool
	}{
		{"vouched", 8, true, nil, true, true},
		{"not vouched", 8, false, nil, false, false},
		{"no digests", 0, false, nil, false, false},
		{"other vectors", 8, true, func(l *library, n uint64) {
			r := l.h.witness(n)
			r.Params()[3] = 1234
			l.hold(r, replica.History{})
		}, true, false},
		{"other numbers", 8, true, func(l *library, n uint64) {
			r := l.h.witness(n)
			r.Plan().DigestEvery, r.Plan().Mu = 0, 1000
			l.hold(r, replica.History{})
		}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				const dim, at = 2000, 48
				p := testPlan(dim)
				p.DigestEvery = tt.every
				h := newHost(t, p)
				d := h.device("d0", bowlLoss(dim, 0), horizon, h.sign())
				for range 58 {
					h.commit()
				}
				l := h.library(at)
				if tt.hold != nil {
					tt.hold(l, at)
				}
				if tt.vouch {
					h.vouch(at)
				}
				h.announce()
				h.one(wire.Contribution)
				h.agrees(d, h.last())
				if asks := l.pieces() > 0; asks != tt.asks {
					t.Errorf("%d pieces were asked for", l.pieces())
				}
				took := true // took: the device did not ask for the records before the snapshot
				for _, from := range h.asked() {
					took = took && (from == 1 || from >= at)
				}
				if took != tt.takes {
					t.Errorf("the device took the snapshot: %v, want %v", took, tt.takes)
				}
			})
		})
	}
}
