package byzantine

import (
	"math/rand/v2"
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/papers/run"
)

// withRoot draws the root device's samples at random from the samples of all clients, and takes
// these samples away from the clients.
func withRoot(deal func(seed uint64) ([][]int, error)) func(seed uint64) ([][]int, error) {
	return func(seed uint64) ([][]int, error) {
		shares, err := deal(seed)
		if err != nil {
			return nil, err
		}
		all := slices.Concat(shares...)
		slices.Sort(all)
		rng := rand.New(rand.NewPCG(seed, rootSamples))
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		own := all[:min(rootSamples, len(all)/4)]
		taken := map[int]bool{}
		for _, i := range own {
			taken[i] = true
		}
		for at, share := range shares {
			rest := slices.DeleteFunc(slices.Clone(share), func(i int) bool { return taken[i] })
			if len(rest) > 0 {
				shares[at] = rest
			}
		}
		return append(shares, own), nil
	}
}

// wholly returns a task in which one client computes its loss over all its samples at each point.
func wholly(t run.Task, share []int) run.Task {
	own := map[int]bool{}
	for _, i := range share {
		own[i] = true
	}
	loss, gradient := t.Loss, t.Gradient
	all := func(batch []int) []int {
		if own[batch[0]] {
			return share
		}
		return batch
	}
	t.Loss = func(params []float32, batch []int) float64 { return loss(params, all(batch)) }
	t.Gradient = func(grad, params []float32, batch []int) float64 {
		return gradient(grad, params, all(batch))
	}
	return t
}

// relabeled returns the task with a wrong label on each sample: 9 minus the true label.
func (x *trial) relabeled() run.Task {
	train := &data.Images{}
	*train = *x.set.Train
	train.Labels = slices.Clone(train.Labels)
	for i, l := range train.Labels {
		train.Labels[i] = 9 - l
	}
	other := *x.set
	other.Train = train
	task, _ := other.Task(false)
	return task
}
