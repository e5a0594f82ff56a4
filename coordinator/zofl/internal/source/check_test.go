package source

import (
	"errors"
	"testing"

	"github.com/zofl/zofl/wire"
)

// TestCheck: what a chain comes to is what a replay of it comes to.
func TestCheck(t *testing.T) {
	c := newChain(t)
	c.train(6)    // 2..7
	c.rollback(4) // 8
	c.train(2)    // 9, 10
	c.rollback(3) // 11
	c.train(1)    // 12
	c.add(wire.Record{Kind: wire.KindEnd, End: &wire.End{Reason: wire.EndRequested}})
	src := reused{Stored(c.log(), nil)}
	for at := uint64(0); at <= 13; at++ {
		r, err := Replay(t.Context(), src, Config{At: at})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Check(t.Context(), src, at)
		if err != nil || got.Run != "kitchen" || got.N != r.N() || got.Rounds != r.Rounds() || got.Epoch != r.Epoch() ||
			got.Hash != r.Hash() || (got.Ended == nil) != (r.Ended() == nil) {
			t.Errorf("record %d: %+v, %v; a replay has record %d, round %d, %v", at, got, err, r.N(), r.Rounds(), r.Hash())
		}
	}
	c.records[5][len(c.records[5])-1] ^= 1
	if got, err := Check(t.Context(), Stored(c.log(), nil), 0); !errors.Is(err, ErrBroken) {
		t.Errorf("a changed record: %+v, %v", got, err)
	}
	var chain Chain
	for n, phase := range []uint8{1, 2, 1} {
		chain.note(&wire.Record{N: uint64(2 + n), Kind: wire.KindRound, Round: &wire.Round{Round: uint64(1 + n/2), Phase: phase}}, true)
	}
	if chain.N != 4 || chain.Rounds != 1 {
		t.Errorf("between two phases of round 2: %+v, want round 1", chain)
	}
}
