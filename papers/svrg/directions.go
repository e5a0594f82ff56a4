package svrg

import (
	"context"
	"math/rand/v2"
)

// A drawing says which estimates of ZO-SVRG have the same directions.
type drawing int

const (
	together drawing = iota // all samples of an estimate, and both points: as here
	apiece                  // each sample has its own, the same at both points
	fresh                   // each sample has its own at each point
)

// batches are the minibatch sizes that the experiment simulates.
var batches = []int{1, 4, 16}

// directions simulates ZO-SVRG on one machine in float64, with slopes in place of differences, for
// each drawing and minibatch, and reports the mean of F - F* over the last half of the epochs.
func (x *trial) directions() error {
	ends := map[drawing][]float64{}
	for _, d := range []drawing{together, apiece, fresh} {
		for _, batch := range batches {
			sum := 0.0
			for seed := range uint64(x.seeds) {
				end, err := simulateSVRG(x.Ctx, newLeastSquares(seed+1), d, batch, seed)
				if err != nil {
					return err
				}
				sum += end
			}
			ends[d] = append(ends[d], sum/float64(x.seeds))
		}
	}
	own, anew := ends[apiece], ends[fresh]
	last := len(batches) - 1
	x.Report.Claim(anew[last] < anew[0]/4 && anew[last] > 1e3*ends[together][last],
		"theorem 1: directions of each sample leave an error that falls as minibatches grow",
		"minibatches of %v: %s if drawn anew at each point, %s if the same at both points, "+
			"%s if all samples share them, as here",
		batches, magnitudes(anew), magnitudes(own), magnitudes(ends[together]))
	return nil
}

// simulateSVRG runs 200 epochs of algorithm 2 with steps of 0.0125.
func simulateSVRG(ctx context.Context, q *leastSquares, d drawing, batch int,
	seed uint64) (float64, error) {
	const epochs, eta = 200, 0.0125
	s := &simulation{q: q, kind: d, rng: rand.New(rand.NewPCG(seed, uint64(d)))}
	all := make([]int, len(q.w))
	for i := range all {
		all[i] = i
	}
	x, sum := make([]float64, dim), 0.0
	for epoch := range epochs {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		x0 := append([]float64(nil), x...)
		g := s.difference(all, x0, nil)
		for range steps {
			samples := make([]int, batch)
			for i := range samples {
				samples[i] = s.rng.IntN(len(all))
			}
			v := s.difference(samples, x, x0)
			for i := range x {
				x[i] -= eta * (v[i] + g[i])
			}
		}
		if epoch >= epochs/2 {
			sum += q.over(x) - q.least
		}
	}
	return sum / (epochs / 2), nil
}

// A simulation draws directions.
type simulation struct {
	q    *leastSquares
	kind drawing
	rng  *rand.Rand
}

// difference returns the mean over samples of the estimate at x minus the estimate at x0. If x0
// is nil, difference returns the mean of the estimates at x.
func (s *simulation) difference(samples []int, x, x0 []float64) []float64 {
	v, z := make([]float64, len(x)), s.draw()
	n := float64(len(samples))
	for _, i := range samples {
		if s.kind != together {
			z = s.draw()
		}
		s.add(v, 1/n, z, i, x)
		if x0 == nil {
			continue
		}
		if s.kind == fresh {
			z = s.draw()
		}
		s.add(v, -1/n, z, i, x0)
	}
	return v
}

// draw returns P directions.
func (s *simulation) draw() [][]float64 {
	all := make([][]float64, perturbations)
	for p := range all {
		all[p] = make([]float64, dim)
		for i := range all[p] {
			all[p][i] = s.rng.NormFloat64()
		}
	}
	return all
}

// add adds to v a times the estimate of sample i's gradient at x along z.
func (s *simulation) add(v []float64, a float64, z [][]float64, i int, x []float64) {
	r := s.q.residual(x, i)
	for _, direction := range z {
		slope := 0.0
		for j, w := range s.q.w[i] {
			slope += w * direction[j]
		}
		for j, e := range direction {
			v[j] += a * r * slope * e / float64(len(z))
		}
	}
}
