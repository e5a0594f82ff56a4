//go:build !race

package numerics

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/zofl/zofl/internal/surrogate"
)

// The weights are compared with (3) for a dense Phi.
func TestWeightsAgainstGonum(t *testing.T) {
	for _, c := range []struct {
		n, dim, features int
		step             float64
	}{{2, 1, 5, 1}, {40, 3, 100, 0.5}, {300, 40, 500, 0.1}, {300, 40, 1500, 0.01}} {
		r := rand.New(rand.NewPCG(uint64(c.n), 9))
		v, b := make([]float32, c.features*c.dim), make([]float64, c.features)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		for j := range b {
			b[j] = 2 * math.Pi * r.Float64()
		}
		const noise, lengthScale = 1e-6, 0.9
		f := surrogate.NewFeatures(c.dim, v, b, lengthScale)
		fit, w := surrogate.NewFit(f, c.n, noise), make([]float64, c.features)
		points, y := trajectory(r, 2*c.n+1, c.dim, c.step)
		for i, x := range points {
			fit.Add(x, y[i])
			if i%5 == 0 {
				fit.Weights(w)
			}
		}
		fit.Weights(w)
		want := denseWeights(t, c.dim, v, b, lengthScale, noise, points[c.n+1:], y[c.n+1:])
		if e := off(w, want); !(e <= 1e-7) {
			t.Errorf("%+v: weights are off by %.3g of gonum's", c, e)
		}
	}
}

func denseWeights(t *testing.T, dim int, v []float32, b []float64, lengthScale, noise float64,
	points [][]float64, y []float64,
) []float64 {
	m, n := len(b), len(points)
	phi, mean := mat.NewDense(m, n, nil), 0.0
	for i, x := range points {
		mean += y[i] / float64(n)
		for j := range m {
			phase := b[j]
			for k := range dim {
				phase += float64(v[j*dim+k]) / lengthScale * x[k]
			}
			phi.Set(j, i, math.Sqrt(2/float64(m))*math.Cos(phase))
		}
	}
	var gram, factored mat.Dense
	gram.Mul(phi.T(), phi)
	a, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		right.SetVec(i, y[i]-mean)
		for j := range i + 1 {
			a.SetSym(i, j, gram.At(i, j))
		}
		a.SetSym(i, i, a.At(i, i)+noise)
	}
	var factor mat.Cholesky
	if !factor.Factorize(a) {
		t.Fatal("gonum's factor of Phi^T Phi fails")
	}
	var solved mat.VecDense
	conditioned(t, factor.SolveVecTo(&solved, right))
	factored.Mul(phi, &solved)
	return mat.Col(nil, 0, &factored)
}
