//go:build unix

package replica

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/zofl/zofl/internal/smollm"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// BenchmarkCatchUp applies records of ten contributors with 19 directions of their own to a
// language model, by the rule normalized, and reports how long the processor takes for 30,000
// directions, on one core, as many records at once as pass together. Once the signs must fit 2 MB.
// It needs 1.1 GB.
func BenchmarkCatchUp(b *testing.B) {
	const contributors, perturbations = 10, 19
	const atOnce = maxTerms / (contributors * perturbations)
	for _, test := range []struct {
		dist  plan.Distribution
		limit int // of signs; 0: the usual
	}{{plan.LowRank, 0}, {plan.LowRank, 2 << 20}, {plan.Rademacher, 0}} {
		b.Run(fmt.Sprint(test.dist, test.limit>>20), func(b *testing.B) {
			p := planOf(b, `{"dim":28938,"perturbations":19,"difference":"forward","sharing":"per-client",`+
				`"transport":"relay","step":0.12,"server_rule":"normalized","server_beta1":0.9,`+
				`"server_beta2":0.99,"server_decay":0.03}`)
			p.Distribution, p.Segments, p.Dim = test.dist, smollm.Segments(), 0
			for _, s := range p.Segments {
				p.Dim += s.Len
			}
			s := newScript(p)
			r := New(s.cfg)
			mustApply(b, r, s.records[0])
			if test.limit > 0 {
				r.factors.limit = test.limit
			}
			round, took := uint64(0), 0.0
			apply := func(n int) {
				s.records = s.records[:0]
				for range n {
					round++
					record := wire.Round{Round: round, StepSize: 0.12, Perturbations: perturbations,
						Contributors: contributors}
					for slot := range uint32(contributors) {
						record.Terms = append(record.Terms, wire.Term{Source: prng.Slot(slot),
							Scalars: s.random.scalars(perturbations)})
					}
					s.add(record)
				}
				if n, err := r.ApplyAll(s.records); err != nil {
					b.Fatal(n, err)
				}
			}
			apply(1) // writes to memory that is new
			for b.Loop() {
				start := processorSeconds(b)
				apply(atOnce)
				took += processorSeconds(b) - start
			}
			directions := float64(b.N) * atOnce * contributors * perturbations
			b.ReportMetric(took*30_000/directions, "s/30000")
			b.ReportMetric(directions*float64(p.Dim)/took/1e9, "G/s")
		})
	}
}

// processorSeconds returns the time that this process used of processors: others use them too.
func processorSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
