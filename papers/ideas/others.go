package ideas

import (
	"math"
	"slices"

	"github.com/zofl/zofl/plan"
)

// Other names what a method of other authors does instead of the recipe. All have the recipe's
// momentum and cosine.
type Other uint8

const (
	None Other = iota
	// DeComFL has directions that all devices share, means of exact scalars, and steps that nothing
	// divides, without decay.
	DeComFL
	// FeedSign is DeComFL with the sign that most devices vote for in place of a scalar.
	FeedSign
	// OneBit is the recipe with the sign of each scalar, times the root mean square of the device's.
	OneBit
)

func (o Other) shares() bool { return o == DeComFL || o == FeedSign }

// round rounds a device's scalars to what the method sends.
func (o Other) round(c []float32) {
	switch o {
	case None:
		plan.Int4.Round(c)
	case OneBit:
		squares := 0.0
		for _, v := range c {
			squares += float64(v) * float64(v)
		}
		for i, v := range c {
			c[i] = sign(v) * float32(math.Sqrt(squares/float64(len(c))))
		}
	}
}

// combined returns what the server rule uses: if all devices have the same directions, the mean of
// their scalars or the signs for which most of them vote.
func (o Other) combined(list []summand) []summand {
	if !o.shares() {
		return list
	}
	out := list[0]
	out.c = make([]float32, len(out.c))
	for _, s := range list {
		for p, c := range s.c {
			if o == FeedSign {
				c = sign(c)
			}
			out.c[p] += c / float32(len(list))
		}
	}
	for p, c := range out.c {
		if o == FeedSign {
			out.c[p] = sign(c)
		}
	}
	return []summand{out}
}

// sign returns 1 or -1. A tie is 1.
func sign(v float32) float32 {
	if v < 0 {
		return -1
	}
	return 1
}

// freeze lets only the elements train whose gradient at the start has the largest squares, as
// Meerkat has it. No scalar tells this gradient.
func (t *trial) freeze() {
	if t.Mask == 0 {
		return
	}
	g := make([]float32, len(t.x))
	t.Train.Gradient(g, t.x, t.rng.Perm(t.Train.Len())[:min(surveyRows, t.Train.Len())])
	squares := make([]float32, len(g))
	for i, v := range g {
		squares[i] = v * v
	}
	slices.Sort(squares)
	least := squares[len(g)-max(1, int(t.Mask*float64(len(g))))]
	t.layers = make([]float32, len(g))
	for i, v := range g {
		if v*v >= least {
			t.layers[i] = 1
		}
	}
	t.diagonal.root = t.layers
}

// apart says that the first directions of a device perturb the last layer alone, and the other
// directions all other layers, so that the first need no new activations.
type apart struct {
	first int
	last  []float32 // 1 for the last layer's elements
}

// project returns the slopes of g along a device's directions.
func (a *apart) project(f *frame, g []float32, device, step int) []float32 {
	c := f.project(a.part(g, 0), device, step)
	copy(c, f.project(a.part(g, 1), device, step)[:a.first])
	return c
}

// part returns g with 0 in place of the elements for which last is not of.
func (a *apart) part(g []float32, of float32) []float32 {
	out := make([]float32, len(g))
	for i, v := range g {
		if a.last[i] == of {
			out[i] = v
		}
	}
	return out
}

// estimate returns the estimate of the gradient.
func (a *apart) estimate(d int, list []summand) []float32 {
	side := func(from, to int, of float32) []float32 {
		some, n := slices.Clone(list), 0
		for i, s := range some {
			some[i].c = make([]float32, len(s.c))
			n += copy(some[i].c[from:min(to, len(s.c))], s.c[from:])
		}
		return a.part(sum(d, 1/float64(n), some), of)
	}
	out := side(0, a.first, 1)
	for i, v := range side(a.first, len(list[0].c), 0) {
		out[i] += v
	}
	return out
}

// strong is the share of the devices that have gradients, for [Arm.Warm].
const strong = 0.2

// gradientQueries is how many losses take as long as a gradient.
const gradientQueries = 3

// warm makes a round by the gradients of devices that have them, and returns its cost to the mean
// of all devices. Those asked get and send a vector, and after the last such round all get one.
func (t *trial) warm(a float64, b int) Spent {
	able := max(t.Asked, int(strong*float64(len(t.Shares))))
	g, square := make([]float32, len(t.x)), 0.0
	for _, device := range t.rng.Perm(able)[:t.Asked] {
		one := make([]float32, len(g))
		t.Train.Gradient(one, t.x, t.batchers[device].Pick(b, t.rng.Uint64()))
		for i, v := range one {
			g[i] += v / float32(t.Asked)
			square += float64(v) * float64(v) / float64(t.Asked)
		}
	}
	t.scaled(square)
	blend(t.m, float32(t.beta()), g)
	t.move(a, t.unbiased())
	vector := 4 * float64(len(t.x))
	s := Spent{Queries: gradientQueries, Samples: gradientQueries * b,
		Bytes: 2 * vector * float64(t.Asked) / float64(len(t.Shares))}
	if t.n == t.Warm {
		s.Bytes += vector
	}
	return s
}
