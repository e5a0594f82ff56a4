package surrogate_test

import (
	"math"
	"testing"

	"github.com/zofl/zofl/internal/surrogate"
)

// traceOf returns the trace of Covariance, which uses only the factor.
func traceOf(p *surrogate.Process, dim int, x []float64) (trace float64) {
	c := make([]float64, dim*dim)
	p.Covariance(c, x)
	for i := range dim {
		trace += c[i*dim+i]
	}
	return trace
}

// The factor and the inverse give the same trace, also after half a window of new points updated
// the inverse. The terms that cancel are as large as the prior trace times the norm of A^-1, at
// most 1/noise.
func TestUncertaintyIsTheTrace(t *testing.T) {
	for _, c := range []struct {
		n, dim int
		radius float64
		noise  float64
		within float64 // of the trace
	}{
		{200, 30, 0.3, 1e-6, 1e-9},
		{200, 5, 0.3, 1e-6, 1e-3},
		{201, 30, 0.01, 1e-6, 1e-8},
		{200, 30, 1e-4, 1e-6, 1e-8},
		{200, 30, 1e-2, 1e-10, 1e-4},
		{7, 3, 1, 0, 1e-9},
		{1, 3, 1, 1e-6, 1e-12},
	} {
		p := surrogate.New(surrogate.Config{
			Dim: c.dim, Window: c.n, LengthScale: 1, Noise: c.noise,
		})
		cloud := newCloud(20, c.dim, c.radius)
		fill(p, cloud, c.n+10)
		xs := queries(cloud, 3)
		got := make([]float64, len(xs))
		p.Uncertainty(got, xs)
		fill(p, cloud, c.n/2)
		p.Uncertainty(got, xs)
		worst := 0.0
		for i, x := range xs {
			want := traceOf(p, c.dim, x)
			worst = max(worst, math.Abs(got[i]-want)/want)
		}
		if !(worst <= c.within) {
			t.Errorf("%+v: got an error of %.3g of the trace", c, worst)
		}
		t.Logf("%+v: error %.3g, trace %.4g of %d", c, worst, got[0], c.dim)
	}
}

// The gradient is certain where points surround x: the uncertainty falls with more points,
// and with the noise to 0.
func TestUncertaintyFalls(t *testing.T) {
	const d = 3
	last := math.Inf(1)
	for _, noise := range []float64{1e-4, 1e-6, 1e-8} {
		p := surrogate.New(
			surrogate.Config{Dim: d, Window: 100, LengthScale: 1, Noise: noise})
		c := newCloud(21, d, 0.02)
		before := make([]float64, 1)
		for range 5 {
			fill(p, c, 20)
			got := make([]float64, 1)
			p.Uncertainty(got, [][]float64{c.center})
			if before[0] > 0 && !(got[0] < before[0]) {
				t.Errorf("noise %g: got %g with %d points after %g, want less", noise, got[0],
					p.Len(), before[0])
			}
			before = got
		}
		if !(before[0] < last/10) {
			t.Errorf("noise %g: got %g, want below a tenth of %g", noise, before[0], last)
		}
		last = before[0]
	}
}

// The covariance is positive semidefinite.
func TestCovarianceIsSemidefinite(t *testing.T) {
	const d = 6
	p := surrogate.New(
		surrogate.Config{Dim: d, Window: 80, LengthScale: 1, Noise: 1e-6})
	c := newCloud(22, d, 0.1)
	fill(p, c, 100)
	cov := make([]float64, d*d)
	for range 20 {
		p.Covariance(cov, c.point())
		v := difference(c.point(), c.center)
		form := 0.0
		for i := range d {
			for j := range d {
				form += v[i] * v[j] * cov[i*d+j]
				if cov[i*d+j] != cov[j*d+i] {
					t.Errorf("got %v and %v, want symmetry", cov[i*d+j], cov[j*d+i])
				}
			}
		}
		if form < -1e-9*norm(v)*norm(v) {
			t.Errorf("got a variance of %g in direction %v", form, v)
		}
	}
}

// Candidates far from all points are more uncertain than those among them.
func TestUncertaintyOfFarPoints(t *testing.T) {
	p := surrogate.New(surrogate.Config{Dim: 4, Window: 50, LengthScale: 1, Noise: 1e-6})
	c := newCloud(23, 4, 0.05)
	fill(p, c, 50)
	got := make([]float64, 3)
	p.Uncertainty(got, [][]float64{{90, 0, 0, 0}, c.center, {1e6, 1, 1, 1}})
	if got[0] != 4 || got[2] != 4 || got[1] > 0.4 {
		t.Errorf("got %v, want 4 far from all points and next to nothing among them", got)
	}
}
