package ideas

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// A Config describes a simulated run.
type Config struct {
	Arm
	Train, Test models.Differentiable
	Shares      [][]int // of devices
	Asked       int     // devices a round
	Seed        uint64
	Step        float64 // of the first round
	// Budget is the cost at which the run ends; Price is the cost of a round.
	Budget float64
	Price  func(Spent) float64
	Bytes  func(scalars int) float64 // of a device a round, on average
	Times  int                       // measurements, equally far apart in the budget
}

// Spent is the cost of one device that takes part in every round.
type Spent struct {
	Queries, Samples int     // losses of a minibatch, and of one sample
	Bytes            float64 // on the wire
}

// A Point is a measurement.
type Point struct {
	Spent
	Rounds         int
	Loss, Accuracy float64
}

const (
	beta1 = 0.9
	beta2 = 0.99
	decay = 0.03
	floor = 0.05 // of the cosine
)

// Train returns the measurements of a run, the last at its end. A run whose numbers overflow ends
// early.
func Train(ctx context.Context, cfg Config) ([]Point, error) {
	t := newTrial(&cfg)
	var points []Point
	for next := 1; ctx.Err() == nil; {
		t.round()
		done := t.used >= cfg.Budget || !t.finite()
		if t.used*float64(cfg.Times) >= float64(next)*cfg.Budget || done {
			next = 1 + int(t.used/cfg.Budget*float64(cfg.Times))
			loss, accuracy := softmax.Evaluate(cfg.Test, t.model(), 1)
			points = append(points, Point{t.spent, t.n, loss, accuracy})
		}
		if done {
			return points, nil
		}
	}
	return nil, context.Cause(ctx)
}

// A trial is a running run.
type trial struct {
	*Config
	x, m      []float32
	mean      []float32 // running mean of x; nil: none
	v         float64   // running mean square of scalars
	b1, b2    float64   // powers of beta1 and beta2
	n         int       // rounds
	used      float64
	spent     Spent
	keys      *prng.Keyring
	rng       *rand.Rand
	batchers  []*data.Batcher
	diagonal  diagonal
	layers    []float32 // factors of elements; nil: 1
	surveyed  int
	remembers memory
	apart     apart
}

func newTrial(cfg *Config) *trial {
	t := &trial{Config: cfg, x: models.Initial(cfg.Train, cfg.Seed), b1: 1, b2: 1,
		m: make([]float32, cfg.Train.Dim()), keys: prng.NewKeyring([]byte{byte(cfg.Seed)}),
		rng: rand.New(rand.NewPCG(cfg.Seed, 1))}
	for _, share := range cfg.Shares {
		t.batchers = append(t.batchers, data.NewBatcher(share))
	}
	t.diagonal.moves = cfg.Shape.Moves
	t.layers = lastLayer(cfg.Train.Segments(), cfg.Layers.Last)
	t.freeze()
	if cfg.Apart > 0 {
		t.apart = apart{cfg.Apart, ofLast(cfg.Train.Segments())}
	}
	return t
}

func (t *trial) finite() bool {
	return !slices.ContainsFunc(t.x, func(v float32) bool { return !(math.Abs(float64(v)) < 1e6) })
}

func (t *trial) round() {
	part := t.used / t.Budget
	t.survey(part)
	p, b := at(t.P, part, usualP), at(t.B, part, usualB)
	a := t.Step * t.Finish.Fall.share(part, t.n)
	s := t.one(p, b, a)
	price := t.Price(s)
	t.used += price
	t.average(price / t.Budget)
	t.spent = Spent{t.spent.Queries + s.Queries, t.spent.Samples + s.Samples,
		t.spent.Bytes + s.Bytes}
}

