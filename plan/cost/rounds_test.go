package cost_test

import (
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/preset"
)

// TestRounds: the sums agree with rounds that are counted one by one, also where P changes.
func TestRounds(t *testing.T) {
	schedule := []plan.PerturbationPoint{{Round: 1, Perturbations: 3}, {Round: 4, Perturbations: 20},
		{Round: 40, Perturbations: 1}}
	for _, name := range preset.Names() {
		for _, points := range [][]plan.PerturbationPoint{nil, schedule} {
			p, err := preset.Unbound(name, "rounds", 7)
			if err != nil {
				t.Fatal(err)
			}
			p.PerturbationSchedule = points
			sum := cost.Surveys(p)
			if got := cost.Rounds(p, sum); got != 0 {
				t.Errorf("%s: %d rounds with what the surveys take", name, got)
			}
			for n := uint64(1); n < 60; n++ {
				sum += cost.Of(p, cost.Input{Round: n}).Queries
				least, most := cost.Rounds(p, sum-1), cost.Rounds(p, sum)
				if got := cost.Queries(p, n); got != sum || least != n-1 || most != n {
					t.Fatalf("%s: %d rounds take %d evaluations, want %d; %d and %d rounds fit", name, n, got,
						sum, least, most)
				}
			}
			if got := cost.Rounds(p, 1<<63); got != plan.MaxRound {
				t.Errorf("%s: %d rounds, want no more than there are", name, got)
			}
		}
	}
}
