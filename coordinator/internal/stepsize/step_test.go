package stepsize_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/stepsize"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// along returns the answer of a device whose loss at x - a w is f(a).
func along(f func(a float64) float64) []float32 {
	values := []float32{float32(f(0))}
	for _, a := range survey.Lengths() {
		values = append(values, float32(f(float64(a))-f(0)))
	}
	return values
}

// foundStep returns the step that a survey of some devices finds.
func foundStep(t *testing.T, values ...[]float32) float32 {
	t.Helper()
	found, change, ok := stepsize.Decide(&plan.Plan{}, 5, survey.Step, values)
	if ok != (found.Value > 0) || found.Why == "" || found.Kind != "step" ||
		int(found.Answers) != len(values) || len(found.Rows) != len(survey.Lengths()) {
		t.Errorf("found %+v, %v", found, ok)
	}
	if !slices.Equal(change.Fields, []uint64{18}) || change.Values.StepSize != found.Value {
		t.Errorf("change %v to %v, want step = %v", change.Fields, change.Values.StepSize,
			found.Value)
	}
	return found.Value
}

// reference computes the step by the definition, for devices that are few or alike, from their
// mean.
func reference(values [][]float32) float64 {
	f, variance, n := make([]float64, 17), 0.0, float64(len(values))
	for _, v := range values {
		mean := float64(v[1]+v[2]+v[3]+v[4]) / 5
		variance += mean * mean / 4 / n
		for j := 1; j < 17; j++ {
			if f[j] += float64(v[j]) / n; j < 5 {
				variance += (float64(v[j]) - mean) * (float64(v[j]) - mean) / 4 / n
			}
		}
	}
	best, most := 0, 2*math.Sqrt(variance/n)
	for j := 1; j < 17; j++ {
		if f[j] <= min(0, slices.Min(f[1:]))+most {
			best = j
		}
	}
	length := math.Pow(4, float64(best-11))
	if best < 2 || best == 16 || !(min(f[best-1], f[best+1]) > f[best]+most) {
		return length
	}
	// The derivative of Lagrange's parabola through (1/4, p), (1, q) and (4, r) is zero there.
	p, q, r := f[best-1]/(0.75*3.75), -f[best]/(0.75*3), f[best+1]/(3.75*3)
	least := (p*5 + q*4.25 + r*1.25) / (2 * (p + q + r))
	if f[best-1] <= 0.8*f[best] {
		least = min(least, 1.25)
	}
	return length * least / 1.25
}

// alike reports whether two steps agree in the three digits to which a survey rounds.
func alike(got float32, want float64) bool { return math.Abs(float64(got)/want-1) < 0.006 }

func TestStepOfParabolas(t *testing.T) {
	for _, test := range []struct {
		at, noise float64 // of the minimum, of the loss
		want      float32
	}{{1, 0, 0.8}, {3, 0, 2.4}, {200, 0, 160}, {1e-3, 0, 0.0008}, {1e9, 0, 1024},
		{2.4, 0.1, 1.92}, {0.7, 0.1, 0.56}} {
		rng := rand.New(rand.NewPCG(1, 2))
		var values [][]float32
		for range 8 {
			values = append(values, along(func(a float64) float64 {
				return 5 + (a-test.at)*(a-test.at)*(1+0.1*rng.Float64()*test.noise)
			}))
		}
		want := float64(test.want)
		if got := foundStep(t, values...); !alike(got, want) || !alike(float32(want), reference(values)) {
			t.Errorf("minimum at %v: step %v, want %v, the reference %v", test.at, got, want,
				reference(values))
		}
	}
}

