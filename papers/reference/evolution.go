package reference

import (
	"math"
	"sort"
)

// An Evolution is MA-ES (Beyer, Sendhoff 2017) with the weights and rates of CMA-ES (Hansen,
// arXiv:1604.00772, Table 1), negative weights included, or LM-MA-ES (Loshchilov, Glasmachers,
// Beyer 2018, Algorithm 1):
//
//	M = M (I + c1/2 (p p' - I) + cmu/2 sum over r of w_r (z_r z_r' - I))
//
// With sums of 1/(j+1/2) in place of logarithms in the weights, and in place of exp its Pade
// approximant of order 2: production has these two.
type Evolution struct {
	Limited bool
	Lambda  int // of the plan

	Sigma float64
	P     []float64
	M     [][]float64 // limited: the rows m_i
	t     int
}

// NewEvolution returns the state before the first round.
func NewEvolution(dim, lambda int, sigma float64, limited bool) *Evolution {
	e := &Evolution{Limited: limited, Lambda: lambda, Sigma: sigma, P: make([]float64, dim)}
	rows := dim
	if limited {
		rows = 4 + int(3*math.Log(float64(dim)))
	}
	for i := range rows {
		e.M = append(e.M, make([]float64, dim))
		if !limited {
			e.M[i][i] = 1
		}
	}
	return e
}

// Shape returns the y of a z.
func (e *Evolution) Shape(z []float64) []float64 {
	y := make([]float64, len(z))
	if !e.Limited {
		for i := range y {
			y[i] = dot(e.M[i], z)
		}
		return y
	}
	copy(y, z)
	for i, m := range e.M[:min(e.t, len(e.M))] {
		c := math.Pow(1.5, -float64(i)) / float64(len(z))
		y = along(scale(1-c, y), c*dot(m, y), m)
	}
	return y
}

func scale(a float64, x []float64) []float64 { return along(make([]float64, len(x)), a, x) }

// Step returns x after a round with these losses of the candidates x + sigma Shape(z).
func (e *Evolution) Step(x []float64, z [][]float64, losses []float64) []float64 {
	order := make([]int, len(z))
	for k := range order {
		order[k] = k
	}
	sort.SliceStable(order, func(a, b int) bool { return losses[order[a]] < losses[order[b]] })
	d, n := float64(len(x)), len(z)
	w, mass, c1, cmu := evolutionRates(n, d)
	zw, yw := make([]float64, len(x)), make([]float64, len(x))
	for r := range n / 2 {
		add(zw, w[r], z[order[r]])
		add(yw, w[r], e.Shape(z[order[r]]))
	}
	next := along(x, e.Sigma, yw)
	cs := (mass + 2) / (mass + d + 5)
	if e.Limited {
		cs = min(1, 2*float64(n)/d)
	}
	e.P = along(scale(1-cs, e.P), math.Sqrt(mass*cs*(2-cs)), zw)
	norm := math.Sqrt(dot(e.P, e.P))
	e.t++
	if e.Limited {
		for i, m := range e.M {
			c := min(1, float64(e.Lambda)/(math.Pow(4, float64(i))*d))
			e.M[i] = along(scale(1-c, m), math.Sqrt(mass*c*(2-c)), zw)
		}
		e.Sigma *= approximateExp(cs / 2 * (norm*norm/d - 1))
		return next
	}
	var ranked [][]float64
	for _, k := range order {
		ranked = append(ranked, z[k])
	}
	e.M = product(e.M, growth(e.P, ranked, w, c1, cmu))
	damping := 1 + cs + 2*max(0, math.Sqrt((mass-1)/(d+1))-1)
	length := math.Sqrt(d) * (1 - 1/(4*d) + 1/(21*d*d))
	e.Sigma *= approximateExp(cs / damping * (norm/length - 1))
	return next
}

// growth returns the matrix by which M is multiplied.
func growth(p []float64, z [][]float64, w []float64, c1, cmu float64) [][]float64 {
	var rows [][]float64
	for i := range p {
		row := scale(c1/2*p[i], p)
		row[i] += 1 - c1/2
		for r, a := range w {
			row[i] -= cmu / 2 * a
			if a < 0 {
				a *= float64(len(p)) / dot(z[r], z[r])
			}
			add(row, cmu/2*a*z[r][i], z[r])
		}
		rows = append(rows, row)
	}
	return rows
}

func product(a, b [][]float64) [][]float64 {
	var out [][]float64
	for i := range a {
		row := make([]float64, len(b))
		for j := range b {
			add(row, a[i][j], b[j])
		}
		out = append(out, row)
	}
	return out
}

// evolutionRates returns the weights of n ranks, and the rates mueff, c1 and cmu.
func evolutionRates(n int, d float64) (w []float64, mass, c1, cmu float64) {
	logarithm := func(i int) (s float64) { // of i, but for a constant
		for j := 1; j < i; j++ {
			s += 1 / (float64(j) + 0.5)
		}
		return s
	}
	half := (logarithm((n+1)/2) + logarithm((n+2)/2)) / 2
	var plus, squares, minus, minusSquares float64
	for i := 1; i <= n; i++ {
		v := half - logarithm(i)
		w = append(w, v)
		if i <= n/2 {
			plus, squares = plus+v, squares+v*v
		} else {
			minus, minusSquares = minus-v, minusSquares+v*v
		}
	}
	mass = plus * plus / squares
	c1 = 2 / ((d+1.3)*(d+1.3) + mass)
	cmu = min(1-c1, 2*(mass-2+1/mass)/((d+2)*(d+2)+mass))
	a := min(1+c1/cmu, 1+2*(minus*minus/minusSquares)/(mass+2), (1-c1-cmu)/(d*cmu))
	for i := range w {
		if i < n/2 {
			w[i] /= plus
		} else {
			w[i] *= a / minus
		}
	}
	return w, mass, c1, cmu
}

func approximateExp(u float64) float64 {
	u = min(1, max(-1, u))
	return (12 + 6*u + u*u) / (12 - 6*u + u*u)
}

// evolve makes a round of an evolution strategy: a client's scalars are its losses less its least.
func (f *Fleet) evolve(s *State, r *Round) []float64 {
	var z [][]float64
	for p := range r.P {
		z = append(z, f.Direction(r.Clients[0], At{r.N, 0}, p))
	}
	var scalars [][][]float64
	for _, client := range r.Clients {
		var g []float64
		least := math.Inf(1)
		for p := range r.P {
			y := scaled(s.Evolution.Shape(z[p]), f.StepScale)
			g = append(g, f.Loss(client, At{r.N, 0}, along(s.X, s.Evolution.Sigma, y)))
			least = min(least, g[p])
		}
		for p := range g {
			g[p] -= least
		}
		f.rounded(g)
		one := [][]float64{g}
		if f.Clip > 0 {
			one = f.shorten(one)
		}
		scalars = append(scalars, one)
	}
	step := s.Evolution.Step(make([]float64, f.Dim), z, f.aggregate(r, scalars)[0])
	return along(s.X, 1, scaled(step, f.StepScale))
}
