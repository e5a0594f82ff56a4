package reference

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// A Posterior is a Gaussian process conditioned on points, computed by its definition: (2) and
// (8) of FZooS, with K + sigma^2 I factored from scratch. The paper's process has prior mean 0
// and one fixed length scale l.
type Posterior struct {
	L, Noise float64
	Mean     bool // has the mean of its values before; not the paper's
	X        [][]float64
	Y        []float64
}

// Gradient returns the gradient of the posterior mean at x: (8).
func (p *Posterior) Gradient(x []float64) []float64 {
	g := make([]float64, len(x))
	if len(p.X) == 0 {
		return g
	}
	var a mat.VecDense
	p.solve(func(c *mat.Cholesky) error {
		return c.SolveVecTo(&a, mat.NewVecDense(len(p.Y), p.centered(p.Y)))
	})
	for i, row := range p.jacobian(x) {
		add(g, a.AtVec(i), row)
	}
	return g
}

// Uncertainty returns the trace of the covariance of the gradient at x: (8).
func (p *Posterior) Uncertainty(x []float64) float64 {
	rows := p.jacobian(x)
	j := mat.NewDense(len(rows), len(x), slices.Concat(rows...))
	var solved mat.Dense
	p.solve(func(c *mat.Cholesky) error { return c.SolveTo(&solved, j) })
	solved.MulElem(&solved, j)
	return p.slope(0)*float64(len(x)) - mat.Sum(&solved)
}

// jacobian returns a matrix whose row i is the gradient of k(x, x_i) with respect to x.
func (p *Posterior) jacobian(x []float64) (rows [][]float64) {
	for _, xi := range p.X {
		away := along(xi, -1, x)
		row := make([]float64, len(x))
		add(row, p.slope(math.Sqrt(dot(away, away))), away)
		rows = append(rows, row)
	}
	return rows
}

// kernel returns k at distance r.
func (p *Posterior) kernel(r float64) float64 {
	return math.Exp(-r * r / (2 * p.L * p.L))
}

// slope returns -1/r times the derivative of k at distance r.
func (p *Posterior) slope(r float64) float64 {
	return p.kernel(r) / (p.L * p.L)
}

func (p *Posterior) solve(by func(*mat.Cholesky) error) {
	k := func(i, j int) float64 {
		away := along(p.X[i], -1, p.X[j])
		return p.kernel(math.Sqrt(dot(away, away)))
	}
	factored(len(p.X), p.Noise, k, by)
}

// factored calls by with the Cholesky factor of the n*n matrix of k plus noise times I.
func factored(n int, noise float64, k func(i, j int) float64, by func(*mat.Cholesky) error) {
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			a.SetSym(i, j, k(i, j))
		}
		a.SetSym(i, i, a.At(i, i)+noise)
	}
	var c mat.Cholesky
	if !c.Factorize(a) {
		panic(fmt.Sprintf("reference: K + %g I of %d points is not positive definite: give "+
			"more noise", noise, n))
	}
	if err := by(&c); err != nil {
		if _, warned := err.(mat.Condition); !warned {
			panic("reference: " + err.Error())
		}
	}
}

// Likeliest returns the process with the length scale l under which the process's values are most
// likely, each with the amplitude that makes the values most likely for this l. Likeliest tries L
// times 2^(k/2) for k from -8 to 8. Then it goes on at half the distance around the best, while a
// parabola through the three says that this may win a tenth of a nat, six times at most. The
// published code finds l with an optimizer instead. Up to a constant, the logarithm of the
// likelihood is -(n ln(y^T A^-1 y) + ln|A|)/2.
func (p Posterior) Likeliest() Posterior {
	if len(p.Y) < 3 {
		return p
	}
	known := map[float64]float64{} // by the logarithm of l/L to base 2
	score := func(power float64) float64 {
		if _, done := known[power]; !done {
			q := p
			q.L = p.L * math.Exp2(power)
			known[power] = math.Inf(-1)
			if math.Abs(power) <= 4 {
				known[power] = q.logLikelihood()
			}
		}
		return known[power]
	}
	best := 0.0
	for power := -4.0; power <= 4; power += 0.5 {
		if power == -4 || score(power) > score(best) {
			best = power
		}
	}
	distance := 0.5
	for range 6 {
		if score(best)-(score(best-distance)+score(best+distance))/2 < 0.4 {
			break
		}
		distance /= 2
		middle := best
		for _, power := range []float64{middle - distance, middle + distance} {
			if score(power) > score(best) || score(power) == score(best) && power < best {
				best = power
			}
		}
	}
	p.L *= math.Exp2(best)
	return p
}

func (p *Posterior) logLikelihood() (score float64) {
	y := mat.NewVecDense(len(p.Y), p.centered(p.Y))
	p.solve(func(c *mat.Cholesky) error {
		var a mat.VecDense
		err := c.SolveVecTo(&a, y)
		score = -(float64(len(p.Y))*math.Log(mat.Dot(y, &a)) + c.LogDet()) / 2
		return err
	})
	return score
}

// centered returns y minus the prior mean.
func (p *Posterior) centered(y []float64) []float64 {
	if !p.Mean {
		return y
	}
	out, m := clone(y), 0.0
	for _, v := range y {
		m += v / float64(len(y))
	}
	for i := range out {
		out[i] -= m
	}
	return out
}

// Random holds the random features of FZooS, appendix D: sqrt(2/M) cos(v_j x / l + b_j).
type Random struct {
	V [][]float64 // rows of standard normals
	B []float64   // in [0, 2 pi]
	L float64
}

// Features returns phi(x).
func (f *Random) Features(x []float64) []float64 {
	phi := make([]float64, len(f.B))
	for j, b := range f.B {
		phi[j] = math.Sqrt(2/float64(len(f.B))) * math.Cos(dot(f.V[j], x)/f.L+b)
	}
	return phi
}

// Gradient returns the gradient of phi(x)^T w with respect to x.
func (f *Random) Gradient(x, w []float64) []float64 {
	g := make([]float64, len(x))
	for j, b := range f.B {
		s := math.Sin(dot(f.V[j], x)/f.L + b)
		add(g, -math.Sqrt(2/float64(len(f.B)))*w[j]*s/f.L, f.V[j])
	}
	return g
}

// Weights returns w of (3) for the points, values, noise and prior mean of p.
func (f *Random) Weights(p Posterior) []float64 {
	var phi [][]float64
	for _, x := range p.X {
		phi = append(phi, f.Features(x))
	}
	var a mat.VecDense
	factored(len(p.X), p.Noise, func(i, j int) float64 { return dot(phi[i], phi[j]) },
		func(c *mat.Cholesky) error {
			return c.SolveVecTo(&a, mat.NewVecDense(len(p.Y), p.centered(p.Y)))
		})
	w := make([]float64, len(f.B))
	for i := range phi {
		add(w, a.AtVec(i), phi[i])
	}
	return w
}
