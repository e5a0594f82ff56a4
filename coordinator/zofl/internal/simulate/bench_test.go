package simulate

import (
	"fmt"
	"testing"

	clientobjective "github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/internal/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// BenchmarkThousand measures a round of 1,000 devices that all contribute, with a loss that costs
// almost no time, and with all files.
func BenchmarkThousand(b *testing.B) {
	for _, name := range []string{"zofl", "decomfl"} {
		for _, dim := range []int{100, 10000} {
			b.Run(fmt.Sprintf("%s/dim=%d", name, dim), func(b *testing.B) { benchmark(b, name, dim) })
		}
	}
}

func benchmark(b *testing.B, name string, dim int) {
	p, err := preset.Unbound(name, "bench", uint64(dim))
	if err != nil {
		b.Fatal(err)
	}
	p.Members, p.Target, p.Rounds = 1000, 1000, uint64(b.N)
	preset.Fit(p)
	c := &Config{Plan: p, Seeds: []uint64{1},
		Devices: func(p *plan.Plan, _ uint64) (list []clientobjective.Objective, err error) {
			for i := range p.Members {
				o, err := objective.New("none", fmt.Sprint("d", i), dim)
				if err != nil {
					return nil, err
				}
				list = append(list, o)
			}
			return list, nil
		}}
	runs, err := Runs(c)
	if err != nil {
		b.Fatal(err)
	}
	dir, err := NewDir(b.TempDir(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	c.Sinks = []Sink{dir}
	b.ResetTimer()
	if err := Lead(b.Context(), c, runs); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric(float64(runs[0].Outcome.Seconds)/float64(b.N), "s/round")
	if err := dir.Close(runs); err != nil {
		b.Fatal(err)
	}
}
