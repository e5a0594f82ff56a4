package fleet_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

const steepDim = 20

// A steep has the loss |x - sample|^2/2, as a mean over a minibatch. Its gradient is scale times
// the right one.
type steep struct {
	scale, noise float64
	quartic      bool // has no slope at zeros
	rng          *rand.Rand
	batches      map[objective.Batch]bool
	asked        int
}

func (s *steep) Dim() int { return steepDim }

func (s *steep) both(x []float32, b objective.Batch, g []float64) (loss float64) {
	if s.batches != nil {
		s.batches[b] = true
	}
	s.asked++
	draw := rand.New(rand.NewPCG(b.Seed, 1))
	for range 4 {
		for i, v := range x {
			d := float64(v) - 2 - draw.NormFloat64()
			if s.quartic {
				d = float64(v) * float64(v) / 2
				g[i] += s.scale * d * float64(v) / 4
			} else {
				g[i] += s.scale * d / 4
			}
			loss += d * d / 8
		}
	}
	return loss + s.noise*s.rng.NormFloat64()
}

func (s *steep) Loss(_ context.Context, x []float32, b objective.Batch) (float64, error) {
	return s.both(x, b, make([]float64, len(x))), nil
}

// graded, sloped and streamed offer the gradient of a steep through three interfaces.
type (
	graded   struct{ *steep }
	sloped   struct{ *steep }
	streamed struct{ *steep }
)

func (s graded) Gradient(_ context.Context, x []float32, b objective.Batch, g []float32) (float64,
	error) {
	wide := make([]float64, len(x))
	loss := s.both(x, b, wide)
	for i, v := range wide {
		g[i] = float32(v)
	}
	return loss, nil
}

func (s sloped) Slope(_ context.Context, x, z []float32, b objective.Batch) (loss, slope float64,
	err error) {
	g := make([]float64, len(x))
	loss = s.both(x, b, g)
	for i, v := range g {
		slope += v * float64(z[i])
	}
	return loss, slope, nil
}

func (s streamed) SlopeAt(ctx context.Context, x, z *objective.Point, b objective.Batch) (loss,
	slope float64, err error) {
	at, to := make([]float32, steepDim), make([]float32, steepDim)
	if err := errors.Join(x.Read(at, 0), z.Read(to, 0)); err != nil {
		return 0, 0, err
	}
	return sloped(s).Slope(ctx, at, to, b)
}

func steepPlan(t *testing.T) *plan.Plan {
	t.Helper()
	p, err := preset.New("decomfl", "steep", steepDim)
	if err != nil {
		t.Fatal(err)
	}
	p.Rounds, p.Batch, p.Members, p.Target, p.Quorum = 2, 4, 2, 2, 1
	return p
}

// TestCheckGradient: CheckGradient detects a wrong scale or sign of a gradient in each interface.
// It accepts a right gradient, and any gradient of a loss that is mere noise.
func TestCheckGradient(t *testing.T) {
	for _, quartic := range []bool{false, true} {
		for _, scale := range []float64{1, 2, 0.5, -1, 100} {
			for kind, of := range map[string]func(*steep) objective.Objective{
				"gradient": func(s *steep) objective.Objective { return graded{s} },
				"slope":    func(s *steep) objective.Objective { return sloped{s} },
				"stream":   func(s *steep) objective.Objective { return streamed{s} },
			} {
				s := &steep{scale: scale, quartic: quartic, rng: rand.New(rand.NewPCG(1, 2)),
					batches: map[objective.Batch]bool{}}
				black := objective.Func(steepDim, s.Loss)
				err := fleet.CheckGradient(t.Context(), steepPlan(t),
					[]objective.Objective{black, of(s)}, fleet.Options{})
				if wrong := scale != 1; errors.Is(err, fleet.ErrGradient) != wrong || err != nil && !wrong ||
					wrong && !strings.Contains(err.Error(), "device d1: where its gradient says that") {
					t.Errorf("%s of scale %v, quartic %v: %v", kind, scale, quartic, err)
				}
				if len(s.batches) != 1 {
					t.Errorf("%s: %d minibatches, want one", kind, len(s.batches))
				}
			}
		}
	}
}

// TestCheckGradientOfNoise: if the noise of a loss hides its slope, CheckGradient returns nil,
// whatever the random numbers are.
func TestCheckGradientOfNoise(t *testing.T) {
	seeds := uint64(2000)
	if testing.Short() {
		seeds = 50
	}
	for seed := range seeds {
		for _, noise := range []float64{1e-4, 0.01, 0.1, 1, 100} {
			s := &steep{scale: 1, noise: noise, rng: rand.New(rand.NewPCG(seed, 3))}
			if err := fleet.CheckGradient(t.Context(), steepPlan(t),
				[]objective.Objective{graded{s}}, fleet.Options{}); err != nil {
				t.Fatalf("noise %v, seed %d: %v", noise, seed, err)
			}
		}
	}
}

// TestCheckGradientAsksNothing: CheckGradient evaluates nothing if the plan does not allow it to,
// or if the run uses no gradients. It returns nil if a device fails.
func TestCheckGradientAsksNothing(t *testing.T) {
	s := &steep{scale: -1, rng: rand.New(rand.NewPCG(1, 2))}
	list := []objective.Objective{graded{s}}
	boxed, surrogate := steepPlan(t), steepPlan(t)
	boxed.Boxes = []plan.Box{{Low: -1, High: 1}}
	surrogate.Estimator = plan.Surrogate
	for _, p := range []*plan.Plan{boxed, surrogate} {
		if err := fleet.CheckGradient(t.Context(), p, list, fleet.Options{}); err != nil || s.asked > 0 {
			t.Errorf("%v, asked %d times", err, s.asked)
		}
	}
	list[0] = failing{graded{s}}
	if err := fleet.CheckGradient(t.Context(), steepPlan(t), list, fleet.Options{}); err != nil {
		t.Errorf("a loss that panics: %v", err)
	}
}

type failing struct{ graded }

func (failing) Loss(context.Context, []float32, objective.Batch) (float64, error) {
	panic("no engine")
}

// TestRunTellsOfGradient: a run with a wrong gradient goes to its end, and its result has the
// error. With Checked it has none.
func TestRunTellsOfGradient(t *testing.T) {
	for _, o := range []fleet.Options{{}, {Checked: true}} {
		s := &steep{scale: 2, rng: rand.New(rand.NewPCG(1, 2))}
		r, err := fleet.Run(t.Context(), steepPlan(t), []objective.Objective{graded{s}}, o)
		if err != nil || errors.Is(r.Gradient, fleet.ErrGradient) == o.Checked ||
			math.IsNaN(float64(r.Params[0])) {
			t.Errorf("%+v: %v, %v", o, err, r.Gradient)
		}
	}
}
