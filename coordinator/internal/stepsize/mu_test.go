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

// answer returns the answer of a device whose loss at x + t z is f(t).
func answer(f func(t float64) float64) []float32 {
	values := []float32{float32(f(0))}
	for _, mu := range survey.Distances() {
		values = append(values, float32((f(float64(mu))-f(-float64(mu)))/2))
	}
	for _, mu := range survey.Distances() {
		values = append(values, float32((f(float64(mu))+f(-float64(mu)))/2-f(0)))
	}
	return values
}

// parabola is the loss with a slope and a curvature along a device's direction.
func parabola(slope, curve float64) func(float64) float64 {
	return func(t float64) float64 { return 3 + slope*t + curve/2*t*t }
}

// chosen returns mu as the survey of some devices finds it.
func chosen(t *testing.T, values ...[]float32) float32 {
	t.Helper()
	found, change, ok := stepsize.Decide(&plan.Plan{}, 0, survey.Mu, values)
	if ok != (found.Value > 0) || found.Why == "" || int(found.Answers) != len(values) ||
		len(found.Rows) != len(survey.Distances()) {
		t.Errorf("found %+v, %v", found, ok)
	}
	if !slices.Equal(change.Fields, []uint64{12}) || change.Values.Mu != found.Value {
		t.Errorf("change %v of %v, want mu = %v", change.Fields, change.Values.Mu, found.Value)
	}
	return found.Value
}

// With slope s and curvature h, B/A = h mu/(2 s): so the test knows the largest mu with B/A at most
// 0.02 or, if there is none, at most 0.2.
func TestMuOfParabolas(t *testing.T) {
	for _, test := range []struct {
		slope, curve float64
		want         float32
	}{
		{1, 1, 0.01}, {1, 0.039, 1}, {1, 0.041, 0.1}, {100, 1, 1}, {1, 3e3, 1e-5}, {-2, 0.001, 10},
		{1, 0, 100}, {1, 3e4, 1e-6}, {1, 3e5, 1e-6}, {1e-3, 1e5, 1e-6}, // none is straight: the least
	} {
		one := answer(parabola(test.slope, test.curve))
		if got := chosen(t, one); got != test.want {
			t.Errorf("slope %v, curvature %v: mu %v, want %v", test.slope, test.curve, got, test.want)
		}
		if got := chosen(t, one, one, one, one); got != test.want {
			t.Errorf("slope %v, curvature %v, four devices: mu %v, want %v", test.slope, test.curve,
				got, test.want)
		}
	}
}

// A loss rounded to 11 bits does not change at small distances, and is noise at slightly larger
// ones.
func TestMuOfRoundedLosses(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var values [][]float32
	for range 8 {
		f := parabola(rng.NormFloat64(), 0.01*rng.Float64())
		values = append(values, answer(func(t float64) float64 {
			return math.Round(f(t)*512) / 512
		}))
	}
	if got := chosen(t, values...); got != 1 {
		t.Errorf("mu %v, want 1", got)
	}
}

// For a loss of few digits, B/A is above 0.02 at every distance. So mu is the largest distance with
// B/A at most 0.2.
func TestMuOfCoarseLosses(t *testing.T) {
	// The even part has 1/32 from rounding, and a part from curvature: B/A is 0.049 at 1, and 0.18 at
	// 10.
	one := answer(func(t float64) float64 {
		return 3 + t + 0.018*t*t + math.Copysign(1.0/64, math.Abs(t)-1e-9)
	})
	if got := chosen(t, one, one, one); got != 10 {
		t.Errorf("mu %v, want 10", got)
	}
}

// A loss with int8 weights jumps where a sum is rounded to the next value. A jump that goes up as
// often as down is no slope, even if B/A is at most 0.02 nowhere else.
func TestMuOfJumps(t *testing.T) {
	one := answer(func(t float64) float64 {
		loss := 3 + t + 10*t*t
		if t != 0 {
			loss += math.Copysign(2e-3, t) // a jump at the model itself
		}
		if math.Abs(t) > 5e-6 {
			loss += 5e-4 // rounding
		}
		return loss
	})
	if got := chosen(t, one, one, one); got != 0.01 {
		t.Errorf("mu %v, want 0.01", got)
	}
}

