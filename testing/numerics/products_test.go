//go:build !race

package numerics

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/zofl/zofl/mathx"
)

func widened(x []float32) []float64 {
	w := make([]float64, len(x))
	for i, v := range x {
		w[i] = float64(v)
	}
	return w
}

// The tolerance is 1e-13 of the sum of magnitudes: a block's sum has at most 4096 roundings
// of 1e-16 each, which rarely have the same sign.
func TestProducts(t *testing.T) {
	for _, n := range []int{0, 1, 100, 4096, 70000, 1 << 20} {
		a := randomMatrix(uint64(40+n), n, 2)
		x, y := widened(a[0]), widened(a[1])
		size := floats.Norm(x, 2) * floats.Norm(y, 2)
		if got, want := mathx.Dot(a[0], a[1]), floats.Dot(x, y); math.Abs(got-want) > 1e-13*size {
			t.Errorf("n=%d: Dot is %v, gonum's %v", n, got, want)
		}
		if got, want := mathx.Norm(a[0]), floats.Norm(x, 2); math.Abs(got-want) > 1e-13*want {
			t.Errorf("n=%d: Norm is %v, gonum's %v", n, got, want)
		}
	}
}

// gonum's empirical quantile of one half is the lower of the middle two.
func TestMedianOf(t *testing.T) {
	for n := 1; n < 200; n++ {
		values := slices.Clone(randomMatrix(uint64(n), n, 1)[0])
		sorted := widened(values)
		slices.Sort(sorted)
		want := stat.Quantile(0.5, stat.Empirical, sorted, nil)
		if n%2 == 0 {
			want = (want + sorted[n/2]) / 2
		}
		if got := mathx.MedianOf(values); got != float32(want) {
			t.Errorf("n=%d: got %v, want %v", n, got, want)
		}
	}
}
