package main

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/zofl/zofl/internal/isa"
	"github.com/zofl/zofl/prng"
)

// The lengths of the vectors and the least duration of a measurement are those of peer.py.
const (
	small = 65536
	large = 4 << 20
	lasts = 20 * time.Millisecond
	calls = 5
)

var (
	x      = make([]float32, large)
	source = rand.New(rand.NewPCG(1, 2))
)

// ours measures the yardstick first, then the kernels with each instruction set.
func ours() []speed {
	normal, group := prng.Direction{Dist: prng.Normal}, [8]prng.Term{}
	for i := range group {
		z := prng.Direction{Perturbation: uint16(i), Dist: prng.Rademacher}
		group[i] = prng.Term{A: 1e-3, Z: z}
	}
	all := []speed{yardstick()}
	for _, level := range isa.Levels() {
		before := isa.Use(level)
		all = append(all,
			measure("Zofl x += a*z, "+level.String()+", n=65536", small,
				func() { prng.Axpy(x[:small], 1e-3, normal, 0) }),
			measure("Zofl x += a*z, "+level.String()+", n=4194304", large,
				func() { prng.Axpy(x, 1e-3, normal, 0) }),
			measure("Zofl sum of 8 directions of ±1, "+level.String()+", n=65536", 8*small,
				func() { prng.Sum(x[:small], group[:], 0) }))
		isa.Use(before)
	}
	return all
}

// yardstick measures the loop to which peerbench compares all other loops.
func yardstick() speed {
	return measure("Go math/rand/v2 NormFloat64, PCG, x += a*z, n=65536", small, func() {
		for i := range x[:small] {
			x[i] += float32(1e-3 * float32(source.NormFloat64()))
		}
	})
}

// measure calls f, which processes the given number of elements, several times. measure returns the
// speed of the fastest call, because other processes delayed the slower calls. The first call does
// not count.
func measure(name string, elements int, f func()) speed {
	f()
	fastest := time.Duration(math.MaxInt64)
	for count, start := 0, time.Now(); count < calls || time.Since(start) < lasts; count++ {
		before := time.Now()
		f()
		fastest = min(fastest, max(time.Since(before), 1)) // a coarse clock may stand still
	}
	return speed{name, float64(elements) / fastest.Seconds()}
}
