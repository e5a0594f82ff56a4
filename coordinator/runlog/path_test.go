package runlog

import (
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/wire"
)

// In these logs, each record is a round, except the rollbacks. The map gives for each rollback the
// record to which it returns.
func TestPath(t *testing.T) {
	type rollbacks map[uint64]uint64
	for _, tt := range []struct {
		last uint64
		to   rollbacks
		want []uint64
	}{
		{3, nil, []uint64{1, 2, 3}},
		{5, rollbacks{4: 2}, []uint64{1, 2, 4, 5}},
		{4, rollbacks{4: 2}, []uint64{1, 2, 4}},
		{7, rollbacks{4: 2, 6: 3}, []uint64{1, 2, 3, 6, 7}},
		{7, rollbacks{4: 2, 6: 5}, []uint64{1, 2, 4, 5, 6, 7}},
		{4, rollbacks{4: 1}, []uint64{1, 4}},
	} {
		p := &Position{}
		for n := uint64(1); n <= tt.last; n++ {
			r := wire.Record{N: n, Prev: p.Hash, Epoch: 1}
			switch to, back := tt.to[n]; {
			case n == 1:
				r.Kind, r.Plan = wire.KindPlan, chaintest.Plan(t)
				r.Prev = wire.Genesis(r.Plan.Run)
			case back:
				r.Kind, r.To = wire.KindRollback, to
			default:
				r.Kind = wire.KindRound
				r.Round = &wire.Round{Round: p.Rounds + 1, StepSize: 1, Terms: []wire.Term{{}}}
			}
			if _, err := p.Apply(r.Append(nil)); err != nil {
				t.Fatal(err)
			}
		}
		var got []uint64
		for i, counts := range p.Path() {
			if counts {
				got = append(got, uint64(i)+1)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%d records with rollbacks %v: got %v, want %v", tt.last, tt.to, got, tt.want)
		}
	}
}
