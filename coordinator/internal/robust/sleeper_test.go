package robust

import (
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/plan"
)

// TestSleepers has a fifth of the devices be honest for 200 rounds, and then lie. These devices
// lose their weight after a few rounds of lies.
func TestSleepers(t *testing.T) {
	const good, struck, most = 200, 30, 6
	for name, lie := range lies {
		f := fleet{rng: rand.New(rand.NewPCG(5, 6)), n: 20, lie: lie, scalar: 10}
		g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 3, Trust: 10}})
		counts := 0.0 // for how many rounds the first liar counts in all
		for r := range good + struck {
			if r == good {
				f.liars = 4
			}
			if r == good && g.Weight(0, 1) < full {
				t.Errorf("%s: it has earned %d of %d", name, g.Weight(0, 1), full)
			}
			if g.round(f.round()); r >= good {
				counts += float64(g.Weight(0, 1)) / full
			}
		}
		if counts > most {
			t.Errorf("%s: it counts for %.1f rounds in all, want at most %d", name, counts, most)
		}
	}
}

// TestOccasionalLiars shows a known gap: a device that lies in two rounds of ten has full weight in
// these two rounds too. A device that lies in half of the rounds has not.
func TestOccasionalLiars(t *testing.T) {
	const period, after, rounds = 10, 50, 400
	for lies, in := range map[int][2]float64{2: {0.95, 1}, 5: {0, 0.25}} {
		f := fleet{rng: rand.New(rand.NewPCG(5, 6)), n: 20, lie: times(-1), scalar: 10}
		g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: 3, Trust: period}})
		counts, n := 0.0, 0.0
		for r := range rounds {
			if f.liars = 0; r >= after && r%period < lies {
				f.liars = 4
			}
			if g.round(f.round()); f.liars > 0 {
				counts, n = counts+float64(g.Weight(0, 1))/full, n+1
			}
		}
		if share := counts / n; share < in[0] || share > in[1] {
			t.Errorf("%d lies in %d rounds count %.2f, want %v", lies, period, share, in)
		}
	}
}
