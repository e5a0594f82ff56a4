package reference

import (
	"math"
	"testing"
)

// TestClientsAndDirections runs ZO-AdaFL on a quadratic for 60 rounds with 10, 30 and 50 clients.
// Where each has its own directions, more clients come closer, as in the paper's Fig. 2b. Where all
// share them, as (5) has it to the letter, they do not, and end far above.
func TestClientsAndDirections(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	ends := func(shared bool) (left []float64) {
		for _, clients := range []int{10, 30, 50} {
			left = append(left, quadraticAfter(60, clients, shared))
		}
		return left
	}
	own, shared := ends(false), ends(true)
	t.Logf("own directions %.3f, shared %.3f", own, shared)
	if !(own[1] < 0.85*own[0] && own[2] < own[1]) {
		t.Errorf("with own directions 10, 30 and 50 clients leave %.3f", own)
	}
	for i, v := range shared {
		if math.Abs(v-shared[0]) > 0.02*shared[0] || v < 1.5*own[i] {
			t.Errorf("with shared directions 10, 30 and 50 clients leave %.3f, with own ones %.3f",
				shared, own)
		}
	}
}

// quadraticAfter returns |x - center|^2 / 2 after rounds of ZO-AdaFL with the paper's settings,
// from 0. Client i has sum_j a_j (x_j - 1 - (noise of i)_j)^2 / 2 in 200 dimensions, with a_j from
// 0.1 to 1, and center is the mean of their minima.
func quadraticAfter(rounds, clients int, shared bool) float64 {
	const dim = 200
	b := unit(randomProblem(dim, shared))
	var all []int
	var centers [][]float64
	for i := range clients {
		all = append(all, i)
		center := normals(dim, i, At{}, 0, 9)
		for j := range center {
			center[j] = 1 + 0.1*center[j]
		}
		centers = append(centers, center)
	}
	b.Loss = func(client int, _ At, x []float64) float64 {
		away := along(x, -1, centers[client])
		for i := range away {
			away[i] *= math.Sqrt(0.1 + 0.9*float64(i)/(dim-1))
		}
		return dot(away, away) / 2
	}
	ada := ZOAdaFL{FedZO{b, 50, 1, 1e-3, 1e-3}, 0.02, 0.9, 0.99, 1e-8}
	x, s := make([]float64, dim), NewMoments(dim, 1e-5)
	for r := range rounds {
		x = ada.Round(x, s, uint64(r+2), all)
	}
	away := along(x, -1, mean(centers...))
	return dot(away, away) / 2
}
