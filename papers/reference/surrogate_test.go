package reference

import (
	"math"
	"testing"
)

// TestPosteriorByHand: with points at 0 and 1, values 0 and 2 and no noise, the mean passes
// through both points, and its gradient equals its finite differences.
func TestPosteriorByHand(t *testing.T) {
	p := Posterior{L: 0.7, Mean: true, X: [][]float64{{0}, {1}},
		Y: []float64{0, 2}}
	k := p.kernel(1)
	mean := func(x float64) float64 { // K^-1 (-1, 1) is (-1, 1)/(1-k)
		return 1 + (p.kernel(math.Abs(x-1))-p.kernel(math.Abs(x)))/(1-k)
	}
	compare(t, "mean at the points", []float64{mean(0), mean(1)}, p.Y, exact)
	for _, x := range []float64{-0.4, 0.3, 0.5, 1.7} {
		const h = 1e-5
		slope := (mean(x+h) - mean(x-h)) / (2 * h)
		compare(t, "gradient", p.Gradient([]float64{x}), []float64{slope}, 1e-8)
	}
	zero := p // K^-1 (0, 2) is (-2 k, 2)/(1-k^2)
	zero.Mean = false
	away, near := -zero.slope(0.3)*0.3, zero.slope(0.7)*0.7
	compare(t, "gradient without the mean", zero.Gradient([]float64{0.3}),
		[]float64{(2*near - 2*k*away) / (1 - k*k)}, 1e-12)
	// The covariance by hand, from the derivatives of k over x at both points.
	const x = 0.3
	a, b := -p.slope(x)*x, p.slope(1-x)*(1-x)
	want := p.slope(0) - (a*a-2*k*a*b+b*b)/(1-k*k)
	compare(t, "uncertainty", []float64{p.Uncertainty([]float64{x})}, []float64{want}, exact)
	if g := (&Posterior{L: 1}).Gradient([]float64{1, 2}); g[0] != 0 || g[1] != 0 {
		t.Errorf("without points the gradient is %v, want 0", g)
	}
}

// TestRandomFeatures: inner products of many features approximate the kernel, w of (3)
// gives the posterior of that kernel, and its gradient equals its finite differences.
func TestRandomFeatures(t *testing.T) {
	const d, m, noise = 3, 20_000, 1e-2
	f := Random{L: 1.3}
	for j := range m {
		f.V = append(f.V, normals(d, 0, At{}, j, 11))
		f.B = append(f.B, 2*math.Pi*math.Mod(float64(j)*math.Phi, 1))
	}
	p := Posterior{L: f.L, Noise: noise}
	for i := range 5 {
		p.X, p.Y = append(p.X, normals(d, 1, At{}, i, 12)), append(p.Y, float64(i*i%4))
	}
	x := normals(d, 1, At{}, 9, 12)
	away := along(x, -1, p.X[0])
	compare(t, "kernel", []float64{dot(f.Features(x), f.Features(p.X[0]))},
		[]float64{p.kernel(math.Sqrt(dot(away, away)))}, 0.02)
	w := f.Weights(p)
	compare(t, "gradient of the posterior", f.Gradient(x, w), p.Gradient(x), 0.05)
	for i := range x {
		const h = 1e-5
		up, down := clone(x), clone(x)
		up[i], down[i] = x[i]+h, x[i]-h
		slope := (dot(f.Features(up), w) - dot(f.Features(down), w)) / (2 * h)
		compare(t, "gradient of features", f.Gradient(x, w)[i:i+1], []float64{slope}, 1e-7)
	}
}

// TestFZooSByHand: with one client and one point the surrogate is flat and x stays. With a second
// point, x moves along the slope between the two points. With another w, the correction of length
// gamma changes this move.
func TestFZooSByHand(t *testing.T) {
	f := &FZooS{
		Posterior: Posterior{L: 1, Mean: true}, Dim: 1, K: 1, Eta: 0.1, Window: 2, Gamma: Always,
		Origin: []float64{0},
		Random: Random{V: [][]float64{{1}}, B: []float64{math.Pi}, L: 1},
	}
	next := []float64{3, 4}
	ask := func(_ int, _ At, x []float64) ([][]float64, []float64) {
		y := next[0]
		next = next[1:]
		return [][]float64{clone(x)}, []float64{y}
	}
	s := f.NewState([]float64{0})
	compare(t, "flat", f.Iterate(s, 0, 2, ask), []float64{0}, exact)
	s.X = []float64{1}
	k := math.Exp(-0.5)
	slope := 0.5 / (1 - k) * k // weights -+1/2/(1-k), at the second point
	s.W, s.Own[0] = []float64{3}, []float64{1}
	correction := -math.Sqrt2 * 2 * math.Sin(1+math.Pi)
	compare(t, "along the slope", f.Iterate(s, 0, 4, ask),
		[]float64{1 - 0.1*(slope+correction)}, exact)
	if len(s.D[0].X) != 2 {
		t.Errorf("%d points, want 2", len(s.D[0].X))
	}
}

// TestTheory compares Corollary E.1 with a case by hand: at the only point iota is 0.
func TestTheory(t *testing.T) {
	gamma := Theory(10, Posterior{L: 2, Noise: 1e-6}, 5, 100)
	x := []float64{1, 2, 3, 4}
	omega := 4 + 6*math.Log(10)
	compare(t, "gamma", []float64{gamma(Step{X: x, Trajectory: [][]float64{x}})},
		[]float64{10 / (10 + 2*(omega/4+0.05))}, exact)
	far := gamma(Step{X: x, Trajectory: [][]float64{{3, 2, 3, 4}}})
	if !(far > gamma(Step{X: x, Trajectory: [][]float64{x}})) {
		t.Error("gamma does not depend on the distance")
	}
}
