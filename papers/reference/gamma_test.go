package reference

import (
	"math"
	"testing"
)

// TestBound compares Corollary 1 with a case by hand: with d = 4 and l = 2, omega is 4 + 6 ln 10
// and kappa 1/4. With exact surrogates gamma is 1 but for the features.
func TestBound(t *testing.T) {
	x, p := []float64{1, 2, 3, 4}, Posterior{L: 2}
	gamma := Bound(10, p, 5, 100, 0.5)(Step{X: x})
	compare(t, "gamma", []float64{gamma},
		[]float64{10 / (10 + 2*(4+6*math.Log(10))/4*0.5 + 0.1)}, exact)
	if exactly := Bound(10, p, 5, 1<<40, 0)(Step{X: x}); !(math.Abs(exactly-1) < 1e-9) {
		t.Errorf("gamma %v without uncertainty", exactly)
	}
}

// TestBest: no other length is nearer to the gradient of F, and by hand.
func TestBest(t *testing.T) {
	of := func([]float64) []float64 { return []float64{5, 1} }
	s := Step{G: []float64{1, 0}, C: []float64{2, 2}}
	gamma := Best(of)(s)
	compare(t, "gamma", []float64{gamma}, []float64{(4.*2 + 1*2) / 8}, exact)
	for _, other := range []float64{0, 1, 1.2, 1.3} {
		if s.Disparity(other, of(nil)) <= s.Disparity(gamma, of(nil)) {
			t.Errorf("gamma %v is as near as %v", other, gamma)
		}
	}
	if Best(of)(Step{G: s.G, C: []float64{0, 0}}) != 0 {
		t.Error("a length without a correction")
	}
}
