package kernelbench

import (
	"math/rand/v2"

	"github.com/zofl/zofl/internal/isa"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/prng/lowrank"
)

// kernelLen is the length of the vector for kernels: 256 KiB fit in a second-level cache.
const kernelLen = 65536

// group is the number of ±1 directions that one table lookup sums for an element.
const group = 8

// ranks is the number of directions of rank 1 that a step sums.
const ranks = 64

// kernels measures x += a*z, groups of signs and directions of rank 1 with every instruction set.
func kernels(s *stage, r *Result) error {
	x := make([]float32, kernelLen)
	source := rand.New(rand.NewPCG(1, 2))
	tasks := []task{{kernelLen, func() error { normFloat64(x, source); return nil }}}
	for _, level := range isa.Levels() {
		tasks = append(tasks, at(level, axpy(x)), at(level, signs(x)), at(level, lowRank(x)))
	}
	if _, err := s.round(tasks); err != nil { // warm-up, not measured
		return err
	}
	all, err := s.interleave(nil, tasks...)
	if err != nil {
		return err
	}
	r.Yardstick, r.Backend = all.speed(0), isa.Current().String()
	for n, level := range isa.Levels() {
		i := 1 + 3*n
		normals, signs := all.ratio(i, 0), all.ratio(i+1, 0)
		r.set(level, normals, signs)
		r.setLowRank(level, all.ratio(i+2, 0))
		if level == isa.Current() {
			r.ISA, r.Rademacher8 = normals, signs
		}
	}
	return nil
}

func (r *Result) set(level isa.Level, normals, signs float64) {
	switch level {
	case isa.Generic:
		r.Generic, r.Rademacher8Generic = normals, signs
	case isa.AVX2:
		r.AVX2, r.Rademacher8AVX2 = normals, signs
	case isa.AVX512:
		r.AVX512, r.Rademacher8AVX512 = normals, signs
	case isa.NEON:
		r.NEON, r.Rademacher8NEON = normals, signs
	}
}

// setLowRank sets the ratio of directions of rank 1. Processors that have more than AVX2 run the
// kernels of AVX2.
func (r *Result) setLowRank(level isa.Level, ratio float64) {
	switch level {
	case isa.Generic:
		r.LowRankGeneric = ratio
	case isa.AVX2:
		r.LowRankAVX2 = ratio
	case isa.NEON:
		r.LowRankNEON = ratio
	}
}

// normFloat64 is the loop to which ratios refer: x += a*z with the standard library's normal
// numbers.
func normFloat64(x []float32, source *rand.Rand) {
	for i := range x {
		x[i] += float32(1e-3 * float32(source.NormFloat64()))
	}
}

// at returns a task that runs task t with an instruction set.
func at(level isa.Level, t task) task {
	return task{t.elements, func() error {
		defer isa.Use(isa.Use(level))
		return t.run()
	}}
}

func axpy(x []float32) task {
	z := prng.Direction{Key: 1, Dist: prng.Normal}
	return task{float64(len(x)), func() error { prng.Axpy(x, 1e-3, z, 0); return nil }}
}

func signs(x []float32) task {
	var terms []prng.Term
	for p := range uint16(group) {
		z := prng.Direction{Key: 1, Perturbation: p, Dist: prng.Rademacher}
		terms = append(terms, prng.Term{A: 1e-3, Z: z})
	}
	return task{float64(group * len(x)), func() error { prng.Sum(x, terms, 0); return nil }}
}

// lowRank is a step of a square matrix, the signs of its directions among its work.
func lowRank(x []float32) task {
	const side = 256 // side*side is kernelLen
	l := lowrank.New([]lowrank.Shape{{Rows: side, Columns: len(x) / side}})
	z, a := make([]prng.Direction, ranks), make([]float32, ranks)
	for p := range z {
		z[p] = prng.Direction{Key: 1, Perturbation: uint16(p)}
		a[p] = 1e-3
	}
	var s lowrank.Signs
	var sums lowrank.Sums
	return task{float64(ranks * len(x)), func() error {
		l.Load(&s, z)
		sums.Set(a)
		l.Sum(x, 0, &s, &sums)
		return nil
	}}
}