// TestStepNotFound: where losses change nothing up to a length and rise beyond, they tell nothing
// of the step. The record says so, and leaves the plan as it is. Devices look again when the run
// has twice as many rounds, or at once when a person asks.
func TestStepNotFound(t *testing.T) {
	for name, f := range map[string]func(a float64) float64{
		"level":         func(float64) float64 { return 5 },
		"a minimum":     func(a float64) float64 { return 5 + (a-1e-9)*(a-1e-9) },
		"whole numbers": func(a float64) float64 { return math.Floor(200 + 3e4*a) },
	} {
		for _, devices := range []int{1, 2, 8} {
			p := &plan.Plan{ProbeFields: plan.ProbeFields{Mu: 0.25}}
			found, change, ok := stepsize.Decide(p, 20, survey.Step,
				slices.Repeat([][]float32{along(f)}, devices))
			if !ok || found.Value != 0 || !strings.HasSuffix(found.Why, "look again after round 40") ||
				!slices.Equal(change.Fields, []uint64{12, 18}) || change.Values.Mu != 0.25 ||
				change.Values.StepSize != 0 {
				t.Errorf("%s, %d devices: %+v, %v, %v", name, devices, found, change.Fields, ok)
			}
		}
	}
	p := plan.Plan{LocalFields: plan.LocalFields{StepAuto: 1}}
	for _, test := range []struct {
		rounds uint64
		search runlog.Search
		want   survey.Kind
	}{
		{5, runlog.Search{Idle: true}, survey.Step}, {5, runlog.Search{Failed: true}, survey.None},
		{6, runlog.Search{Idle: true}, survey.None}, {9, runlog.Search{Idle: true}, survey.None},
		{10, runlog.Search{Idle: true}, survey.Step}, {15, runlog.Search{Idle: true}, survey.None},
		{20, runlog.Search{Idle: true}, survey.Step}, {21, runlog.Search{}, survey.Step},
		{160, runlog.Search{Idle: true}, survey.Step},
		{160, runlog.Search{Failed: true}, survey.None},
	} {
		if got := stepsize.Due(&p, test.rounds, test.search); got != test.want {
			t.Errorf("%d rounds, %+v: %v is due, want %v", test.rounds, test.search, got, test.want)
		}
	}
}

// With one device, the step is the longest step within the noise of the loss. If the noise is
// small, the parabola through three losses gives the step.
func TestStepOfNoise(t *testing.T) {
	refined := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 5))
		values := along(func(a float64) float64 { return 5 - a + a*a })
		for i := range values[1:] {
			values[1+i] += float32([]float64{0.05, 0.005}[seed%2] * rng.NormFloat64())
		}
		got, want := foundStep(t, values), reference([][]float32{values})
		if !alike(got, want) {
			t.Errorf("seed %d: step %v, want %v", seed, got, want)
		}
		if !slices.Contains(survey.Lengths(), got) {
			refined++
		}
	}
	if refined < 100 || refined > 190 {
		t.Errorf("%d of 200 steps are refined, want most of them, not all", refined)
	}
}

// A loss that becomes level before it rises again shows little of where its least is: the step gets
// no longer than the length with the least loss.
func TestStepOfRest(t *testing.T) {
	for _, test := range []struct {
		before float64 // the loss at a quarter of the length
		want   float32
	}{{-0.9, 64}, {-0.7, 126}} {
		values := along(func(a float64) float64 {
			switch a {
			case 16:
				return test.before
			case 64:
				return -1
			case 256, 1024:
				return -0.98
			}
			return test.before * min(a/16, 1)
		})
		if got := foundStep(t, values); got != test.want {
			t.Errorf("%v before the least: step %v, want %v", test.before, got, test.want)
		}
	}
}

// A fifth of the devices move the step by no more than one length, whatever they send.
func TestStepDespiteLiars(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := []int{4, 8, 16}[rng.IntN(3)]
		var values [][]float32
		for range n {
			best := 0.5 + rng.Float64()
			values = append(values, along(func(a float64) float64 {
				return 3 + (a-best)*(a-best)
			}))
		}
		honest := foundStep(t, values...)
		for range n / 4 {
			lie := make([]float32, survey.Step.Values())
			for i := range lie {
				lie[i] = []float32{0, inf, -inf, nan, math.MaxFloat32, -1e30, -1}[rng.IntN(7)]
			}
			values = append(values, lie)
		}
		if got := foundStep(t, values...); got > 4*honest || got < honest/4 {
			t.Errorf("seed %d: step %v among liars, %v without", seed, got, honest)
		}
	}
}

