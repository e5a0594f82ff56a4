package blackbox

import (
	"fmt"
	"math"
)

// quadraticSide is half the side of the box.
const quadraticSide = 10

// QuadraticMinimum is F* for the paper's d = 300, with the five decimals that the paper prints:
// see [Quadratic.Minimum].
const QuadraticMinimum = -0.02467

// A QuadraticConfig specifies the quadratic functions. The paper has Dim 300, Clients 5 and
// C 0.5, 5 and 50.
type QuadraticConfig struct {
	Dim     int     // d
	Clients int     // N
	C       float64 // how far the functions differ; 0: they are equal
	Seed    uint64  // of the coefficients
}

// A Quadratic is equation (98) of FZooS, on [-10, 10]^d:
//
//	f_i(x) = 1/(10 d) ( sum_j [ (1 + C (a_ij - 1/N)) x_j^2 + (1 + C (b_ij - 1/N)) x_j ] + 1 )
//
// where a_.j and b_.j are drawn for each j from the Dirichlet distribution Dir(1/N, ...), so that
// for any C the mean of the f_i is equation (99):
//
//	F(x) = 1/(10 d) ( sum_j [ x_j^2 + x_j ] + 1 )
//
// Some f_i are concave in some x_j if C is above N. Any number of goroutines may use one
// Quadratic.
type Quadratic struct {
	dim, clients int
	a, b         [][]float64 // [client][coordinate]: coefficients of x^2 and x
}

// NewQuadratic draws the coefficients.
func NewQuadratic(c QuadraticConfig) (*Quadratic, error) {
	switch {
	case c.Dim < 1:
		return nil, fmt.Errorf("blackbox: Dim is %d: it must be at least 1", c.Dim)
	case c.Clients < 1:
		return nil, fmt.Errorf("blackbox: Clients is %d: it must be at least 1", c.Clients)
	case !(c.C >= 0) || math.IsInf(c.C, 1):
		return nil, fmt.Errorf("blackbox: C is %v: it must be finite and not negative", c.C)
	}
	q := &Quadratic{dim: c.Dim, clients: c.Clients}
	for range c.Clients {
		q.a = append(q.a, make([]float64, c.Dim))
		q.b = append(q.b, make([]float64, c.Dim))
	}
	rng, share := stream(c.Seed, forCoefficients), make([]float64, c.Clients)
	alpha := 1 / float64(c.Clients)
	for j := range c.Dim {
		for _, to := range [2][][]float64{q.a, q.b} {
			dirichlet(share, rng, alpha)
			for i, p := range share {
				to[i][j] = 1 + float64(c.C*(p-alpha))
			}
		}
	}
	return q, nil
}

// Dim returns d.
func (q *Quadratic) Dim() int { return q.dim }

// Clients returns N.
func (q *Quadratic) Clients() int { return q.clients }

// Box returns -10 and 10.
func (q *Quadratic) Box() (low, high float32) { return -quadraticSide, quadraticSide }

// Start draws uniformly from the box, as the paper's code does.
func (q *Quadratic) Start(dst []float32, seed uint64) {
	check(q, dst)
	rng := stream(seed, forStart)
	for j := range dst {
		dst[j] = quadraticSide * (2*rng.Float32() - 1)
	}
}

// Local returns f_i.
func (q *Quadratic) Local(i int) func(x []float32) float64 {
	checkClient(q, i)
	a, b := q.a[i], q.b[i]
	return func(x []float32) float64 {
		check(q, x)
		var sum float64
		for j, v := range x {
			v := inside(v)
			sum += v * (float64(a[j]*v) + b[j])
		}
		return q.scale() * (sum + 1)
	}
}

// F returns the value of equation (99) at x.
func (q *Quadratic) F(x []float32) float64 {
	check(q, x)
	var sum float64
	for _, v := range x {
		v := inside(v)
		sum += v * (v + 1)
	}
	return q.scale() * (sum + 1)
}

// Gradient sets dst to the gradient of f_i at x within the box:
//
//	for j := range dst {
//		dst[j] = (2*a[i][j]*x[j] + b[i][j]) / (10*d)
//	}
func (q *Quadratic) Gradient(dst []float64, i int, x []float32) {
	checkClient(q, i)
	q.gradient(dst, x, func(j int) (a, b float64) { return q.a[i][j], q.b[i][j] })
}

// MeanGradient sets dst to the gradient of F at x within the box: (2 x + 1) / (10 d).
func (q *Quadratic) MeanGradient(dst []float64, x []float32) {
	q.gradient(dst, x, func(int) (a, b float64) { return 1, 1 })
}

func (q *Quadratic) gradient(dst []float64, x []float32, of func(j int) (a, b float64)) {
	check(q, x)
	if len(dst) != len(x) {
		panic(badDim)
	}
	for j, v := range x {
		a, b := of(j)
		dst[j] = q.scale() * (float64(2*a*float64(v)) + b)
	}
}

// Minimum returns F*, which is at x_j = -1/2: 0.1 (1/d - 1/4), -0.02467 for d = 300.
func (q *Quadratic) Minimum() float64 { return q.scale() * (1 - float64(q.dim)/4) }

func (q *Quadratic) scale() float64 { return 1 / (10 * float64(q.dim)) }

// inside returns the value in [-10, 10] that is nearest to v.
func inside(v float32) float64 { return float64(clamp(v, -quadraticSide, quadraticSide)) }

var _ Problem = (*Quadratic)(nil)
