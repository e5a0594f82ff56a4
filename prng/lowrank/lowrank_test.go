package lowrank_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/internal/isa"
	"github.com/zofl/zofl/internal/isa/isatest"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/prng/lowrank"
)

// guard is the value around every destination. A kernel that writes outside the destination changes
// a guard.
const guard = 12345.5

// guarded returns a copy of x between guards.
func guarded(x []float32) (inner, whole []float32) {
	whole = make([]float32, len(x)+32)
	for i := range whole {
		whole[i] = guard
	}
	inner = whole[16 : 16+len(x)]
	copy(inner, x)
	return inner, whole
}

func checkGuards(t *testing.T, whole []float32) {
	t.Helper()
	for i := range 16 {
		if whole[i] != guard || whole[len(whole)-1-i] != guard {
			t.Fatalf("%d elements: wrote outside the destination", len(whole)-32)
		}
	}
}

func checkSame(t *testing.T, name string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s, element %d of %d: got %x, want %x", name, i, len(want),
				math.Float32bits(got[i]), math.Float32bits(want[i]))
		}
	}
}

// shapesOf returns some shapes, most of them of odd sizes.
func shapesOf(r *rand.Rand) (shapes []lowrank.Shape) {
	for range 1 + r.IntN(4) {
		switch r.IntN(6) {
		case 0:
			shapes = append(shapes, lowrank.Shape{Columns: 1 + r.IntN(100)})
		case 1:
			shapes = append(shapes, lowrank.Shape{Rows: 2 + r.IntN(5), Columns: 2 + r.IntN(7)})
		case 2:
			shapes = append(shapes, lowrank.Shape{Rows: 2 + r.IntN(3), Columns: 2 + r.IntN(5000)})
		case 3:
			shapes = append(shapes, lowrank.Shape{Rows: 2 + r.IntN(600), Columns: 2 + r.IntN(70)})
		default:
			shapes = append(shapes, lowrank.Shape{Rows: 2 + r.IntN(20), Columns: 2 + r.IntN(200)})
		}
	}
	return shapes
}

func address(r *rand.Rand) prng.Direction {
	return prng.Direction{
		Key: prng.Key(r.Uint64()), Step: uint16(r.Uint32()), Perturbation: uint16(r.Uint32()),
		Source: r.Uint32(), Domain: prng.Domain(r.IntN(5)), Dist: prng.Normal,
	}
}

// values returns numbers that try the edges of float32: zeros of both signs, subnormal and large
// ones, and, for coefficients, some that cancel each other.
func values(r *rand.Rand, n int) []float32 {
	special := []float32{
		0, float32(math.Copysign(0, -1)), 1e-45, -1e-45, 3e-39, -0.25, 0.25, 0.5, 3e37,
	}
	all := make([]float32, n)
	for i := range all {
		if all[i] = float32(r.NormFloat64()); r.IntN(4) == 0 {
			all[i] = special[r.IntN(len(special))]
		}
	}
	return all
}

// part returns a random part of n elements.
func part(r *rand.Rand, n int) (from, to int) {
	from = r.IntN(n)
	return from, from + r.IntN(n-from+1)
}

func eachCase(t *testing.T, test func(t *testing.T, r *rand.Rand, shapes []lowrank.Shape)) {
	isatest.Each(t, func(t *testing.T) {
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 1))
			shapes := shapesOf(r)
			t.Run(fmt.Sprint(seed, shapes), func(t *testing.T) { test(t, r, shapes) })
		}
	})
}

func TestSumMatchesReference(t *testing.T) {
	eachCase(t, func(t *testing.T, r *rand.Rand, shapes []lowrank.Shape) {
		l := lowrank.New(shapes)
		var s lowrank.Signs
		var sums lowrank.Sums
		for range 2 { // the second uses the memory again
			z := make([]prng.Direction, r.IntN(100)>>r.IntN(4))
			full := make([][]float32, len(z))
			for k := range z {
				z[k] = address(r)
				full[k] = refDirection(shapes, z[k])
			}
			a, x := values(r, len(z)), values(r, l.Len())
			l.Load(&s, z)
			sums.Set(a)
			want := make([]float32, len(x))
			for i := range x {
				want[i] = refSum(x[i], i, a, full)
			}
			got, whole := guarded(x)
			l.Sum(got, 0, &s, &sums)
			checkSame(t, "whole", got, want)
			checkGuards(t, whole)
			for range 3 {
				from, to := part(r, l.Len())
				got, whole := guarded(x[from:to])
				l.Sum(got, from, &s, &sums)
				checkSame(t, fmt.Sprint("from ", from), got, want[from:to])
				checkGuards(t, whole)
			}
		}
	})
}

// A sum that is zero, of coefficients that cancel each other or that are zero, changes -0 to +0,
// unless all of them are zero and their signs -.
func TestZeros(t *testing.T) {
	isatest.Each(t, func(t *testing.T) {
		shapes := []lowrank.Shape{{Rows: 9, Columns: 171}, {Columns: 77}, {Rows: 90, Columns: 35}}
		l := lowrank.New(shapes)
		negative := float32(math.Copysign(0, -1))
		for _, a := range [][]float32{
			{1, 1, 1, 1, 1, 1, 1, 1, 2, 2},
			{1, -1, 0, 0, 0.5, 0.5},
			{0, 0, 0, 0, 1, 1},
			{0, 0, 0},
			{0, negative, 0, negative, 0, negative, 0, 0},
			{negative, negative, negative, negative, 0, 0, 0, 0, 0, 0, 0, 0, 3, -3, 0, 0, 0},
			{1e-45, 1e-45, -1e-45, 1e-45, 3e38, 3e38, -3e38, 3e38},
		} {
			z := make([]prng.Direction, len(a))
			full := make([][]float32, len(a))
			for k := range z {
				z[k] = prng.Direction{Key: 99, Perturbation: uint16(k)}
				full[k] = refDirection(shapes, z[k])
			}
			x, want := make([]float32, l.Len()), make([]float32, l.Len())
			for i := range x {
				x[i] = negative
				want[i] = refSum(x[i], i, a, full)
			}
			var s lowrank.Signs
			var sums lowrank.Sums
			l.Load(&s, z)
			sums.Set(a)
			l.Sum(x, 0, &s, &sums)
			checkSame(t, fmt.Sprint(a), x, want)
		}
	})
}

