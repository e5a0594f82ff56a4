package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/plan/planfile"
)

// BenchmarkRecord makes the record of a round of 1000 contributors and 16 scalars.
func BenchmarkRecord(b *testing.B) {
	const devices, scalars = 1000, 16
	for _, aggregator := range []string{"weighted-mean", "median", "trimmed-mean"} {
		b.Run(aggregator, func(b *testing.B) {
			plan := methodPlan(b, []string{"trim=0", "aggregator=weighted-mean"}, devices)
			plan.Perturbations, plan.Quorum = scalars, 1
			if err := planfile.Set(plan, "aggregator", aggregator); err != nil {
				b.Fatal(err)
			}
			if aggregator == "trimmed-mean" {
				plan.Trim = 0.1
			}
			c := newTestCore(b, plan, devices)
			rng := rand.New(rand.NewPCG(1, 1))
			for d := range devices - 1 {
				c.Step(1, Input{Kind: InReply, ID: c.cohort.Roster.IDs[d],
					Frame: contributionOf(c, d, rng)})
			}
			for b.Loop() {
				c.body()
			}
		})
	}
}
