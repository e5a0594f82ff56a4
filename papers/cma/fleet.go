package cma

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// planOf returns the plan of a preset for some devices, with fields as `zofl plan --set` takes
// them.
func planOf(name string, devices, dim int, seed uint64, set ...string) (*plan.Plan, error) {
	p, err := preset.New(name, "cma", uint64(dim))
	if err != nil {
		return nil, err
	}
	n := uint32(devices)
	p.Members, p.Target, p.Quorum, p.Rounds = n, n, n, 1e6
	p.RunKey = slices.Repeat([]byte{byte(seed) + 1}, 32)
	_, err = planfile.SetAll(p, set)
	return p, err
}

// A search is a run of one device on a loss.
type search struct {
	loss    *loss
	targets []float64
	reached []int // evaluations until a point at each target was evaluated; 0: not yet
	count   int
	most    int
}

func newSearch(l *loss, most int, targets ...float64) *search {
	return &search{loss: l, targets: targets, reached: make([]int, len(targets)), most: most}
}

func (s *search) try(x []float32) float64 {
	f := s.loss.at(wide(x))
	s.count++
	for i, t := range s.targets {
		if s.reached[i] == 0 && s.loss.gap(f) <= t {
			s.reached[i] = s.count
		}
	}
	return f
}

// run runs a plan until the last target is reached, or most evaluations were made.
func (s *search) run(ctx context.Context, p *plan.Plan) error {
	o := objective.Func(int(p.Dim),
		func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
			return s.try(x), nil
		})
	_, err := fleet.Run(ctx, p, []objective.Objective{o}, fleet.Options{
		Progress: func(fleet.Round) error {
			if s.reached[len(s.reached)-1] > 0 || s.count > s.most {
				return fleet.ErrStop
			}
			return nil
		}})
	if errors.Is(err, fleet.ErrPaused) {
		return nil // it went no further
	}
	return err
}

func wide(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// A crowd is a fleet of devices with ellipsoids of their own.
type crowd struct {
	q       [][]float64
	l, o    [][]float64 // by device
	offset  []float64
	optimum []float64
	start   float64
	least   float64
	noise   float64 // of an evaluation
}

// newCrowd returns devices on ellipsoids of a condition. unlike scales how their curvatures, e^(0.7
// N), and optima, 0.5 N, differ; 0: not. Offsets are as large as the mean loss at 0, and noise is a
// share of that loss.
func newCrowd(devices, d int, power, unlike, noise float64, seed uint64) *crowd {
	r := rand.New(rand.NewPCG(40+seed, 2))
	base := newEllipsoid(r, d, power)
	c := &crowd{q: base.q, optimum: make([]float64, d)}
	weight := make([]float64, d)
	for range devices {
		l, o := make([]float64, d), make([]float64, d)
		for i := range d {
			l[i] = base.l[i] * math.Exp(0.7*unlike*r.NormFloat64())
			o[i] = base.o[i] + 0.5*unlike*r.NormFloat64()
			c.optimum[i] += l[i] * o[i]
			weight[i] += l[i]
		}
		c.l, c.o = append(c.l, l), append(c.o, o)
	}
	for i := range c.optimum {
		c.optimum[i] /= weight[i]
	}
	c.start, c.least = c.mean(make([]float64, d)), c.mean(c.optimum)
	for range devices {
		c.offset = append(c.offset, c.start*r.NormFloat64())
	}
	c.noise = noise * c.start
	return c
}

// mean returns the mean loss at a point in the coordinates of Q, without offsets and noise.
func (c *crowd) mean(y []float64) (f float64) {
	for i := range c.l {
		f += bowl(c.l[i], c.o[i], y) / float64(len(c.l))
	}
	return f
}

func (c *crowd) gap(x []float32) float64 {
	return (c.mean(turned(c.q, wide(x))) - c.least) / (c.start - c.least)
}

// run returns the gap of the model after so many evaluations of each device.
func (c *crowd) run(ctx context.Context, p *plan.Plan, queries int, seed uint64) (float64, error) {
	var devices []objective.Objective
	for i := range c.l {
		r := rand.New(rand.NewPCG(seed, uint64(i)+9))
		devices = append(devices, objective.Func(int(p.Dim),
			func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
				return bowl(c.l[i], c.o[i], turned(c.q, wide(x))) + c.offset[i] +
					c.noise*r.NormFloat64(), nil
			}))
	}
	r, err := fleet.Run(ctx, p, devices, fleet.Options{Queries: uint64(queries * len(devices))})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.Preset, err)
	}
	return c.gap(r.Params), nil
}
