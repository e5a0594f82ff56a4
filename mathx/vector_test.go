package mathx

import (
	"math"
	"testing"

	"github.com/zofl/zofl/internal/isa/isatest"
)

const guard = 12345

// guarded returns a copy of x at the given offset between guard values, and a check that
// the guards are unchanged.
func guarded(x []float32, offset int) (inner []float32, intact func() bool) {
	all := make([]float32, offset+len(x)+20)
	for i := range all {
		all[i] = guard
	}
	inner = all[offset : offset+len(x)]
	copy(inner, x)
	return inner, func() bool {
		for i, v := range all {
			if (i < offset || i >= offset+len(x)) && v != guard {
				return false
			}
		}
		return true
	}
}

// check runs an operation on copies of the vectors, and compares the results. The first copy begins
// at the given offset, and the others at different offsets.
func (o operation) check(t *testing.T, vectors, want [][]float32, c []float32, offset int) {
	t.Helper()
	got := make([][]float32, o.vectors)
	intact := make([]func() bool, o.vectors)
	for j := range got {
		got[j], intact[j] = guarded(vectors[j], 8+(1+j)*offset&3)
	}
	o.fast(got, c)
	for j := range got {
		if i := firstDifference(got[j], want[j]); i >= 0 {
			t.Fatalf("n=%d, offset %d, coefficients %v: vector %d [%d] is %v, want %v",
				len(want[j]), offset, c, j, i, got[j][i], want[j][i])
		}
		if !intact[j]() {
			t.Fatalf("n=%d, offset %d: wrote outside vector %d", len(want[j]), offset, j)
		}
	}
}

func TestVectorsMatchNaive(t *testing.T) {
	for _, o := range operations {
		t.Run(o.name, func(t *testing.T) {
			isatest.Each(t, func(t *testing.T) {
				g := lcg(1)
				for n := 0; n <= 1025; n += stride {
					vectors, c := o.inputs(&g, n)
					want := o.want(vectors, c)
					for offset := range 4 {
						o.check(t, vectors, want, c, offset)
					}
				}
			})
		})
	}
}

// specials are values that a kernel might round, flush, order or propagate differently.
func specials() []float32 {
	inf := float32(math.Inf(1))
	x := []float32{float32(math.NaN())}
	for _, v := range []float32{
		0, math.SmallestNonzeroFloat32, 0x1.fffffcp-127, 0x1p-126, 0x1.8p-100, 0x1p-75, 1e-8,
		1, 1 + 0x1p-23, 3, 0x1p63, math.MaxFloat32, inf,
	} {
		x = append(x, v, -v)
	}
	return x
}

// For every two vectors and every special coefficient, the test tries all pairs of special values.
func TestVectorsOfSpecialValues(t *testing.T) {
	s := specials()
	n := len(s)
	for _, o := range operations {
		vectors := make([][]float32, o.vectors)
		for j := range vectors {
			vectors[j] = make([]float32, n*n)
			for i := range vectors[j] {
				// Consecutive vectors run through all pairs; the others are shifted.
				vectors[j][i] = s[(i/n*(j%2)+i%n*(1-j%2)+j/2*5)%n]
			}
		}
		t.Run(o.name, func(t *testing.T) {
			isatest.Each(t, func(t *testing.T) {
				for k := range n * coefficients {
					c := []float32{0.5, 0.875, 0.75, 1e-8}
					c[k%coefficients] = s[k/coefficients]
					o.check(t, vectors, o.want(vectors, c), c, k&3)
				}
			})
		})
	}
}

// An operation may read from a vector that it writes.
func TestVectorsInPlace(t *testing.T) {
	for _, o := range operations {
		t.Run(o.name, func(t *testing.T) {
			isatest.Each(t, func(t *testing.T) {
				g := lcg(2)
				for source := range o.vectors - 1 {
					got, c := o.inputs(&g, 100)
					want := o.want(got, c) // copies
					for j := range want {
						copy(want[j], got[j])
					}
					got[o.vectors-1], want[o.vectors-1] = got[source], want[source]
					o.fast(got, c)
					o.slow(want, c)
					for j := range got {
						if i := firstDifference(got[j], want[j]); i >= 0 {
							t.Errorf("source is vector %d: vector %d [%d] is %v, want %v",
								source, j, i, got[j][i], want[j][i])
						}
					}
				}
			})
		})
	}
}

// firstDifference returns the first index at which the bits differ, or -1. All NaNs are
// equal.
func firstDifference(x, y []float32) int {
	for i := range x {
		if math.Float32bits(x[i]) != math.Float32bits(y[i]) && (x[i] == x[i] || y[i] == y[i]) {
			return i
		}
	}
	return -1
}

func TestVectorsPanicOnLengthMismatch(t *testing.T) {
	for _, o := range operations {
		for short := range o.vectors {
			vectors := make([][]float32, o.vectors)
			for j := range vectors {
				vectors[j] = make([]float32, 9)
			}
			vectors[short] = vectors[short][:8]
			t.Run(o.name, func(t *testing.T) {
				wantPanic(t, badLength, func() { o.fast(vectors, make([]float32, coefficients)) })
			})
		}
	}
}

func wantPanic(t *testing.T, want string, call func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("got panic %v, want %q", got, want)
		}
	}()
	call()
}

func TestVectorsDoNotAllocate(t *testing.T) {
	for _, o := range operations {
		t.Run(o.name, func(t *testing.T) {
			isatest.Each(t, func(t *testing.T) {
				g := lcg(5)
				vectors, c := o.inputs(&g, 100)
				if got := testing.AllocsPerRun(20, func() { o.fast(vectors, c) }); got != 0 {
					t.Errorf("got %v allocations, want 0", got)
				}
			})
		})
	}
}
