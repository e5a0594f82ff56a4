package evolution

import (
	"fmt"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// BenchmarkApply replays a record of the usual number of candidates.
func BenchmarkApply(b *testing.B) {
	for _, covariance := range []plan.Covariance{plan.FullCovariance, plan.LimitedCovariance} {
		for _, d := range []uint64{6, 20, 100, 300, 1000} {
			b.Run(fmt.Sprint(covariance, "/", d), func(b *testing.B) {
				p := &plan.Plan{Dim: d}
				p.StepSize, p.ServerRule, p.Covariance = 0.3, plan.ServerCMA, covariance
				s := New(p, make([]float32, d), nil)
				losses := make([]float32, plan.Candidates(d))
				ring, n := prng.NewKeyring([]byte("cma")), uint64(0)
				b.ReportAllocs()
				for b.Loop() {
					n++
					for k := range losses {
						losses[k] = float32((7*uint64(k) + 3*n) % uint64(len(losses)))
					}
					s.Apply(prng.Direction{Key: ring.Key(n), Dist: prng.Normal}, plan.Candidates(d), losses)
				}
			})
		}
	}
}
