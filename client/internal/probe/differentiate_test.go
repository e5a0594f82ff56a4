package probe

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire/survey"
)

// value64 returns the same as value, for a vector of float64s.
func (s *slopes) value64(x []float64) float64 {
	f := 0.0
	for i, v := range x {
		f += s.curve[i] / 2 * (v - s.center[i]) * (v - s.center[i])
	}
	return f
}

// tiny is so small that a difference quotient of a slopes objective is its derivative up to 1e-6.
const tiny = 1e-6

// quotient returns the plan's difference quotient of f at x for a tiny mu, in float64, from
// its definition.
func quotient(p *plan.Plan, f *slopes, x []float32, n uint64, k, q int, source uint32) float64 {
	ref := newReference(p, f)
	z, norm := make([]float32, len(x)), 1.0
	a := prng.Direction{
		Key: prng.RecordKey(p.RunKey, n), Step: uint16(k), Perturbation: uint16(q),
		Source: source, Domain: prng.Directions, Dist: p.Distribution.Elements(),
	}
	prng.Fill(z, a, 0)
	switch p.Distribution {
	case plan.LowRank:
		z = lowRank(p, a)
	case plan.Sphere:
		norm = math.Sqrt(prng.SquaredNorm(a, uint64(len(x))))
	}
	at := func(mu float64) float64 {
		probe := make([]float64, len(x))
		for i, v := range x {
			moved := float64(v) + mu*ref.muScale[i]*ref.side[i]*float64(z[i])/norm
			probe[i] = min(max(moved, ref.low[i]), ref.high[i])
		}
		return f.value64(probe)
	}
	if p.Difference == plan.Central {
		return (at(tiny) - at(-tiny)) / (2 * tiny)
	}
	return (at(tiny) - at(0)) / tiny
}

// lowRank returns direction a of rank 1, from its definition.
func lowRank(p *plan.Plan, a prng.Direction) (z []float32) {
	a.Domain = 5
	signs := make([]float32, 2*p.Dim)
	prng.Fill(signs, a, 0)
	for _, s := range p.Layout() {
		if s.Rows == 0 {
			z, signs = append(z, signs[:s.Len]...), signs[s.Len:]
			continue
		}
		columns := s.Len / s.Rows
		for i := range s.Rows {
			for j := range columns {
				z = append(z, signs[i]*signs[s.Rows+j])
			}
		}
		signs = signs[s.Rows+columns:]
	}
	return z
}

// matrixOf makes segments, of which the second is a matrix, and directions of rank 1.
func matrixOf(p *plan.Plan) {
	segmentsOf(p)
	p.Segments[1].Rows, p.Distribution = 2, plan.LowRank
}

// isSlope compares a scalar with the reference.
func isSlope(t *testing.T, got float32, want float64, where string, args ...any) {
	t.Helper()
	if !(math.Abs(float64(got)-want) <= 2e-5*(1+math.Abs(want))) {
		t.Errorf("%s: got %v, want %v", fmt.Sprintf(where, args...), got, want)
	}
}

// slopePlans are plans whose rounds send scalars.
var slopePlans = map[string]func(*plan.Plan){
	"normal":     func(*plan.Plan) {},
	"forward":    func(p *plan.Plan) { p.Difference = plan.Forward },
	"rademacher": func(p *plan.Plan) { p.Distribution = plan.Rademacher },
	"sphere":     func(p *plan.Plan) { p.Distribution = plan.Sphere },
	"segments":   segmentsOf,
	"rank 1":     matrixOf,
	"segments of a sphere, forward": func(p *plan.Plan) {
		segmentsOf(p)
		p.Distribution, p.Difference = plan.Sphere, plan.Forward
	},
	"own directions": func(p *plan.Plan) { p.Sharing, p.Transport = plan.PerClient, plan.Relay },
	"local steps":    func(p *plan.Plan) { p.Steps = 3; segmentsOf(p) },
	"many":           func(p *plan.Plan) { p.Perturbations = 150 },
}

// A device that differentiates sends the limits of the differences that another device computes, in
// every local step, and asks for no losses.
func TestSlopesAreLimitsOfDifferences(t *testing.T) {
	for name, edit := range slopePlans {
		f := newSlopes(testDim, 0, 1)
		g, d, z := &graded{slopes: f}, &forward{slopes: f}, &streamed{slopes: f, piece: 5}
		for _, o := range []objective.Objective{g, d, z} {
			s := newStepper(t, o, 1, edit)
			p := s.r.Plan()
			s.a.Perturbations = p.Perturbations
			task := s.task()
			result, err := s.c.Run(t.Context(), s.r, task)
			if err != nil {
				t.Fatal(err)
			}
			at, calls := g.at, uint64(p.Steps)
			switch o {
			case d:
				at, calls = d.at, calls*uint64(p.Perturbations)
			case z:
				at, calls = z.at, calls*uint64(p.Perturbations)
			}
			for i, got := range result.Scalars {
				k, q := i/task.Perturbations, i%task.Perturbations
				x := at[k*len(at)/int(p.Steps)]
				isSlope(t, got, quotient(p, f, x, task.N, k, q, task.Source),
					"%s, %T, step %d, perturbation %d", name, o, k, q)
			}
			if want := f.value(s.r.Params()); math.Abs(result.Loss-want) > 1e-12*want {
				t.Errorf("%s, %T: loss %v, want that at the model, %v", name, o, result.Loss, want)
			}
			if s.c.Queries() != 0 || s.c.Gradients() != calls ||
				s.c.Calls(p, &task) != (Calls{Gradients: calls}) {
				t.Errorf("%s, %T: %d queries and %d gradients, announced %v, want %d gradients",
					name, o, s.c.Queries(), s.c.Gradients(), s.c.Calls(p, &task), calls)
			}
		}
	}
}

