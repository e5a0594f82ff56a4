package replica

import (
	"fmt"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// BenchmarkReplay applies records of P=10, one at a time and many at once.
func BenchmarkReplay(b *testing.B) {
	for _, dist := range []plan.Distribution{plan.Normal, plan.Rademacher} {
		for _, dim := range []uint64{28_938, 10_000_000} {
			for _, workers := range []int{1, 2} {
				for _, atOnce := range []int{1, 64} {
					name := fmt.Sprintf("%v/d=%d/workers=%d/records=%d", dist, dim, workers, atOnce)
					b.Run(name, func(b *testing.B) { benchmarkReplay(b, dist, dim, workers, atOnce) })
				}
			}
		}
	}
}

func benchmarkReplay(b *testing.B, dist plan.Distribution, dim uint64, workers, atOnce int) {
	const perturbations = 10
	p := basePlan()
	p.Dim, p.Distribution = dim, dist
	r, c := New(Config{Run: p.Run, Workers: workers}), newChain(p.Run)
	if err := r.Apply(c.plan(p)); err != nil {
		b.Fatal(err)
	}
	random, round, records := lcg(4), uint64(0), make([][]byte, atOnce)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		for i := range records {
			round++
			records[i] = c.round(round, 1e-6, perturbations, random.scalars(perturbations))
		}
		b.StartTimer()
		if n, err := r.ApplyAll(records); err != nil {
			b.Fatal(n, err)
		}
	}
	perSecond := float64(dim) * perturbations * float64(atOnce) * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(perSecond/1e6, "M/s")
}

// BenchmarkReplayOwn applies records of 10 contributors with 19 directions of their own, of signs,
// to a CNN of 28,938 parameters: 190 directions a record, by the rule normalized.
func BenchmarkReplayOwn(b *testing.B) {
	const contributors, perturbations = 10, 19
	p := planOf(b, `{"dim":28938,"perturbations":19,"distribution":"rademacher",`+
		`"difference":"forward","sharing":"per-client","transport":"relay","step":0.12,`+
		`"server_rule":"normalized","server_beta1":0.9,"server_beta2":0.99,"server_decay":0.03}`)
	for _, atOnce := range []int{1, 64} {
		b.Run(fmt.Sprintf("records=%d", atOnce), func(b *testing.B) {
			s := newScript(p)
			r := New(s.cfg)
			mustApply(b, r, s.records[0])
			b.ReportAllocs()
			for round := uint64(0); b.Loop(); {
				b.StopTimer()
				s.records = s.records[:0]
				for range atOnce {
					round++
					record := wire.Round{Round: round, StepSize: 0.12, Perturbations: perturbations,
						Contributors: contributors}
					for slot := range uint32(contributors) {
						record.Terms = append(record.Terms, wire.Term{Source: prng.Slot(slot),
							Scalars: s.random.scalars(perturbations)})
					}
					s.add(record)
				}
				b.StartTimer()
				if n, err := r.ApplyAll(s.records); err != nil {
					b.Fatal(n, err)
				}
			}
			records := float64(atOnce) * float64(b.N)
			b.ReportMetric(1e3*b.Elapsed().Seconds()/records, "ms/record")
		})
	}
}
