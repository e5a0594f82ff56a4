package byzantine

import (
	"math"
	"math/rand/v2"

	"github.com/zofl/zofl/papers/run"
)

// A lie is what the first devices of a fleet report as their loss. It is a loss of its own, so that
// a liar answers by losses or by gradients like any device.
type lie struct {
	name string
	// lie returns two factors: for a loss, or a gradient, of the liar's own samples, and for one of
	// the honest devices' samples. It returns nil if nobody lies.
	lie func() (own, honest float64)
	// random replaces the gradient by one in any direction.
	random bool
	// shared is the part of that noise, as a part of its variance, that all liars share.
	shared float64
	// labels takes other labels for the liar's own samples.
	labels bool
	// steady takes the same samples of honest devices at all points.
	steady bool
	// turns lies at one point of three. At the others it tells the honest devices' loss.
	turns bool
}

// lies are the kinds of lies. Those in league know the honest devices' gradient, and send all the
// same: against it, and so long that every bound cuts it, which leaves it as long as may be, or
// half as long as it is. They take other samples at each point. So with losses, where a scalar is
// the difference between two points, what they send is noise that all of them share; those that are
// steady take the same samples, and do send what is against the gradient. Those that take turns
// know that a device is judged by its past.
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

// leagueBatch is how many samples of honest devices the liars in league take.
const leagueBatch = 128

// task returns a task in which the clients of the first shares lie. wrong has other labels.
func (l lie) task(t, wrong run.Task, shares [][]int, samples int) run.Task {
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
	if !l.labels {
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

// throws returns a liar's noise at a point: normal numbers of variance 1.
func (l lie) throws(params []float32, batch []int) func() float64 {
	all, own := dice(params, 0), dice(params, batch[0])
	return func() float64 {
		return math.Sqrt(l.shared)*all.NormFloat64() + math.Sqrt(1-l.shared)*own.NormFloat64()
	}
}

// liarsDice is how many parameters, the last ones, decide what [dice] returns.
const liarsDice = 10

// dice returns a generator that depends on a point and a sample.
func dice(params []float32, sample int) *rand.Rand {
	seed := uint64(sample)
	for _, v := range params[len(params)-liarsDice:] { // the biases, which every round moves
		seed = seed*0x9e3779b97f4a7c15 + uint64(math.Float32bits(v))
	}
	return rand.New(rand.NewPCG(seed, 17))
}

// league returns the minibatch of honest samples that all in league take at a point.
func league(params []float32, honest []int) []int {
	rng, batch := dice(params, 0), make([]int, leagueBatch)
	for i := range batch {
		batch[i] = honest[rng.IntN(len(honest))]
	}
	return batch
}

// scatter gives a vector any direction, and leaves its length about as it is.
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