// One of two devices can make the step shorter than the other device's step, but not longer.
func TestStepOfTwo(t *testing.T) {
	lie := make([]float32, survey.Step.Values())
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 4))
		best := math.Pow(4, 6*rng.Float64()-4)
		honest := along(func(a float64) float64 {
			return 3 + (a-best)*(a-best) + 0.01*best*best*rng.NormFloat64()
		})
		alone := foundStep(t, honest)
		for i := range lie {
			lie[i] = []float32{0, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
				math.MaxFloat32, -math.MaxFloat32, -1e30, -1}[rng.IntN(8)]
		}
		if got := foundStep(t, honest, lie); got > alone {
			t.Errorf("seed %d: step %v with a liar, %v without", seed, got, alone)
		}
		if got := foundStep(t, honest, honest); got > alone || got < alone/4 {
			t.Errorf("seed %d: step %v of two that are alike, %v of one", seed, got, alone)
		}
	}
}

// If devices do not agree that the loss falls along the first move, as near an optimum, the least
// loss is by chance at a step of any length. The step is as long as the doubt in the loss allows.
func TestStepNearOptimum(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var values [][]float32
		for d := range 8 {
			slope := []float64{-0.1, 0.11}[d%2] * (1 + 0.1*rng.Float64()) // on the whole uphill
			values = append(values, along(func(a float64) float64 { return 5 + slope*a + a*a }))
		}
		if got := foundStep(t, values...); got != 1./64 && got != 1./16 {
			t.Errorf("seed %d: step %v, want 1/64 or 1/16", seed, got)
		}
	}
}

// The loss of a minibatch may rise along a move that other minibatches determined. The step is then
// as long as for a loss that falls, and not so short that the model never moves.
func TestStepUphill(t *testing.T) {
	for _, test := range []struct {
		slope, curve float64
		want         float32
	}{{1.1, 1, 1}, {0.5, 1, 0.25}, {1e-2, 1, 1. / 256}, {100, 1, 64}, {1e3, 2e5, 1. / 256},
		{1, 0, 1. / 65536}} { // what never bends says nothing
		for _, devices := range []int{1, 2, 3, 8} {
			one := along(func(a float64) float64 { return 5 + test.slope*a + test.curve/2*a*a })
			if got := foundStep(t, slices.Repeat([][]float32{one}, devices)...); got != test.want {
				t.Errorf("slope %v, curvature %v, %d devices: step %v, want %v", test.slope, test.curve,
					devices, got, test.want)
			}
		}
	}
}

// Of three devices the middle one may have a loss that falls very little, but that does not make
// the step short: the step is as long as the doubt from the nearer of the other two devices.
func TestStepOfThree(t *testing.T) {
	var values [][]float32
	for _, slope := range []float64{-0.3, -1e-4, 0.1} {
		values = append(values, along(func(a float64) float64 { return 5 + slope*a + a*a/2 }))
	}
	if got := foundStep(t, values...); got != 1./16 {
		t.Errorf("step %v, want 1/16", got)
	}
}

func TestDueStep(t *testing.T) {
	for _, test := range []struct {
		auto   uint8
		step   float32
		rounds uint64
		want   survey.Kind
	}{{0, 1, 9, survey.None}, {1, 0, 4, survey.None}, {1, 0, 5, survey.Step}, {1, 0, 70, survey.Step},
		{1, 0.5, 5, survey.None}} {
		p := plan.Plan{LocalFields: plan.LocalFields{StepAuto: test.auto, StepSize: test.step}}
		if got := stepsize.Due(&p, test.rounds, runlog.Search{}); got != test.want {
			t.Errorf("%+v: %v is due", test, got)
		}
	}
	p := plan.Plan{ProbeFields: plan.ProbeFields{MuAuto: 1},
		LocalFields: plan.LocalFields{StepAuto: 1}}
	if got := stepsize.Due(&p, 9, runlog.Search{}); got != survey.Mu {
		t.Errorf("of both %v is due first, want mu", got)
	}
}