// At an end of a box, a difference includes only the elements of a direction that point into the
// box.
func TestSlopesInBoxes(t *testing.T) {
	for _, difference := range []string{"forward", "central"} {
		for distribution, edit := range map[plan.Distribution]func(*plan.Plan){
			plan.Normal: segmentsOf, plan.Sphere: segmentsOf, plan.Rademacher: segmentsOf,
			plan.LowRank: matrixOf,
		} {
			p := densePlan(t, "fedzo-dense", testDim, "steps=1", "perturbations=9", "rule=sgd",
				"difference="+difference)
			p.Distribution = distribution
			edit(p)
			p.Boxes = []plan.Box{{Low: -0.1, High: 0.25}, {Low: -0.2, High: 0.1}}
			f := newSlopes(testDim, 0, 1)
			for _, o := range slopesOf(f) {
				r := newRig(t, p, o)
				x, edges := slices.Clone(r.params()), 0
				for i, v := range x {
					if b, _ := p.BoxOf(min(i/5, 1)); v == b.Low || v == b.High {
						edges++
					}
				}
				if edges < 3 || edges == len(x) {
					t.Fatalf("%d of %d parameters at the end of a box", edges, len(x))
				}
				c := r.clients[0]
				r.round(c)
				source := uint32(prng.Shared)
				if p.Sharing == plan.PerClient {
					source = prng.Slot(0)
				}
				for q, got := range c.buffers.scalars {
					isSlope(t, got, quotient(p, f, x, 2, 0, q, source),
						"%s, %s, %T, perturbation %d", difference, distribution, o, q)
				}
			}
		}
	}
}

// The reference of this file knows no subspace, pool or control variates. In plans with a subspace,
// a pool or control variates, the test compares the scalars with those of a device without a
// gradient: a central difference of a quadratic function is its derivative.
func TestSlopesAreThoseOfBlackBoxes(t *testing.T) {
	for name, edit := range map[string]func(*plan.Plan){
		"subspace": func(p *plan.Plan) {
			p.Distribution, p.SubspaceMoves, p.SubspaceShare = plan.Subspace, 2, 0.5
		},
		"pool":       func(p *plan.Plan) { p.Pool, p.Rebase = 7, 2 },
		"scaffold-1": func(p *plan.Plan) { p.Control, p.Steps = plan.ScaffoldPoint, 2 },
		"blocks":     func(p *plan.Plan) { p.Steps = 2 },
	} {
		dim := testDim
		if name == "blocks" || name == "subspace" {
			dim = 3*prng.BlockLen + 5
		}
		f := newSlopes(dim, 0, 1)
		own := func(p *plan.Plan) { p.Mu = 1. / 16; edit(p) }
		box := newStepper(t, f, 1, own)
		for _, o := range slopesOf(f) {
			s := newStepper(t, o, 2, own)
			for round := range 4 {
				task := s.task()
				want, err := box.c.Run(t.Context(), s.r, task)
				if err != nil {
					t.Fatal(err)
				}
				result, err := s.run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for i, g := range want.Scalars {
					if !(math.Abs(float64(result.Scalars[i]-g)) <= 1e-3*(1+math.Abs(float64(g)))) {
						t.Fatalf("%s, %T, round %d, scalar %d: got %v, want %v",
							name, o, round, i, result.Scalars[i], g)
					}
				}
				if name == "scaffold-1" {
					break // the second phase needs another record
				}
				s.step(t)
			}
		}
	}
}

// With a surrogate, the device asks for losses, because a surrogate is fitted to losses.
func TestSurrogateAsksForLosses(t *testing.T) {
	f := newSlopes(5, 0, 1)
	g := &graded{slopes: f}
	r := newRig(t, densePlan(t, "fzoos", 5, "steps=2", "features=16"), g)
	r.round()
	r.round()
	c := r.clients[0]
	task := c.Task(c.replica, r.announcement(), 0, 0)
	if calls := c.Calls(r.plan, &task); calls.Gradients != 0 ||
		calls.Queries != task.Queries(r.plan) || calls != c.Usual(c.replica) {
		t.Errorf("announced %v", calls)
	}
	if c.Gradients() != 0 || f.queries == 0 || c.Queries() != uint64(f.queries) {
		t.Errorf("%d gradients, %d queries of %d, want queries alone",
			c.Gradients(), c.Queries(), f.queries)
	}
}

// A survey asks for losses, also on a device with gradients.
func TestSurveyOfGradients(t *testing.T) {
	g := &graded{slopes: newSlopes(testDim, 0, 1)}
	s := newStepper(t, g, 1, func(p *plan.Plan) { p.MuAuto, p.Mu = 1, 0 })
	result, err := s.c.Survey(t.Context(), s.r, survey.Mu, s.r.N()+1, 0)
	want := survey.Mu.Queries(s.r.Plan())
	if err != nil || s.c.Queries() != want || s.c.Gradients() != 0 {
		t.Errorf("%v: %d queries and %d gradients, want %d queries", err, s.c.Queries(),
			s.c.Gradients(), want)
	}
	if at := g.value(s.r.Params()); result.Loss != at {
		t.Errorf("loss %v, want %v", result.Loss, at)
	}
}