// An error rate stops changing where the perturbation is larger than the parameters. mu is the
// distance where it stops. If the error rate never changes, as at parameters of zero, mu is the
// largest distance.
func TestMuWhereALossRests(t *testing.T) {
	share := func(end float64) []float32 {
		return answer(func(t float64) float64 {
			to := math.Min(math.Abs(t)/end, 1) // the even part is of few samples, so it is noise
			return 0.9 + 0.05*math.Copysign(to, t) - 0.08*math.Sqrt(to)
		})
	}
	for _, test := range []struct {
		end  float64
		want float32
	}{{1, 1}, {0.01, 0.01}, {10, 10}, {100, 100}, {1e-9, 100}} {
		one := share(test.end)
		if got := chosen(t, one, one, one); got != test.want {
			t.Errorf("a loss that rests from %v on: mu %v, want %v", test.end, got, test.want)
		}
	}
	for name, powers := range map[string][2]float64{"odd": {0.5, 0}, "even": {0, 0.5}} {
		one := answer(func(t float64) float64 { // one part goes on to grow
			to := math.Abs(t) / 0.01
			odd, even := 0.0004*to, 0.08*to
			if to > 1 {
				odd, even = 0.0004*math.Pow(to, powers[0]), 0.08*math.Pow(to, powers[1])
			}
			return 0.9 + math.Copysign(odd, t) - even
		})
		if got := chosen(t, one, one, one); got != 100 {
			t.Errorf("the %s part grows: mu %v, want 100", name, got)
		}
	}
}

// A loss that counts something is a staircase, with almost no slope on a stair. mu is a distance
// where the loss is as steep as on average, however level the stair is. A convex loss that becomes
// steep does not count as a staircase.
func TestMuOfStairs(t *testing.T) {
	for _, slope := range []float64{1e-6, 1e-4, 1e-3} {
		var values [][]float32
		for d := range 4 {
			values = append(values, answer(func(t float64) float64 {
				far := math.Min(math.Max(t, -15), 15) + 0.22*math.Min(math.Abs(t), 10) +
					0.027*math.Max(math.Abs(t)-10, 0)
				return 0.9 + slope*t + 0.003*0.05*math.Floor(far/0.05+0.2+0.2*float64(d))
			}))
		}
		if got := chosen(t, values...); got != 10 {
			t.Errorf("slope %v on a stair, 3e-3 over many: mu %v, want 10", slope, got)
		}
	}
	steep := answer(func(t float64) float64 { return math.Exp(3 * t) })
	if got := chosen(t, steep, steep, steep); got != 0.01 {
		t.Errorf("e^3t: mu %v, want 0.01", got)
	}
}

// A model of integers begins where the loss jumps, and at large distances it is another model. A
// measured loss that rises ever less, such as a loss in decibels, is similar: its error of a slope
// would be least where no slope is left. mu is no longer than the distance where the loss begins to
// bend.
func TestMuOfBentLosses(t *testing.T) {
	whole := answer(func(t float64) float64 {
		if t == 0 {
			return 40
		}
		odd, even := 0.6, 0.5 // the jump at the model itself
		switch at := math.Abs(t); {
		case at > 50:
			odd, even = 60, 255
		case at > 5:
			odd, even = 8, 32
		case at > 0.5:
			odd, even = 5.5, 5.6
		}
		return 40 + math.Copysign(odd, t) + even
	})
	if got := chosen(t, whole, whole, whole); got != 1 {
		t.Errorf("whole numbers: mu %v, want 1", got)
	}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 11))
		var values [][]float32
		for range 3 { // the loss is straight up to 1, and at 10 all differences are its even part
			slope := rng.NormFloat64()
			values = append(values, answer(func(t float64) float64 {
				return 10*math.Log10(10+slope*t+2*t*t) + 0.5*rng.NormFloat64()
			}))
		}
		if got := chosen(t, values...); got > 1 {
			t.Errorf("decibels, seed %d: mu %v, want at most 1", seed, got)
		}
	}
}

