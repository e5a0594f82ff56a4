package mathx

import (
	"math"
	"testing"

	"github.com/zofl/zofl/internal/isa/isatest"
)

// naiveDot returns Dot, and the sum of Dot over the blocks.
func naiveDot(a, b []float32) (whole, streamed float64) {
	sums := make([]float64, len(a)/block+1)
	for i, v := range a {
		p := float64(v) * float64(b[i])
		sums[i/block] += float64(p)
	}
	for k, s := range sums {
		whole += s
		at, end := k*block, min((k+1)*block, len(a))
		streamed += Dot(a[at:end], b[at:end])
	}
	return whole, streamed
}

var dotLengths = []int{
	0, 1, 2, 5, 4095, 4096, 4097, 8193, 16383, 16384, 16385, 20000, 32768, 50000,
}

func TestDot(t *testing.T) {
	isatest.Each(t, func(t *testing.T) {
		g := lcg(6)
		for _, n := range dotLengths {
			for offset := range 4 {
				a, _ := guarded(g.vector(n, 110), offset)
				b, _ := guarded(g.vector(n, 120), 3-offset)
				want, streamed := naiveDot(a, b)
				if got := Dot(a, b); got != want || streamed != want {
					t.Errorf("n=%d: got %v, block by block %v, want %v", n, got, streamed, want)
				}
				if got, want := Dot(a, a), SumSquares(a); got != want {
					t.Errorf("n=%d: Dot with itself is %v, SumSquares %v", n, got, want)
				}
			}
		}
	})
}

// The inputs detect a wrong order of additions within a block, also in blocks that a kernel sums at
// the same time.
func TestDotOfSpecialValues(t *testing.T) {
	isatest.Each(t, func(t *testing.T) {
		for _, special := range specials() {
			for _, at := range []int{0, 1, 4095, 4096, 9000, 13000, 16383, 16384} {
				a, b := make([]float32, 4*block+10), make([]float32, 4*block+10)
				for i := range a {
					a[i], b[i] = float32(i%7)/3-1, float32(i%11)/5
				}
				a[at], b[at] = special, -special
				want, _ := naiveDot(a, b)
				got := Dot(a, b)
				if got != want && (got == got || want == want) {
					t.Errorf("%v at %d: got %v, want %v", special, at, got, want)
				}
			}
		}
	})
}

func TestDotPanicsOnLengthMismatch(t *testing.T) {
	wantPanic(t, badLength, func() { Dot(make([]float32, 8), make([]float32, 9)) })
}

func TestNorm(t *testing.T) {
	for _, c := range []struct {
		values []float32
		want   float64
	}{
		{nil, 0},
		{[]float32{-3}, 3},
		{[]float32{3, -4}, 5},
		{[]float32{math.MaxFloat32, 0}, math.MaxFloat32},
		{[]float32{0, -math.SmallestNonzeroFloat32}, math.SmallestNonzeroFloat32},
	} {
		if got := Norm(c.values); got != c.want {
			t.Errorf("Norm(%v) is %v, want %v", c.values, got, c.want)
		}
	}
}
