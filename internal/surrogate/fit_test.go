package surrogate_test

import (
	"testing"

	"github.com/zofl/zofl/internal/surrogate"
)

// ridge solves (Phi Phi^T + noise I) w = Phi (y - m), the primal problem with M unknowns,
// by elimination.
func ridge(f *surrogate.Features, points [][]float64, noise float64) []float64 {
	m, mean := f.Len(), 0.0
	for _, x := range points {
		mean += quadratic(x) / float64(len(points))
	}
	a := make([][]float64, m) // the matrix, and the right side
	for i := range a {
		a[i] = make([]float64, m+1)
		a[i][i] = noise
	}
	phi := make([]float64, m)
	for _, x := range points {
		f.Map(phi, x)
		for i := range m {
			for j := range m {
				a[i][j] += phi[i] * phi[j]
			}
			a[i][m] += phi[i] * (quadratic(x) - mean)
		}
	}
	return eliminate(a)
}

func eliminate(a [][]float64) []float64 {
	m := len(a)
	for k := range m {
		for i := k + 1; i < m; i++ {
			c := a[i][k] / a[k][k]
			for j := k; j <= m; j++ {
				a[i][j] -= c * a[k][j]
			}
		}
	}
	w := make([]float64, m)
	for i := m - 1; i >= 0; i-- {
		w[i] = a[i][m]
		for j := i + 1; j < m; j++ {
			w[i] -= a[i][j] * w[j]
		}
		w[i] /= a[i][i]
	}
	return w
}

// Points are added one by one and many at a time; weights are computed at each length of
// the window, with each number of pending points.
func TestWeightsAreTheRidgeSolution(t *testing.T) {
	const m, dim, window, noise = 50, 3, 70, 1e-3
	f, c := newFeatures(40, m, dim, 1), newCloud(40, dim, 1)
	fit := surrogate.NewFit(f, window, noise)
	got := make([]float64, m)
	var points [][]float64
	for i, more := range []int{1, 1, 2, 3, 20, 1, 40, 1, 1, 2, 3, 4, 5, 1, 69, 70, 71, 1, 200, 3} {
		for range more {
			x := c.point()
			fit.Add(x, quadratic(x))
			points = append(points, x)
		}
		points = points[max(0, len(points)-window):]
		fit.Weights(got)
		near(t, "weights", got, ridge(f, points, noise), 1e-8)
		fit.Weights(got)
		near(t, "weights asked again", got, ridge(f, points, noise), 1e-8)
		if fit.Len() != len(points) {
			t.Errorf("%d: got %d points, want %d", i, fit.Len(), len(points))
		}
	}
}

// With many features the surrogate approximates the process.
func TestWeightsApproachTheProcess(t *testing.T) {
	const dim, window, noise = 4, 30, 1e-2
	c := newCloud(41, dim, 0.5)
	p := surrogate.New(surrogate.Config{Dim: dim, Window: window, LengthScale: 1, Noise: noise})
	last := 1.0
	for _, m := range []int{200, 20000} {
		f := newFeatures(41, m, dim, 1)
		fit, w := surrogate.NewFit(f, window, noise), make([]float64, m)
		for range window {
			x := c.point()
			p.Add(x, quadratic(x))
			fit.Add(x, quadratic(x))
		}
		fit.Weights(w)
		x := c.point()
		got, want := make([]float64, dim), make([]float64, dim)
		f.Gradient(got, x, w)
		p.Gradient(want, x)
		e := norm(difference(got, want)) / norm(want)
		if !(e < 0.4*last) {
			t.Errorf("M=%d: got a gradient that is off by %g, want below %g", m, e, 0.4*last)
		}
		last = e
	}
}

func TestWeightsWithoutPoints(t *testing.T) {
	f := newFeatures(42, 8, 2, 1)
	w := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	fit := surrogate.NewFit(f, 3, 1e-6)
	fit.Weights(w)
	if norm(w) != 0 {
		t.Errorf("got %v without points, want 0", w)
	}
	fit.Add([]float64{1, 2}, 5)
	fit.Weights(w)
	if norm(w) != 0 {
		t.Errorf("got %v of one value, want 0", w)
	}
}