// A loss may become level before its odd part has grown like that of a straight loss. The odd part
// before that distance is a slope all the same, and where the loss becomes level there is no slope.
func TestMuBeforeALossRests(t *testing.T) {
	for _, odds := range [][]float64{{0.0025, 0.039, 0.066}, {0.006, 0.036, 0.071}} {
		one := answer(func(t float64) float64 {
			odd, even := 0.0, 0.0
			switch at := math.Abs(t); {
			case at > 0.5:
				odd, even = odds[2], 0.0121
			case at > 0.05:
				odd, even = odds[1], 0.006
			case at > 0.005:
				odd, even = odds[0], 0.003
			}
			return 0.8 + math.Copysign(odd, t) - even
		})
		if got := chosen(t, one, one, one); got != 0.1 {
			t.Errorf("odd parts %v: mu %v, want 0.1", odds, got)
		}
	}
}

// A fifth of the devices that lie move mu by no more than a factor of 10, whatever they send.
func TestMuDespiteLiars(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var values [][]float32
		for range 8 {
			values = append(values, answer(parabola(1+rng.Float64(), 1+rng.Float64())))
		}
		honest := chosen(t, values...)
		for range 2 {
			lie := make([]float32, survey.Mu.Values())
			for i := range lie {
				lie[i] = []float32{0, inf, -inf, nan, math.MaxFloat32, -1e30, 1e-30}[rng.IntN(7)]
			}
			values = append(values, lie)
		}
		if got := chosen(t, values...); got > 10*honest || got < honest/11 {
			t.Errorf("seed %d: mu %v among liars, %v without", seed, got, honest)
		}
	}
}

// If no device has a finite loss anywhere, or no loss changes, the survey finds no mu.
func TestNoMu(t *testing.T) {
	for name, f := range map[string]func(float64) float64{
		"flat":     func(float64) float64 { return 1 },
		"infinite": func(float64) float64 { return math.Inf(1) },
	} {
		values := answer(f)
		values[0] = 1
		if got := chosen(t, values, values, values); got != 0 {
			t.Errorf("%s: mu %v, want none", name, got)
		}
	}
}

func TestDueMu(t *testing.T) {
	for _, test := range []struct {
		auto uint8
		mu   float32
		want survey.Kind
	}{{0, 1e-3, survey.None}, {1, 0, survey.Mu}, {1, 1e-3, survey.None}} {
		p := plan.Plan{ProbeFields: plan.ProbeFields{MuAuto: test.auto, Mu: test.mu}}
		if got := stepsize.Due(&p, 7, runlog.Search{}); got != test.want {
			t.Errorf("mu_auto %d, mu %v: %v is due, want %v", test.auto, test.mu, got, test.want)
		}
	}
}

// Noise of the loss itself, from sensors or from a random simulation, is as large at short
// distances as at long distances. By chance its even part may be small at one short distance, and
// differences of that mu would be noise of any size. The first loss here is about as steep as noisy
// at 1, straight at 10, and bends at 100. The other losses are nowhere steeper than noisy or bent:
// their error is least at 0.1.
func TestMuOfNoise(t *testing.T) {
	for _, test := range []struct {
		slope, curve float64
		from, to     float32
	}{{0.02, 0.0002, 1, 100}, {0.3, 6, 0.01, 0.1}, {0.02, 6, 0.01, 0.1}} {
		for _, devices := range []int{2, 3, 5, 10} {
			for seed := range uint64(300) {
				rng := rand.New(rand.NewPCG(seed, uint64(devices)))
				var values [][]float32
				for range devices {
					f := parabola(test.slope*(1+rng.Float64()), test.curve)
					values = append(values, answer(func(t float64) float64 {
						return f(t) + 0.02*rng.NormFloat64()
					}))
				}
				if got := chosen(t, values...); got < test.from || got > test.to {
					t.Errorf("%+v, %d devices, seed %d: mu %v", test, devices, seed, got)
				}
			}
		}
	}
}

