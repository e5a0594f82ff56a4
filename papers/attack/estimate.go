package attack

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/zofl/zofl/coordinator/zofl/data"
)

// A Fleet describes the clients of a baseline: the loss, each client's images, and how a
// client estimates a gradient.
type Fleet struct {
	Loss    func(x []float32, batch []int) float64
	Dim     int
	Shares  [][]int // images of each client
	Batch   int     // images for an estimate
	Mean    int     // number of estimates averaged for a gradient: the papers' H
	Mu      float64 // smoothing
	Step    float64 // eta
	Seed    uint64
	Workers int // goroutines; 0 is 1
}

// A Baseline is a method that is simulated one round at a time.
type Baseline interface {
	// Round makes round n, from 1.
	Round(n uint64)
	// X returns the perturbation on which all clients agree.
	X() []float32
	// State returns all values that rounds change. To restore an earlier state, the caller may
	// overwrite these values with those of an earlier call.
	State() [][]float32
	// Queries returns how many losses all clients compute in a round.
	Queries() uint64
}

var _, _ Baseline = (*DZOPA)(nil), (*ZONES)(nil)

// queries returns the number of losses for one client's gradient.
func (f *Fleet) queries() uint64 { return 2 * uint64(f.Mean) }

// gradient adds to g the mean of gradient estimates, each a forward difference along a random
// direction,
//
//	scale/mu (F(x + mu u) - F(x)) u
//
// with u uniform on the unit sphere and scale d, or u normal and scale 1. gradient draws a
// minibatch for each estimate.
func (f *Fleet) gradient(g, x []float32, client int, n uint64, sphere bool) {
	rng := rand.New(rand.NewPCG(f.Seed, n<<32|uint64(client)))
	batches := data.NewBatcher(f.Shares[client])
	u, near := make([]float64, f.Dim), make([]float32, f.Dim)
	for range f.Mean {
		batch := batches.Pick(f.Batch, rng.Uint64())
		scale := direction(u, rng, sphere) / float64(f.Mean)
		for i, v := range x {
			near[i] = float32(float64(v) + float64(f.Mu*u[i]))
		}
		slope := scale * (f.Loss(near, batch) - f.Loss(x, batch)) / f.Mu
		for i, v := range u {
			g[i] += float32(slope * v)
		}
	}
}

// direction draws u, and returns the scale of an estimate along it.
func direction(u []float64, rng *rand.Rand, sphere bool) (scale float64) {
	squares := 0.0
	for i := range u {
		u[i] = rng.NormFloat64()
		squares += float64(u[i] * u[i])
	}
	if !sphere {
		return 1
	}
	for i := range u {
		u[i] /= math.Sqrt(squares)
	}
	return float64(len(u))
}

// each calls f for every client, on a number of goroutines.
func (f *Fleet) each(call func(client int)) {
	var wg sync.WaitGroup
	workers := max(f.Workers, 1)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(f.Shares); i += workers {
				call(i)
			}
		})
	}
	wg.Wait()
}

func vectors(n, dim int) [][]float32 {
	list := make([][]float32, n)
	for i := range list {
		list[i] = make([]float32, dim)
	}
	return list
}
