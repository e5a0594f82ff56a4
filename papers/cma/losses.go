package cma

import (
	"math"
	"math/rand/v2"
)

// A loss is one that optimizers are compared on, with its least value and its value at the start.
type loss struct {
	dim          int
	at           func(x []float64) float64
	start, least float64
	sigma        float32
	restarts     uint32
}

// gap returns the share of the first gap that a value leaves.
func (l *loss) gap(v float64) float64 { return (v - l.least) / (l.start - l.least) }

// newLoss returns a loss of d parameters: ellK, of condition 10^K and turned at random, or one of
// the others by name.
func newLoss(name string, d int, seed uint64) *loss {
	r := rand.New(rand.NewPCG(500+seed, 1))
	l := &loss{dim: d, sigma: 0.3}
	switch name {
	case "ell1", "ell3", "ell6":
		e := newEllipsoid(r, d, float64(name[3]-'0'))
		l.at = e.at
	case "rosen":
		l.at = rosenbrock
	case "ackley":
		l.at, l.sigma = ackley(uniform(r, d, 10)), 5
	case "rastrigin":
		l.at, l.sigma, l.restarts = rastrigin(uniform(r, d, 3)), 2, 6
	}
	l.start = l.at(make([]float64, d))
	return l
}

// An ellipsoid is 0.5 sum l_i (Q (x - o))_i^2.
type ellipsoid struct {
	q    [][]float64
	l, o []float64 // o in the coordinates of Q
}

func newEllipsoid(r *rand.Rand, d int, power float64) *ellipsoid {
	e := &ellipsoid{q: rotation(r, d)}
	for i := range d {
		e.l = append(e.l, math.Pow(10, power*(float64(i)/float64(d-1)-1)))
		e.o = append(e.o, r.NormFloat64())
	}
	return e
}

func (e *ellipsoid) at(x []float64) float64 { return bowl(e.l, e.o, turned(e.q, x)) }

// bowl returns 0.5 sum l_i (y_i - o_i)^2.
func bowl(l, o, y []float64) (f float64) {
	for i, v := range y {
		f += 0.5 * l[i] * (v - o[i]) * (v - o[i])
	}
	return f
}

// turned returns Q x.
func turned(q [][]float64, x []float64) []float64 {
	y := make([]float64, len(q))
	for i, row := range q {
		y[i] = inner(row, x)
	}
	return y
}

// rotation returns a random matrix with orthonormal rows.
func rotation(r *rand.Rand, d int) [][]float64 {
	q := make([][]float64, d)
	for i := range q {
		q[i] = make([]float64, d)
		for j := range q[i] {
			q[i][j] = r.NormFloat64()
		}
		for _, other := range q[:i] {
			add(q[i], -inner(q[i], other), other)
		}
		add(q[i], 1/math.Sqrt(inner(q[i], q[i]))-1, q[i])
	}
	return q
}

func inner(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func add(to []float64, times float64, v []float64) {
	for i := range to {
		to[i] += times * v[i]
	}
}

func uniform(r *rand.Rand, d int, most float64) []float64 {
	v := make([]float64, d)
	for i := range v {
		v[i] = most * (2*r.Float64() - 1)
	}
	return v
}

func rosenbrock(x []float64) (f float64) {
	for i := range len(x) - 1 {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		f += 100*a*a + b*b
	}
	return f
}

func ackley(o []float64) func(x []float64) float64 {
	return func(x []float64) float64 {
		squares, waves, d := 0.0, 0.0, float64(len(x))
		for i, v := range x {
			squares += (v - o[i]) * (v - o[i]) / d
			waves += math.Cos(2*math.Pi*(v-o[i])) / d
		}
		return -20*math.Exp(-0.2*math.Sqrt(squares)) - math.Exp(waves) + 20 + math.E
	}
}

func rastrigin(o []float64) func(x []float64) float64 {
	return func(x []float64) (f float64) {
		for i, v := range x {
			d := v - o[i]
			f += 10 + d*d - 10*math.Cos(2*math.Pi*d)
		}
		return f
	}
}
