package mathx

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/zofl/zofl/internal/isa"
)

var sink float64 // keeps a benchmarked result alive

// benchCases are the operations on n elements, with values that neither grow nor vanish,
// and the bytes read and written for each element.
func benchCases(n int) []benchCase {
	g := lcg(4)
	var v [5][]float32
	for j := range v {
		v[j] = g.vector(n, 110)
	}
	absolute(v[2])
	for i := range v[3] {
		v[3][i] = 1 // above v, as after many rounds
	}
	adaptive := Adaptive{Alpha: 1e-3, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8}
	gram, q := gramOf(v[:]), g.columns(len(v), n, 110)
	r := make([]float64, len(gram))
	Cholesky(r, gram)
	return []benchCase{
		{"Axpy", 12, func() { Axpy(v[0], 1e-3, v[4]) }},
		{"Descend", 12, func() { Descend(v[0], 1e-3, v[4]) }},
		{"Momentum", 12, func() { Momentum(v[1], 0.9, 0.1, v[4]) }},
		{"MomentumThenDescend", 24, func() {
			Momentum(v[1], 0.9, 0.1, v[4])
			Descend(v[0], 1e-3, v[1])
		}},
		{"MomentumStep", 20, func() { MomentumStep(v[0], v[1], 0.9, 0.1, 1e-3, v[4]) }},
		{"AdaptiveStep", 36, func() { AdaptiveStep(v[0], v[1], v[2], v[3], adaptive, v[4]) }},
		{"AdamStep", 28, func() { AdamStep(v[0], v[1], v[2], adaptive, v[4]) }},
		{"YogiStep", 28, func() { YogiStep(v[0], v[1], v[2], adaptive, v[4]) }},
		{"AdaGradStep", 28, func() { AdaGradStep(v[0], v[1], v[2], adaptive, v[4]) }},
		{"SignStep", 12, func() { SignStep(v[0], 1e-3, v[4]) }},
		{"Scale", 8, func() { Scale(v[0], 0.5, v[4]) }},
		{"Sub", 12, func() { Sub(v[0], v[1], v[4]) }},
		{"SumSquares", 4, func() { sink += SumSquares(v[0]) }},
		{"GramOfFive", 20, func() { Gram(gram, v[:]) }},
		{"OrthonormalizeFive", 40, func() { Orthonormalize(q, v[:], r) }},
		{"Dot", 8, func() { sink += Dot(v[0], v[4]) }},
	}
}

type benchCase struct {
	name  string
	bytes int // read and written for an element
	call  func()
}

var benchLengths = []int{64, 4096, 65536, 1 << 20}

// BenchmarkVectors reports elements a second at every level. The reported MB/s count bytes read and
// written.
func BenchmarkVectors(b *testing.B) {
	for _, n := range benchLengths {
		for _, c := range benchCases(n) {
			for _, l := range isa.Levels()[:min(2, len(isa.Levels()))] {
				b.Run(fmt.Sprintf("%s/%d/%v", c.name, n, l), func(b *testing.B) {
					defer isa.Use(isa.Use(l))
					b.SetBytes(int64(c.bytes * n))
					for b.Loop() {
						c.call()
					}
					b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
				})
			}
		}
	}
}

// BenchmarkRatio reports how many times faster the best level is than Go code. Each repetition
// times both, and the result is the median.
func BenchmarkRatio(b *testing.B) {
	for _, n := range benchLengths {
		for _, c := range benchCases(n) {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				var ratios []float64
				for b.Loop() {
					generic := elapsed(isa.Generic, n, c.call)
					ratios = append(ratios,
						float64(generic)/float64(elapsed(isa.Best(), n, c.call)))
				}
				slices.Sort(ratios)
				b.ReportMetric(ratios[len(ratios)/2], "x")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// elapsed times about a million elements at a level.
func elapsed(l isa.Level, n int, call func()) time.Duration {
	defer isa.Use(isa.Use(l))
	call()
	start := time.Now()
	for range 1 + 1<<20/n {
		call()
	}
	return time.Since(start)
}
