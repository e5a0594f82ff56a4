package fleet_test

import (
	"testing"

	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/grouping"
)

// TestSketchesAreQueries: before the first round all devices sketch, those too that it does not
// ask. RoundQueries counts that, and Options.Queries has room for it.
func TestSketchesAreQueries(t *testing.T) {
	for _, difference := range []wire.Difference{wire.Forward, wire.Central} {
		p := newPlan(t, "zofl", 30, 30)
		p.Groups, p.GroupSize, p.Regroup, p.Target, p.Quorum = grouping.Sketch, 2, 3, 4, 2
		p.Difference = difference
		most := uint64(0)
		for round := range p.Rounds {
			most += fleet.RoundQueries(p, round+1, 6)
		}
		devices := bowls(6, 30)
		r, err := fleet.Run(t.Context(), p, objectives(devices), fleet.Options{Queries: most})
		if err != nil || len(r.Rounds) != 30 || r.Queries != most || total(devices) != most {
			t.Errorf("%v: %v, %d rounds, %d queries, %d asked, want %d", difference, err, len(r.Rounds),
				r.Queries, total(devices), most)
		}
		if last := r.Rounds[len(r.Rounds)-1]; last.Queries != most {
			t.Errorf("%v: %d queries by the last round, want %d", difference, last.Queries, most)
		}
		devices = bowls(6, 30)
		r, err = fleet.Run(t.Context(), p, objectives(devices), fleet.Options{Queries: most - 1})
		if err != nil || len(r.Rounds) != 29 || r.Queries >= most || total(devices) != r.Queries {
			t.Errorf("%v, one fewer: %v, %d rounds, %d queries, %d asked", difference, err,
				len(r.Rounds), r.Queries, total(devices))
		}
	}
}
