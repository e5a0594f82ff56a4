package choose

import (
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestLeast: gradient descent comes down to the least value that the problem states, and not below.
func TestLeast(t *testing.T) {
	for _, unlike := range []bool{false, true} {
		p := newProblem(3, 4, unlike, 10, 0, 1)
		x := make([]float32, 3)
		gap := p.above(x)
		for range 2000 {
			sum := make([]float64, 3)
			for _, b := range p.bowls {
				r, g := mat.NewVecDense(3, nil), mat.NewVecDense(3, nil)
				for i, v := range x {
					r.SetVec(i, float64(v)-b.o.AtVec(i))
				}
				g.MulVec(b.a, r)
				for i := range sum {
					sum[i] += g.AtVec(i)
				}
			}
			for i := range x {
				x[i] -= float32(0.05 * sum[i])
			}
		}
		if left := p.above(x) / gap; left < -1e-9 || left > 1e-9 || gap <= 0 {
			t.Errorf("unlike %v: descent ends at %g of the gap %g", unlike, left, gap)
		}
	}
}

// TestLead: a run lowers the loss, and another time leaves as much of the gap.
func TestLead(t *testing.T) {
	row := task{dim: 2, devices: 10, unlike: true, noise: true}
	first, err := lead(t.Context(), row, "zofl", 1)
	again, errAgain := lead(t.Context(), row, "zofl", 1)
	if err != nil || errAgain != nil || first != again || !(first < 0.5) {
		t.Errorf("%g of the gap is left, then %g; %v, %v", first, again, err, errAgain)
	}
}
