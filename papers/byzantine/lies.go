package byzantine

import (
	"math"
	"math/rand/v2"

	"github.com/zofl/zofl/papers/run"
)

// A lie is a false loss that the first devices of a fleet report. The lie is itself a function of
// the model, so that a liar can answer by losses or by gradients like any device.
type lie struct {
	name string
	// lie returns two factors: one for the loss or gradient on the liar's own samples, and one for
	// the loss or gradient on the honest devices' samples. lie is nil if nobody lies.
	lie func() (own, honest float64)
	// random replaces the gradient by a vector in a random direction.
	random bool
	// shared is the share of the noise, by variance, that is the same for all liars.
	shared float64
	// If labels is set, the liar computes its loss with wrong labels on its own samples.
	labels bool
	// If mark is set, the liar plants a backdoor, see [backdoored].
	mark bool
	// If steady is set, the liar takes the same samples of the honest devices at all points.
	steady bool
	// If turns is set, the liar lies at one point of three. At the other points, the liar reports
	// the loss on the honest devices' samples.
	turns bool
}

// lies are the kinds of lies. Liars in league know the honest devices' gradient, and all send the
// same contribution against this gradient: either so long that every bound cuts it to the largest
// allowed norm, or half as long as the gradient. These liars take other samples at each point. So
// with losses, where a scalar is the difference between two points, their contribution is noise
// that all the liars share. Steady liars take the same samples at each point, so that their
// contribution is against the gradient also with losses. Liars that take turns exploit that the
// coordinator judges a device by its past contributions.
var lies = []lie{
	{name: "honest"},
	{name: "random", lie: func() (own, honest float64) { return 100, 0 }, random: true},
	{name: "noise", lie: func() (own, honest float64) { return 100, 0 }, random: true, shared: 1},
	{name: "partly", lie: func() (own, honest float64) { return 100, 0 }, random: true, shared: 0.5},
	{name: "flipped", lie: func() (own, honest float64) { return -1, 0 }},
	{name: "scaled", lie: func() (own, honest float64) { return -10, 0 }},
	{name: "league", lie: func() (own, honest float64) { return 0, -10 }},
	{name: "steady", lie: func() (own, honest float64) { return 0, -10 }, steady: true},
	{name: "half", lie: func() (own, honest float64) { return 0, -0.5 }},
	{name: "labels", lie: func() (own, honest float64) { return 1, 0 }, labels: true},
	{name: "turns", lie: func() (own, honest float64) { return 0, -10 }, turns: true},
}

// backdoors are lies that leave the accuracy as it is. The liars of the second send it ten times as
// long.
var backdoors = []lie{
	{name: "backdoor", lie: func() (own, honest float64) { return 1, 0 }, mark: true},
	{name: "boosted", lie: func() (own, honest float64) { return 10, 0 }, mark: true},
}

// leagueBatch is the number of honest devices' samples in a minibatch of the liars in league.
const leagueBatch = 128

// task returns a task in which the clients of the first shares lie, this many. wrong is the task
// with wrong labels, or with a backdoor.
func (l lie) task(t, wrong run.Task, shares [][]int, liars, samples int) run.Task {
	lying := make([]bool, samples)
	for _, share := range shares[:liars] {
		for _, i := range share {
			lying[i] = true
		}
	}
	var honest []int
	for _, share := range shares[liars:] {
		honest = append(honest, share...)
	}
	own, theirs := l.lie()
	loss, gradient := t.Loss, t.Gradient
	if !l.labels && !l.mark {
		wrong = t
	}
	drawn := league(make([]float32, liarsDice), honest)
	sample := func(params []float32) []int {
		if l.steady {
			return drawn
		}
		return league(params, honest)
	}
	against := func(params []float32) float64 {
		if l.turns && dice(params, 1).IntN(3) > 0 {
			return 1
		}
		return theirs
	}
	t.Loss = func(params []float32, batch []int) float64 {
		switch {
		case !lying[batch[0]]:
			return loss(params, batch)
		case l.random:
			return own * l.throws(params, batch)()
		case theirs == 0:
			return own * wrong.Loss(params, batch)
		}
		return against(params) * loss(params, sample(params))
	}
	t.Gradient = func(grad, params []float32, batch []int) float64 {
		if !lying[batch[0]] {
			return gradient(grad, params, batch)
		}
		lied, factor, lying := make([]float32, len(grad)), own, wrong.Gradient
		if theirs != 0 {
			batch, factor, lying = sample(params), against(params), gradient
		}
		value := lying(lied, params, batch)
		if l.random {
			scatter(lied, l.throws(params, batch))
		}
		for i, v := range lied {
			grad[i] += float32(factor * float64(v))
		}
		return value
	}
	return t
}

// throws returns a function that draws a liar's noise at a point: normal numbers of variance 1.
func (l lie) throws(params []float32, batch []int) func() float64 {
	all, own := dice(params, 0), dice(params, batch[0])
	return func() float64 {
		return math.Sqrt(l.shared)*all.NormFloat64() + math.Sqrt(1-l.shared)*own.NormFloat64()
	}
}

// liarsDice is the number of parameters, the last ones of the vector, that seed the generator of
// [dice].
const liarsDice = 10

// dice returns a random generator whose seed depends on a point and a sample.
func dice(params []float32, sample int) *rand.Rand {
	seed := uint64(sample)
	for _, v := range params[len(params)-liarsDice:] { // the biases, which every round moves
		seed = seed*0x9e3779b97f4a7c15 + uint64(math.Float32bits(v))
	}
	return rand.New(rand.NewPCG(seed, 17))
}

// league returns the minibatch of honest devices' samples that all liars in league take at a
// point.
func league(params []float32, honest []int) []int {
	rng, batch := dice(params, 0), make([]int, leagueBatch)
	for i := range batch {
		batch[i] = honest[rng.IntN(len(honest))]
	}
	return batch
}

// scatter replaces a vector by a random vector of about the same norm.
func scatter(v []float32, normal func() float64) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	size := math.Sqrt(sum / float64(len(v)))
	for i := range v {
		v[i] = float32(size * normal())
	}
}
