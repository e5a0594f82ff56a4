package prng

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/internal/isa"
)

var benchLengths = []int{100, 4096, 65536, 1 << 20}

// bench reports seed-elements a second for f on vectors of several lengths; f handles seeds
// directions in a call.
func bench(b *testing.B, seeds int, f func(dst []float32)) {
	for _, n := range benchLengths {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dst := make([]float32, n)
			b.SetBytes(int64(4 * n))
			for b.Loop() {
				f(dst)
			}
			perSecond := float64(n) * float64(seeds) * float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(perSecond/1e6, "M/s")
		})
	}
}

// BenchmarkNormFloat64 is the baseline of the other benchmarks: Axpy with the standard library's
// normals.
func BenchmarkNormFloat64(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	bench(b, 1, func(dst []float32) { axpyNormFloat64(dst, r) })
}

func axpyNormFloat64(dst []float32, r *rand.Rand) {
	for i := range dst {
		dst[i] += float32(0.001 * float32(r.NormFloat64()))
	}
}

func BenchmarkFillNormal(b *testing.B) {
	bench(b, 1, func(dst []float32) { Fill(dst, Direction{Dist: Normal}, 0) })
}

func BenchmarkAxpyNormal(b *testing.B) {
	bench(b, 1, func(dst []float32) { Axpy(dst, 0.001, Direction{Dist: Normal}, 0) })
}

func BenchmarkAxpyRademacher(b *testing.B) {
	bench(b, 1, func(dst []float32) { Axpy(dst, 0.001, Direction{Dist: Rademacher}, 0) })
}

func BenchmarkDotNormal(b *testing.B) {
	bench(b, 1, func(g []float32) { Dot(g, Direction{Dist: Normal}, 0) })
}

func BenchmarkDotRademacher(b *testing.B) {
	bench(b, 1, func(g []float32) { Dot(g, Direction{Dist: Rademacher}, 0) })
}

func BenchmarkPerturbNormal(b *testing.B) {
	x := make([]float32, benchLengths[len(benchLengths)-1])
	bench(b, 1, func(dst []float32) {
		Perturb(dst, x[:len(dst)], 0.001, Direction{Dist: Normal}, 0)
	})
}

func BenchmarkUniform(b *testing.B) {
	bench(b, 1, func(dst []float32) { Uniform(dst, Direction{Domain: Initial}, 0) })
}

func BenchmarkSumNormal8(b *testing.B) {
	list := terms("nnnnnnnn")
	bench(b, 8, func(dst []float32) { Sum(dst, list, 0) })
}

func BenchmarkSumRademacher64(b *testing.B) {
	list := terms(strings.Repeat("r", 64))
	bench(b, 64, func(dst []float32) { Sum(dst, list, 0) })
}

func BenchmarkSquaredNorm(b *testing.B) {
	bench(b, 1, func(dst []float32) { SquaredNorm(Direction{Dist: Normal}, uint64(len(dst))) })
}

// ratioLen is the length of BenchmarkRatio's vectors, which fit a second-level cache.
const ratioLen = 65536

// BenchmarkRatio reports how many times faster the kernels are than the NormFloat64 loop, with each
// instruction set, in seed-elements a second. For PerturbPair it counts the elements of the
// direction once, although PerturbPair writes two vectors.
func BenchmarkRatio(b *testing.B) {
	dst, minus, x := make([]float32, ratioLen), make([]float32, ratioLen), make([]float32, ratioLen)
	normal, rademacher := Direction{Dist: Normal}, Direction{Dist: Rademacher}
	normals, group, groups := terms("nnnnnnnn"), terms("rrrrrrrr"), terms(strings.Repeat("r", 64))
	for _, kernel := range []struct {
		name  string
		seeds float64
		f     func()
	}{
		{"FillNormal", 1, func() { Fill(dst, normal, 0) }},
		{"AxpyNormal", 1, func() { Axpy(dst, 0.001, normal, 0) }},
		{"PerturbNormal", 1, func() { Perturb(dst, x, 0.001, normal, 0) }},
		{"PerturbPair", 1, func() { PerturbPair(dst, minus, x, 0.001, normal, 0) }},
		{"PerturbRademacher", 1, func() { Perturb(dst, x, 0.001, rademacher, 0) }},
		{"SumNormal", 8, func() { Sum(dst, normals, 0) }},
		{"SumRademacher8", 8, func() { Sum(dst, group, 0) }},
		{"SumRademacher64", 64, func() { Sum(dst, groups, 0) }},
		{"AxpyRademacher", 1, func() { Axpy(dst, 0.001, rademacher, 0) }},
		{"DotNormal", 1, func() { Dot(x, normal, 0) }},
		{"DotRademacher", 1, func() { Dot(x, rademacher, 0) }},
		{"SquaredNorm", 1, func() { SquaredNorm(normal, ratioLen) }},
	} {
		for _, level := range isa.Levels() {
			b.Run(kernel.name+"/"+level.String(), func(b *testing.B) {
				defer isa.Use(isa.Use(level))
				ratio(b, kernel.seeds, kernel.f)
			})
		}
	}
}

// ratio reports the median over repetitions that alternate the NormFloat64 loop and f, so that
// it is stable on a machine with other load.
func ratio(b *testing.B, seeds float64, f func()) {
	r, x := rand.New(rand.NewPCG(1, 2)), make([]float32, ratioLen)
	var ratios []float64
	for b.Loop() {
		start := time.Now()
		axpyNormFloat64(x, r)
		middle := time.Now()
		f()
		yardstick, took := middle.Sub(start), time.Since(middle)
		ratios = append(ratios, seeds*yardstick.Seconds()/took.Seconds())
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "xNormFloat64")
}