// A loss that is the share of wrong answers does not change with the length of x, and x begins at
// 0. So all distances give the same loss, and the longest distances have the least noise.
func TestMuOfShares(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var values [][]float32
		for range 6 {
			plus, minus := rng.Float64(), rng.Float64()
			values = append(values, answer(func(t float64) float64 {
				switch {
				case t > 0:
					return plus
				case t < 0:
					return minus
				}
				return 0.75
			}))
		}
		if got := chosen(t, values...); got < 10 {
			t.Errorf("seed %d: mu %v, want 10 or 100", seed, got)
		}
	}
}

// If half-precision numbers hold slopes badly, the survey before the first round sets a loss unit,
// for a plan whose moves do not depend on the unit.
func TestUnitOfLosses(t *testing.T) {
	normalized := plan.Plan{ServerFields: plan.ServerFields{ServerRule: plan.ServerNormalized}}
	for _, test := range []struct {
		plan   plan.Plan
		rounds uint64
		slope  float64
		want   float32
	}{
		{normalized, 0, 1, 0}, {normalized, 0, 250, 0}, {normalized, 0, 1. / 250, 0},
		{normalized, 0, 3e12, 1 << 42}, {normalized, 0, -3e12, 1 << 42},
		{normalized, 0, 1e-9, 1. / (1 << 29)},
		{normalized, 1, 3e12, 0}, // m and V have slopes in the unit of before
		{plan.Plan{
			ServerFields: plan.ServerFields{ServerRule: plan.ServerNormalized, LossUnit: 4},
		}, 0, 3e12, 0},
		{plan.Plan{ServerFields: plan.ServerFields{ServerRule: plan.ServerAdam}}, 0, 3e12, 0},
	} {
		one := answer(parabola(test.slope, test.slope/1000))
		found, change, ok := stepsize.Decide(&test.plan, test.rounds, survey.Mu, [][]float32{one, one})
		fields := []uint64{12}
		if test.want > 0 {
			fields = []uint64{12, 114}
		}
		if !ok || found.Value != 10 || change.Values.LossUnit != test.want ||
			!slices.Equal(change.Fields, fields) {
			t.Errorf("%+v: unit %v, fields %v, %+v", test, change.Values.LossUnit, change.Fields, found)
		}
	}
}

// TestNoUnitOfALevelDirection: if the loss along the direction is level by chance, there is no
// slope from which to compute a unit.
func TestNoUnitOfALevelDirection(t *testing.T) {
	plan := plan.Plan{ServerFields: plan.ServerFields{ServerRule: plan.ServerNormalized}}
	level := [][]float32{answer(parabola(1e-10, 2))}
	found, change, ok := stepsize.Decide(&plan, 0, survey.Mu, level)
	if !ok || change.Values.LossUnit != 0 || !slices.Equal(change.Fields, []uint64{12}) {
		t.Errorf("unit %v, fields %v, %+v", change.Values.LossUnit, change.Fields, found)
	}
}

// At a saddle of a product the loss is the same on both sides of the start at every distance. No mu
// helps there, and the error text names the remedy.
func TestNoMuOfASaddle(t *testing.T) {
	even := make([]float32, survey.Mu.Values())
	for i, at := range survey.Distances() {
		even[1+len(survey.Distances())+i] = at * at
	}
	found, _, ok := stepsize.Decide(&plan.Plan{}, 0, survey.Mu, [][]float32{even, even, even})
	if ok || !strings.Contains(found.Why, "begin at random parameters") {
		t.Errorf("found %v, %q", found.Value, found.Why)
	}
}
