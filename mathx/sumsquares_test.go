package mathx

import (
	"math"
	"testing"

	"github.com/zofl/zofl/internal/isa/isatest"
)

// naiveSumSquares returns SumSquares, and the sum of SumSquares over the blocks. math.Pow
// is exact here, since a square has 48 bits.
func naiveSumSquares(x []float32) (whole, streamed float64) {
	sums := make([]float64, len(x)/block+1)
	for i, v := range x {
		sums[i/block] += math.Pow(float64(v), 2)
	}
	for b, s := range sums {
		whole += s
		streamed += SumSquares(x[b*block : min((b+1)*block, len(x))])
	}
	return whole, streamed
}

func TestSumSquares(t *testing.T) {
	isatest.Each(t, func(t *testing.T) {
		g := lcg(3)
		for _, n := range []int{
			0, 1, 2, 4095, 4096, 4097, 8192, 8193, 16383, 16384, 16385, 20000, 32768, 50000,
		} {
			for offset := range 4 {
				x, _ := guarded(g.vector(n, 110), offset)
				want, streamed := naiveSumSquares(x)
				if got := SumSquares(x); got != want || streamed != want {
					t.Errorf("n=%d: got %v, block by block %v, want %v", n, got, streamed, want)
				}
			}
		}
	})
}

// The inputs detect a wrong order of additions within a block, also in blocks that a kernel sums at
// the same time.
func TestSumSquaresOfSpecialValues(t *testing.T) {
	isatest.Each(t, func(t *testing.T) {
		for _, special := range specials() {
			for _, at := range []int{0, 1, 4095, 4096, 9000, 13000, 16383, 16384} {
				x := make([]float32, 4*block+10)
				for i := range x {
					x[i] = float32(i%7) / 3
				}
				x[at] = special
				want, _ := naiveSumSquares(x)
				got := SumSquares(x)
				if got != want && (got == got || want == want) {
					t.Errorf("%v at %d: got %v, want %v", special, at, got, want)
				}
			}
		}
	})
}
