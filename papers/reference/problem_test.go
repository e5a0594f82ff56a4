package reference

import (
	"math"
	"math/rand/v2"
	"testing"
)

// exact is the tolerance, relative to 1 + |value|, between two float64 computations of the
// same model.
const exact = 1e-9

// loss is a client's loss: a smooth convex function that differs between minibatches. The loss is
// not quadratic, so that forward and central differences differ.
func loss(client int, at At, x []float64) float64 {
	sum, shift := 0.0, 0.3*math.Sin(float64(at.N)+2*float64(at.K))
	for i, v := range x {
		e := v - float64((client+i)%3) + shift
		sum += (1+0.1*float64(i%4))*e*e + 0.05*math.Sin(v+float64(client))
	}
	return sum / 10
}

// slope is the gradient of loss.
func slope(client int, at At, x []float64) []float64 {
	g, shift := make([]float64, len(x)), 0.3*math.Sin(float64(at.N)+2*float64(at.K))
	for i, v := range x {
		e := v - float64((client+i)%3) + shift
		g[i] = (2*(1+0.1*float64(i%4))*e + 0.05*math.Cos(v+float64(client))) / 10
	}
	return g
}

// randomProblem returns a problem with normal directions: the same for all clients if shared is
// set, or own directions for each client.
func randomProblem(dim int, shared bool) Problem {
	return Problem{Dim: dim, Loss: loss, Direction: func(client int, at At, p int) []float64 {
		if shared {
			client = -1
		}
		return normals(dim, client, at, p, 1)
	}}
}

func normals(n, client int, at At, p int, salt uint64) []float64 {
	random := rand.New(rand.NewPCG(salt<<32|uint64(client+1), at.N<<32|uint64(at.K<<16|p)))
	z := make([]float64, n)
	for i := range z {
		z[i] = random.NormFloat64()
	}
	return z
}

// unit normalizes the directions of b.
func unit(b Problem) Problem {
	direction := b.Direction
	b.Direction = func(client int, at At, p int) []float64 {
		z := direction(client, at, p)
		return along(make([]float64, b.Dim), 1/math.Sqrt(dot(z, z)), z)
	}
	return b
}

// line is f_i(x) = slope_i x in one dimension, with directions +1 and -1. All estimates
// equal the slope, so a round of any method can be computed by hand.
func line(slopes ...float64) Problem {
	return Problem{
		Dim:  1,
		Loss: func(client int, _ At, x []float64) float64 { return slopes[client] * x[0] },
		Direction: func(client int, at At, p int) []float64 {
			return []float64{1 - 2*float64((client+at.K+p)%2)}
		},
	}
}

func compare(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*(1+math.Abs(want[i]))) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}