// one makes a round with p directions, minibatches of b samples and step size a, and returns its
// cost.
func (t *trial) one(p, b int, a float64) Spent {
	if t.n < t.Warm {
		return t.warm(a, b)
	}
	key := t.n
	if t.Antithetic {
		key /= 2 // slopes along -z times -z are those along z times z
	}
	f := newFrame(t.keys.Key(uint64(key+1)), &t.Arm, p, t.Asked, len(t.x))
	var list []summand
	for i, device := range t.rng.Perm(len(t.Shares))[:t.Asked] {
		if t.Groups > 0 {
			i %= t.Groups
		}
		list = append(list, t.device(f, i, device, b, a)...)
	}
	if t.Groups > 0 {
		list = grouped(list, t.Groups)
	}
	list = t.Other.combined(list)
	t.scaled(meanSquare(list))
	t.move(a, t.estimate(list))
	return Spent{Queries: f.steps * (p + 1), Samples: f.steps * (p + 1) * b,
		Bytes: t.Bytes(f.steps * p)}
}

// grouped returns a summand for each group, with the rounded means of its devices' scalars. A
// device has one local step.
func grouped(list []summand, groups int) []summand {
	out, sizes := make([]summand, min(groups, len(list))), make([]float32, groups)
	for _, s := range list {
		g := &out[s.device]
		if sizes[s.device]++; g.c == nil {
			*g = s
			continue
		}
		for p, c := range s.c {
			g.c[p] += c
		}
	}
	for i, g := range out {
		for p := range g.c {
			g.c[p] /= sizes[i]
		}
		plan.Int8.Round(g.c)
	}
	return out
}

// scaled counts a round, and updates the running mean square of scalars.
func (t *trial) scaled(square float64) {
	t.n++
	t.b1, t.b2 = t.b1*t.beta(), t.b2*beta2
	t.v = beta2*t.v + (1-beta2)*square
}

// device returns the rounded scalars of a device. Between local steps, device moves the device's
// own x.
func (t *trial) device(f *frame, i, device, b int, a float64) (list []summand) {
	x := t.x
	for k := range f.steps {
		g := make([]float32, len(x))
		t.Train.Gradient(g, x, t.batchers[device].Pick(b, t.rng.Uint64()))
		if t.Shape.Of == Exact {
			t.diagonal.see(g)
		}
		c := t.project(f, t.diagonal.shaped(g), i, k)
		if t.Groups > 0 {
			plan.Int8.Round(c) // as the preset zofl with groups
		} else {
			t.Other.round(c)
		}
		list = append(list, summand{f, i, k, c})
		if k+1 < f.steps && t.v > 0 {
			own := sum(len(x), t.Local*a/t.root()/float64(f.p), list[k:])
			x = append([]float32(nil), x...)
			for j, v := range own {
				x[j] -= v
			}
		}
	}
	return list
}

// project returns the slopes of g along the directions of a device's step.
func (t *trial) project(f *frame, g []float32, device, step int) []float32 {
	if t.apart.last != nil {
		return t.apart.project(f, g, device, step)
	}
	return f.project(g, device, step)
}

// root returns the running root mean square of scalars, or 1 if nothing divides steps.
func (t *trial) root() float64 {
	if t.Other.shares() {
		return 1
	}
	return math.Sqrt(t.v / (1 - t.b2))
}

// move moves x along an estimate of the gradient with its momentum.
func (t *trial) move(a float64, m []float32) {
	if !(t.v > 0) {
		return
	}
	by := a / t.root()
	for i, v := range m {
		scale := 1.0
		if t.layers != nil {
			scale = float64(t.layers[i])
		}
		x := float64(t.x[i])
		t.x[i] = float32(x - scale*(t.decay()*a*x+by*float64(v)))
	}
}

func meanSquare(list []summand) float64 {
	sum, n := 0.0, 0
	for _, s := range list {
		for _, c := range s.c {
			sum += float64(c) * float64(c)
			n++
		}
	}
	return sum / float64(n)
}

func count(list []summand) (n int) {
	for _, s := range list {
		n += len(s.c)
	}
	return n
}
