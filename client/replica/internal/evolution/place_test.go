package evolution

import (
	"math"
	"testing"

	"github.com/zofl/zofl/client/replica/internal/layout"
)

// TestFold: a point folds into the box and comes back after two periods, the middle stays, the ends
// are reached, and unfolded gives a point that folds to the same.
func TestFold(t *testing.T) {
	for _, tt := range []struct{ v, want float64 }{
		{0.5, 0.5}, {0.05, 0.05}, {0.95, 0.95}, {-0.05, 0}, {1.05, 1}, {0, 0.0125}, {1, 0.9875},
		{1.6, 0.5}, {-0.6, 0.5}, {2.7, 0.5}, {-0.1, 0.0125},
	} {
		if got := folded(tt.v); math.Abs(got-tt.want) > 1e-15 {
			t.Errorf("%v folds to %v, want %v", tt.v, got, tt.want)
		}
	}
	for v := -7.0; v < 7; v += 0.01 {
		u := folded(v)
		if !(u >= 0 && u <= 1) || math.Abs(folded(v+2.2)-u) > 1e-13 {
			t.Errorf("%v folds to %v, %v to %v", v, u, v+2.2, folded(v+2.2))
		}
		if back := folded(unfolded(u)); math.Abs(back-u) > 1e-15 {
			t.Errorf("%v unfolds to %v, which folds to %v", u, unfolded(u), back)
		}
	}
	box := &layout.Span{Low: -1e-3, High: 1e9}
	for _, v := range []float64{-1e300, -7e22, -3, -0.05, 0.3, 1.05, 7e8, 4.133524199807386e16,
		2.749894730144809e17} {
		if x := inside(box, v); !(x >= box.Low && x <= box.High) {
			t.Errorf("%v is at %v, outside", v, x)
		}
	}
}

// TestRates: the weights of nine candidates are those of CMA-ES within what sums in place of
// logarithms change, and too few dimensions divide nothing by 0.
func TestRates(t *testing.T) {
	var s rates
	s.set(9, 6, false)
	want := []float64{0.487, 0.277, 0.159, 0.077} // ln(5) - ln(r), over their sum
	for r, w := range want {
		if math.Abs(s.w[r]-w) > 0.02 {
			t.Errorf("weight %d is %v, want about %v", r, s.w[r], w)
		}
	}
	if s.w[4] != 0 || s.w[8] >= s.w[5] || s.w[5] >= 0 {
		t.Errorf("weights %v", s.w)
	}
	for lambda := 4; lambda < 40; lambda++ {
		for d := 1; d < 30; d++ {
			for _, limited := range []bool{false, true} {
				var s rates
				s.set(lambda, d, limited)
				for _, v := range append(s.w, s.mass, s.c1, s.cw, s.cs, s.damp, s.length, s.sum) {
					if v-v != 0 {
						t.Fatalf("%d candidates of %d: %+v", lambda, d, s)
					}
				}
			}
		}
	}
}