func TestOneDirectionMatchesReference(t *testing.T) {
	var bits []uint64
	eachCase(t, func(t *testing.T, r *rand.Rand, shapes []lowrank.Shape) {
		l := lowrank.New(shapes)
		z := address(r)
		all := refDirection(shapes, z)
		bits = l.LoadOne(bits, z)
		x, a := values(r, l.Len()), values(r, 1)[0]
		for _, span := range [][2]int{{0, l.Len()}, span(r, l.Len()), span(r, l.Len())} {
			from, to := span[0], span[1]
			n := to - from
			plus, minus := make([]float32, n), make([]float32, n)
			var dot, size float64
			for i := range n {
				v := a * all[from+i]
				plus[i], minus[i] = x[from+i]+v, x[from+i]-v
				dot += float64(x[from+i]) * float64(all[from+i])
				size += math.Abs(float64(x[from+i]))
			}
			got, whole := guarded(make([]float32, n))
			l.Fill(got, from, bits)
			checkSame(t, "fill", got, all[from:to])
			l.Perturb(got, x[from:to], from, a, bits)
			checkSame(t, "perturb", got, plus)
			below, wholeBelow := guarded(make([]float32, n))
			l.PerturbPair(got, below, x[from:to], from, a, bits)
			checkSame(t, "pair, plus", got, plus)
			checkSame(t, "pair, minus", below, minus)
			checkGuards(t, whole)
			checkGuards(t, wholeBelow)
			if got := l.Dot(x[from:to], from, bits); math.Abs(got-dot) > 1e-13*size {
				t.Errorf("dot: got %v, want %v", got, dot)
			}
		}
	})
}

func span(r *rand.Rand, n int) [2]int {
	from, to := part(r, n)
	return [2]int{from, to}
}

// Blocks of factors load in any order, so goroutines can share the work; and the instruction set
// may change between the steps of a sum.
func TestPartsOfSigns(t *testing.T) {
	shapes := []lowrank.Shape{{Rows: 5000, Columns: 7}, {Columns: 9000}}
	l := lowrank.New(shapes)
	if l.Len() != 44000 || l.Factors() != 14007 || l.Blocks() != 4 {
		t.Fatalf("%d elements, %d factors, %d blocks", l.Len(), l.Factors(), l.Blocks())
	}
	r := rand.New(rand.NewPCG(2, 3))
	z := make([]prng.Direction, 11)
	for k := range z {
		z[k] = address(r)
	}
	a, x := values(r, len(z)), values(r, l.Len())
	var whole, parts lowrank.Signs
	l.Load(&whole, z)
	l.Reset(&parts, len(z))
	for _, block := range []int{2, 0, 3, 1} {
		l.LoadBlocks(&parts, z, block, block+1)
	}
	var sums lowrank.Sums
	sums.Set(a)
	want, got := append([]float32(nil), x...), append([]float32(nil), x...)
	l.Sum(want, 0, &whole, &sums)
	before := isa.Use(isa.Generic)
	l.Sum(got, 0, &parts, &sums)
	isa.Use(before)
	checkSame(t, "parts", got, want)
}

func TestHostileUse(t *testing.T) {
	l := lowrank.New([]lowrank.Shape{{Rows: 3, Columns: 4}})
	var s lowrank.Signs
	var sums lowrank.Sums
	l.Load(&s, make([]prng.Direction, 3))
	sums.Set(make([]float32, 3))
	bits, two := l.LoadOne(nil, prng.Direction{}), make([]float32, 2)
	for name, f := range map[string]func(){
		"one row":       func() { lowrank.New([]lowrank.Shape{{Rows: 1, Columns: 4}}) },
		"one column":    func() { lowrank.New([]lowrank.Shape{{Rows: 4, Columns: 1}}) },
		"nothing":       func() { lowrank.New([]lowrank.Shape{{}}) },
		"negative rows": func() { lowrank.New([]lowrank.Shape{{Rows: -2, Columns: 4}}) },
		"past the end":  func() { l.Sum(make([]float32, 2), 11, &s, &sums) },
		"before":        func() { l.Sum(make([]float32, 2), -1, &s, &sums) },
		"long fill":     func() { l.Fill(make([]float32, 13), 0, bits) },
		"groups":        func() { l.Sum(make([]float32, 2), 0, &s, new(lowrank.Sums)) },
		"perturb":       func() { l.Perturb(make([]float32, 2), make([]float32, 3), 0, 1, bits) },
		"pair":          func() { l.PerturbPair(two, make([]float32, 3), two, 0, 1, bits) },
		"before a part": func() { l.Part(4, 4).Sum(two, 3, &s, &sums) },
		"after a part":  func() { l.Part(4, 4).Sum(two, 7, &s, &sums) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}
