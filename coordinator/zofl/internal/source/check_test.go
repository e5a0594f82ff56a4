package source

import (
	"errors"
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// Check and Replay return the same position of a log.
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
		if err != nil || got.Plan.Run != "kitchen" || got.N != r.N() || got.Rounds != r.Rounds() ||
			got.LastEpoch != r.Epoch() ||
			got.Hash != r.Hash() || (got.End == nil) != (r.Ended() == nil) {
			t.Errorf("record %d: %+v, %v; a replay has record %d, round %d, %v", at, got, err,
				r.N(), r.Rounds(), r.Hash())
		}
	}
	c.records[5][len(c.records[5])-1] ^= 1
	if got, err := Check(t.Context(), Stored(c.log(), nil), 0); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("a changed record: %+v, %v", got, err)
	}
	d := newDenseChain(t)
	d.phases(3)
	if got, err := Check(t.Context(), d.source(all), 0); err != nil || got.N != 4 ||
		got.Rounds != 1 {
		t.Errorf("between two phases of round 2: %+v, %v, want round 1", got, err)
	}
}
