//go:build unix

package lowrank_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/zofl/zofl/internal/isa"
	"github.com/zofl/zofl/internal/smollm"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/prng/lowrank"
)

// benchShapes are matrices of language models and vision, one alone and with biases.
var benchShapes = map[string][]lowrank.Shape{
	"1536x576": {{Rows: 1536, Columns: 576}},
	"odd":      {{Rows: 1000, Columns: 577}, {Columns: 1000}, {Rows: 577, Columns: 127}},
	"small":    {{Rows: 32, Columns: 400}, {Columns: 32}, {Rows: 10, Columns: 512}, {Columns: 10}},
}

// BenchmarkSum reports the billions of elements of directions that one thread adds in a second of
// its processor, in parts, as a replica does: of directions of rank 1, apart from loading their
// signs, and beside them of Rademacher directions.
func BenchmarkSum(b *testing.B) {
	for _, name := range []string{"1536x576", "odd", "small"} {
		l := lowrank.New(benchShapes[name])
		for _, terms := range []int{8, 64, 192} {
			for _, level := range isa.Levels() {
				b.Run(fmt.Sprintf("%s/S=%d/%v", name, terms, level), func(b *testing.B) {
					defer isa.Use(isa.Use(level))
					benchSum(b, l, terms)
				})
			}
		}
	}
}

func benchSum(b *testing.B, l *lowrank.Layout, n int) {
	x := make([]float32, l.Len())
	z, a, terms := make([]prng.Direction, n), make([]float32, n), make([]prng.Term, n)
	for k := range z {
		z[k] = prng.Direction{Key: 5, Perturbation: uint16(k), Dist: prng.Rademacher}
		a[k] = 0.001 * float32(k+1)
		terms[k] = prng.Term{A: a[k], Z: z[k]}
	}
	var s lowrank.Signs
	var sums lowrank.Sums
	for _, kind := range []struct {
		name string
		f    func()
	}{
		{"lowrank", func() {
			sums.Set(a)
			eachTile(x, func(part []float32, at int) { l.Sum(part, at, &s, &sums) })
		}},
		{"load", func() { l.Load(&s, z) }},
		{"rademacher", func() {
			eachTile(x, func(part []float32, at int) {
				prng.Sum(part, terms, uint32(at/prng.BlockLen))
			})
		}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			l.Load(&s, z)
			start := processor(b)
			for b.Loop() {
				kind.f()
			}
			all := float64(n) * float64(l.Len()) * float64(b.N)
			b.ReportMetric(all/(processor(b)-start).Seconds()/1e9, "G/s")
		})
	}
}

// eachTile calls f for parts of x as long as those of a replica.
func eachTile(x []float32, f func(part []float32, at int)) {
	const tile = 64 * prng.BlockLen
	for at := 0; at < len(x); at += tile {
		f(x[at:min(at+tile, len(x))], at)
	}
}

// processor returns the time that this process used of processors: others may use them too.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// languageModel returns the shapes of a language model.
func languageModel() (shapes []lowrank.Shape) {
	for _, s := range smollm.Segments() {
		shapes = append(shapes, lowrank.Shape{Rows: int(s.Rows), Columns: int(s.Columns())})
	}
	return shapes
}

// BenchmarkLanguageModel reports how long one thread takes to catch up on 30,000 directions of a
// language model. It runs through five records of 190, part by part, as a replica does.
func BenchmarkLanguageModel(b *testing.B) {
	const records, each = 5, 190
	l := lowrank.New(languageModel())
	x := make([]float32, l.Len())
	z, a := make([]prng.Direction, each), make([]float32, each)
	var s [records]lowrank.Signs
	var sums [records]lowrank.Sums
	start := processor(b)
	for b.Loop() {
		for r := range records {
			for k := range z {
				z[k] = prng.Direction{Key: prng.Key(r), Perturbation: uint16(k)}
				a[k] = 1e-6 * float32(k+1)
			}
			l.Load(&s[r], z)
			sums[r].Set(a)
		}
		eachTile(x, func(part []float32, at int) {
			for r := range records {
				l.Sum(part, at, &s[r], &sums[r])
			}
		})
	}
	took := (processor(b) - start).Seconds() / float64(b.N)
	b.ReportMetric(took*30_000/(records*each), "s/30000")
	b.ReportMetric(float64(l.Len())*records*each/took/1e9, "G/s")
	b.ReportMetric(float64(l.Factors()), "factors")
}
