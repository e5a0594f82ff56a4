//go:build !race

package numerics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/zofl/zofl/internal/surrogate"
)

// An oracle is a Gaussian process by its definition, with dense matrices.
type oracle struct {
	cfg    surrogate.Config
	points [][]float64
	y      []float64 // minus the prior mean
	mean   float64
	factor mat.Cholesky
}

func newOracle(t *testing.T, cfg surrogate.Config, points [][]float64, y []float64) *oracle {
	o := &oracle{cfg: cfg, points: points}
	for _, v := range y {
		if !cfg.ZeroMean {
			o.mean += v / float64(len(y))
		}
	}
	for _, v := range y {
		o.y = append(o.y, v-o.mean)
	}
	a := mat.NewSymDense(len(points), nil)
	for i, p := range points {
		for j, q := range points[:i+1] {
			a.SetSym(i, j, o.kernel(p, q))
		}
		a.SetSym(i, i, 1+cfg.Noise)
	}
	if !o.factor.Factorize(a) {
		t.Fatalf("%+v: gonum's factor of %d points fails", cfg, len(points))
	}
	return o
}

func (o *oracle) kernel(x, y []float64) float64 {
	r := distance(x, y) / o.cfg.LengthScale
	return math.Exp(-r * r / 2)
}

// slope returns -2 times the derivative of the kernel with respect to the squared distance.
func (o *oracle) slope(x, y []float64) float64 {
	l := o.cfg.LengthScale
	r := distance(x, y) / l
	return math.Exp(-r*r/2) / (l * l)
}

func distance(x, y []float64) float64 {
	d := mat.NewVecDense(len(x), nil)
	d.SubVec(mat.NewVecDense(len(x), x), mat.NewVecDense(len(y), y))
	return mat.Norm(d, 2)
}

// jacobian has the gradient over x of the kernel with each point as a row.
func (o *oracle) jacobian(x []float64) *mat.Dense {
	j := mat.NewDense(len(o.points), len(x), nil)
	for i, p := range o.points {
		for k := range x {
			j.Set(i, k, o.slope(x, p)*(p[k]-x[k]))
		}
	}
	return j
}

func (o *oracle) weights(t *testing.T) *mat.VecDense {
	var a mat.VecDense
	conditioned(t, o.factor.SolveVecTo(&a, mat.NewVecDense(len(o.y), o.y)))
	return &a
}

// conditioned fails a test on an error, except gonum's warning about an ill-conditioned
// matrix.
func conditioned(t *testing.T, err error) {
	if _, warned := err.(mat.Condition); err != nil && !warned {
		t.Fatal(err)
	}
}

func (o *oracle) meanAt(t *testing.T, x []float64) float64 {
	k := mat.NewVecDense(len(o.points), nil)
	for i, p := range o.points {
		k.SetVec(i, o.kernel(x, p))
	}
	return o.mean + mat.Dot(k, o.weights(t))
}

func (o *oracle) gradient(t *testing.T, x []float64) []float64 {
	var g mat.VecDense
	g.MulVec(o.jacobian(x).T(), o.weights(t))
	return g.RawVector().Data
}

func (o *oracle) covariance(t *testing.T, x []float64) []float64 {
	var solved, c mat.Dense
	j := o.jacobian(x)
	conditioned(t, o.factor.SolveTo(&solved, j))
	c.Mul(j.T(), &solved)
	c.Scale(-1, &c)
	for k := range x {
		c.Set(k, k, c.At(k, k)+o.slope(x, x))
	}
	return c.RawMatrix().Data
}

// off returns the length of got - want relative to want's.
func off(got, want []float64) float64 {
	w := mat.NewVecDense(len(want), want)
	var d mat.VecDense
	d.SubVec(mat.NewVecDense(len(got), got), w)
	return mat.Norm(&d, 2) / mat.Norm(w, 2)
}

// trajectory returns points that wander, like the iterates of a run and the queries around
// them, with noisy values of a quadratic.
func trajectory(r *rand.Rand, n, dim int, step float64) (points [][]float64, y []float64) {
	at := make([]float64, dim)
	for i := range n {
		x, value := make([]float64, dim), 0.0
		for k := range x {
			if i%6 == 0 {
				at[k] += step * (2*r.Float64() - 1)
			}
			x[k] = at[k] + step*(2*r.Float64()-1)
			value += (x[k]-0.3)*(x[k]-0.3) + 1e-3*r.NormFloat64()
		}
		points, y = append(points, x), append(y, 100*value-7)
	}
	return points, y
}

// The process has seen twice as many points as its window holds. With noise s2 both results are
// accurate to about 1e-16/s2 times n.
func TestProcessAgainstGonum(t *testing.T) {
	for _, c := range []struct {
		n, dim      int
		step, noise float64
	}{
		{1, 1, 1, 1e-6}, {2, 3, 0.3, 1e-4}, {17, 5, 0.5, 1e-6}, {100, 10, 0.1, 1e-4},
		{300, 40, 0.2, 1e-6}, {300, 40, 0.01, 1e-6}, {299, 40, 1e-4, 1e-6}, {300, 2, 1, 1e-4},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			cfg := surrogate.Config{Dim: c.dim, Window: c.n, LengthScale: 0.9, Noise: c.noise}
			compareProcess(t, cfg, c.step)
			cfg.ZeroMean = true
			compareProcess(t, cfg, c.step)
		})
	}
}

func compareProcess(t *testing.T, cfg surrogate.Config, step float64) {
	r := rand.New(rand.NewPCG(uint64(cfg.Window), uint64(cfg.Dim)))
	points, y := trajectory(r, 2*cfg.Window+1, cfg.Dim, step)
	p, u := surrogate.New(cfg), make([]float64, 1)
	for i, x := range points {
		p.Add(x, y[i])
		if i > cfg.Window {
			p.Uncertainty(u, points[:1])
		}
	}
	o := newOracle(t, cfg, points[cfg.Window+1:], y[cfg.Window+1:])
	for range 3 {
		x := append([]float64(nil), points[len(points)-1]...)
		for k := range x {
			x[k] += step * r.NormFloat64()
		}
		compareAt(t, p, o, x)
	}
}

func compareAt(t *testing.T, p *surrogate.Process, o *oracle, x []float64) {
	d := len(x)
	g, c, u := make([]float64, d), make([]float64, d*d), make([]float64, 1)
	p.Gradient(g, x)
	p.Covariance(c, x)
	p.Uncertainty(u, [][]float64{x})
	want := o.covariance(t, x)
	trace := 0.0
	for k := range d {
		trace += want[k*d+k]
	}
	results := map[string][2]float64{
		"mean":        {off([]float64{p.Mean(x)}, []float64{o.meanAt(t, x)}), 1e-8},
		"covariance":  {off(c, want), 1e-7},
		"uncertainty": {math.Abs(u[0]-trace) / trace, 1e-7},
	}
	if len(o.points) > 1 {
		results["gradient"] = [2]float64{off(g, o.gradient(t, x)), 1e-7}
	}
	for what, e := range results {
		if !(e[0] <= e[1]) {
			t.Errorf("%s is off by %.3g of gonum's, want %g at most", what, e[0], e[1])
		}
	}
	t.Log(results)
}
