package stepsize_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/stepsize"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

func lawPlan(best float32) *plan.Plan {
	return &plan.Plan{
		Dim:         100,
		LocalFields: plan.LocalFields{StepAuto: 1, StepSize: best},
		StopFields:  plan.StopFields{Rounds: 1_000_000},
	}
}

// In the last third of the rounds steps also fall linearly, and G stays.
func TestLawEnds(t *testing.T) {
	for _, rounds := range []uint64{0, 40, 41} {
		p := lawPlan(1)
		p.Rounds = rounds
		var law stepsize.Law
		past := stepsize.Past{}
		for n := range uint64(40) {
			want := 0.2 / math.Sqrt(1+float64(n)/30)
			if rounds > 0 {
				want *= math.Min(1, 3*float64(rounds-n)/float64(rounds))
			}
			got := law.Next(p, past, n+1, nil, nil, nil)
			if math.Abs(float64(got)-want) > 1e-6*want {
				t.Fatalf("%d rounds, n = %d: step %v, want %v", rounds, n, got, want)
			}
			past = stepsize.Past{Step: got, Round: n + 1}
		}
	}
	p := lawPlan(1)
	p.Rounds = 3 // another coordinator may have made more
	var law stepsize.Law
	if got := law.Next(p, stepsize.Past{Step: 0.1, Round: 9}, 10, nil, nil, nil); !(got > 0) {
		t.Errorf("step %v beyond the last round", got)
	}
}

// TestLawBesideDecay: no step is so long that the decay takes more than a tenth of the model, from
// the first round on.
func TestLawBesideDecay(t *testing.T) {
	p := lawPlan(60)
	for _, decay := range []float32{0, 0.001, 0.5, 1e6} {
		p.ServerDecay = decay
		var law stepsize.Law
		past := stepsize.Past{}
		for n := range uint64(20) {
			want := 12 / math.Sqrt(1+float64(n)/30)
			if decay > 0 {
				want = min(want, 0.1/float64(decay))
			}
			got := law.Next(p, past, n+1, nil, nil, nil)
			if math.Abs(float64(got)-want) > 1e-5*want {
				t.Fatalf("decay %v, n = %d: step %v, want %v", decay, n, got, want)
			}
			past = stepsize.Past{Step: 12 / float32(math.Sqrt(1+float64(n)/30)), Round: n + 1}
		}
	}
}

// TestLaw compares steps with the equations, which the test computes from vectors g and m instead
// of slopes. The slope along m is negative for 60 rounds, in 40 of which the loss falls, and then
// positive.
func TestLaw(t *testing.T) {
	const d, devices, p, best = 100, 4, 5, 2
	for _, own := range []bool{true, false} {
		rng := rand.New(rand.NewPCG(7, 8))
		vector := func() []float64 {
			v := make([]float64, d)
			for i := range v {
				v[i] = rng.NormFloat64()
			}
			return v
		}
		var law stepsize.Law
		past := stepsize.Past{}
		e, f, gain := 0.0, 0.0, 1.0
		quick, slow := 100.0, 100.0
		longer, shorter := 0.0, 0.0 // the largest s, and the least
		for n := range uint64(120) {
			tilt := 1. / 30
			if n >= 60 {
				tilt = -tilt
			}
			m, g, square, count := vector(), make([]float64, d), 0.0, 0
			mean := make([]float32, p)
			var terms []wire.Term
			var slopes []float64
			shared := make([][]float64, p)
			for i := range shared {
				shared[i] = vector()
			}
			for device := range devices {
				scalars, slope := make([]float32, p), 0.0
				for i := range scalars {
					z := shared[i]
					if own {
						z = vector()
					}
					scalars[i] = float32(rng.NormFloat64() + tilt*dot(z, m))
					mean[i] += scalars[i] / devices
					for j := range z {
						g[j] += float64(scalars[i]) * z[j] / (devices * p)
					}
					slope += float64(scalars[i]) * dot(z, m) / norm(m) / p
				}
				// All devices have the same slope, so that the trimmed mean is the mean.
				slopes = append(slopes, slope)
				if own {
					terms = append(terms, wire.Term{Source: uint32(device + 1),
						Scalars: wire.AppendScalars(nil, scalars...)})
					square, count = square+squares(scalars), count+p
				}
			}
			if !own {
				terms = []wire.Term{{Scalars: wire.AppendScalars(nil, mean...)}}
				square, count = squares(mean), p
			}
			loss := 100 - float64(min(n, 40))
			quick, slow = 0.8*quick+0.2*loss, 0.95*slow+0.05*loss
			along := dot(g, m) / norm(m)
			for i := range slopes {
				slopes[i] = along
			}
			if n >= 6 {
				b := 1 + d/(19*float64(count))
				h := max(-1, min(1, along/math.Sqrt(square/float64(count))*math.Sqrt(b)))
				e, f = 0.8*e+0.2*h, 0.95*f+0.05*h
				k := 0.0
				if e*f > 0 {
					k = math.Copysign(min(math.Abs(e), math.Abs(f)), e)
				}
				c, s := max(e-0.05, 0)+min(e, 0), min(k+0.2, 0)
				if slow-quick > (100-quick)/100 {
					s = max(k-0.2, s)
				}
				longer, shorter = max(longer, s), min(shorter, s)
				gain = max(1./64, min(64, gain*math.Exp(0.05*c+0.4*s/(b*b*b*b))))
			}
			want := 0.2 * best * gain / math.Sqrt(1+float64(n)/30)
			got := law.Next(lawPlan(best), past, n+1, terms, []float32{float32(loss)}, slopes)
			if math.Abs(float64(got)-want) > 1e-5*want {
				t.Fatalf("own %v, n = %d: step %v, want %v", own, n, got, want)
			}
			past = stepsize.Past{Step: got, Round: n + 1}
		}
		if longer < 0.1 || shorter > -0.1 {
			t.Errorf("own %v: s from %v to %v, too small to tell", own, shorter, longer)
		}
	}
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func norm(v []float64) float64 { return math.Sqrt(dot(v, v)) }

func squares(v []float32) (sum float64) {
	for _, e := range v {
		sum += float64(e) * float64(e)
	}
	return sum
}

// oneTerm is a record's term of two scalars of 1.
var oneTerm = []wire.Term{{Scalars: wire.AppendScalars(nil, 1, 1)}}

// If a round multiplies its step by a factor, later steps keep that factor, within the bounds of G.
func TestLawTakesAFactor(t *testing.T) {
	p := lawPlan(1)
	for factor, want := range map[float64]float64{0: 1, 1: 1, 0.5: 0.25, 3: 9, 1e-9: 1.0 / 64} {
		var law, usual stepsize.Law
		var past, other stepsize.Past
		for n := range uint64(10) {
			past.Factor = 0
			if n == 7 || n == 8 {
				past.Factor = factor
			}
			past = stepsize.Past{Step: law.Next(p, past, n+1, oneTerm, nil, []float64{0}), Round: n + 1}
			other = stepsize.Past{Step: usual.Next(p, other, n+1, oneTerm, nil, []float64{0}), Round: n + 1}
		}
		if got := float64(past.Step / other.Step); math.Abs(got-want) > 1e-5*want {
			t.Errorf("factor %v twice: %v times the step, want %v", factor, got, want)
		}
	}
}

// The step is 0 until devices have found a*, and then begins with a fifth of a*.
func TestLawBegins(t *testing.T) {
	var law stepsize.Law
	if got := law.Next(lawPlan(0), stepsize.Past{}, 3, oneTerm, nil, []float64{1}); got != 0 {
		t.Errorf("step %v before it was found", got)
	}
	want := float32(0.2 * 0.5 / math.Sqrt(1+5./30))
	if got := law.Next(lawPlan(0.5), stepsize.Past{}, 6, oneTerm, nil, []float64{1}); got != want {
		t.Errorf("first step %v, want %v", got, want)
	}
}

// G is bounded, whatever slopes devices send. A quarter of the devices can stop G, but cannot
// reverse its direction.
func TestLawIsBounded(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		all := []float64{sign, sign, sign, sign, sign, sign}
		lied := append([]float64{-1e30 * sign, math.MaxFloat32 * -sign}, all...)
		for _, test := range []struct {
			slopes []float64
			want   float64
		}{{all, math.Pow(64, sign)}, {lied, 1}} {
			g := gainOf(400, func() []float64 { return slices.Clone(test.slopes) })
			if math.Abs(g-test.want) > 1e-5*test.want {
				t.Errorf("slopes %v: G is %v in the end, want %v", test.slopes, g, test.want)
			}
		}
	}
}

// falling returns the losses of round n+1, where the loss falls by 1 in each round.
func falling(n uint64) []float32 { return []float32{1000 - float32(n), 1002 - float32(n)} }

// A slope of one sign changes G fast if there are as many directions as parameters. Such a slope
// changes G slowly if moves are mostly noise, and lengthens steps slowly if the loss makes no
// progress.
func TestLawIsFast(t *testing.T) {
	const fastLeast, fastMost, slowLeast, slowMost = 12, 60, 2, 3.5
	flat := func(uint64) []float32 { return []float32{7} }
	rising := func(n uint64) []float32 { return []float32{float32(n)} }
	lied := func(n uint64) []float32 { return append(falling(n), falling(n)[0], 1e30) }
	jumped := func(n uint64) []float32 { return []float32{1000*min(float32(n), 1) - float32(n)} }
	// after returns losses that fall by 1000 at once, and then by each in each round.
	after := func(each float32) func(uint64) []float32 {
		return func(n uint64) []float32 { return []float32{-1000*min(float32(n), 1) - float32(n)*each} }
	}
	for name, test := range map[string]struct {
		dim    uint64
		sign   float64
		losses func(n uint64) []float32
		fast   bool
	}{
		"falls":             {2, 1, falling, true},
		"falls, one lies":   {2, 1, lied, true},
		"falls a little":    {2, 1, after(2), true},
		"falls too little":  {2, 1, after(0.5), false},
		"is flat":           {2, 1, flat, false},
		"falls from a jump": {2, 1, jumped, false},
		"rises":             {2, 1, rising, false},
		"is not known":      {2, 1, func(uint64) []float32 { return nil }, false},
		"has noise":         {400, 1, falling, false},
		"falls, too long":   {2, -1, falling, true},
		"rises, too long":   {2, -1, rising, true},
		"noise, too long":   {400, -1, rising, false},
		"unknown, too long": {2, -1, func(uint64) []float32 { return nil }, true},
	} {
		p := lawPlan(1)
		p.Dim = test.dim
		var law stepsize.Law
		past := stepsize.Past{}
		for n := range uint64(280) {
			slope := 0.0
			if n >= 257 { // what fell at once is long past
				slope = test.sign
			}
			step := law.Next(p, past, n+1, oneTerm, test.losses(n), []float64{slope})
			past = stepsize.Past{Step: step, Round: n + 1}
		}
		g := math.Pow(float64(past.Step)/0.2*math.Sqrt(1+279./30), test.sign)
		if test.fast && (g < fastLeast || g > fastMost) || !test.fast && (g < slowLeast || g > slowMost) {
			t.Errorf("the loss %s: G is %v times after 23 rounds", name, g)
		}
	}
}

// If noise hides the slope, even a long run keeps G.
func TestLawOfNoise(t *testing.T) {
	var law stepsize.Law
	past := stepsize.Past{}
	for n := range uint64(2000) {
		slope := float64(n%2)*0.002 - 0.0005 // nearly always a little too short
		step := law.Next(lawPlan(1), past, n+1, oneTerm, nil, []float64{slope})
		past = stepsize.Past{Step: step, Round: n + 1}
	}
	want := 0.2 / math.Sqrt(1+1999./30)
	if got := float64(past.Step); math.Abs(got-want) > 0.01*want {
		t.Errorf("step %v in the end, want %v", got, want)
	}
}

// A coordinator without a handover continues with the last step of the log, without the trends. A
// new step of the plan begins with G = 1.
func TestLawTakesOver(t *testing.T) {
	var law, other stepsize.Law
	past := stepsize.Past{Step: 0.6, Round: 40}
	step := law.Next(lawPlan(1), past, 41, nil, nil, nil)
	want := 0.6 * math.Sqrt(1+39./30) / math.Sqrt(1+40./30)
	if math.Abs(float64(step)-want) > 1e-6 {
		t.Errorf("step %v, want %v", step, want)
	}
	law.Next(lawPlan(1), past, 41, oneTerm, nil, []float64{1})
	law.Reset()
	a := law.Next(lawPlan(1), past, 41, oneTerm, nil, []float64{-1}) // an e that stayed would stop it
	if b := other.Next(lawPlan(1), past, 41, oneTerm, nil, []float64{-1}); a != b {
		t.Errorf("steps %v after a reset and %v of another coordinator differ", a, b)
	}
	if got := law.Next(lawPlan(2), stepsize.Past{}, 31, nil, nil, nil); math.Abs(
		float64(got)-0.4/math.Sqrt2) > 1e-6 {
		t.Errorf("step %v after a change, want %v", got, 0.4/math.Sqrt2)
	}
}

// Next reads scalars of few bits as the values that they encode.
func TestLawReadsFewBits(t *testing.T) {
	steps := map[plan.Precision]float32{}
	for _, precision := range []plan.Precision{plan.Single, plan.Int4} {
		p := lawPlan(1)
		p.Precision, p.Steps, p.Perturbations = precision, 1, 5
		bits := plan.Int4.Append(nil, 1, -2, 3, 0.5, -0.1)
		terms := []wire.Term{{Source: 1, Scalars: bits}}
		if precision == plan.Single {
			terms[0].Scalars = wire.AppendScalars(nil, plan.Int4.Values(bits, 1, 5)...)
		}
		var law stepsize.Law
		steps[precision] = law.Next(p, stepsize.Past{Step: 0.2, Round: 8}, 9, terms, nil, []float64{0.4})
	}
	if a, b := steps[plan.Single], steps[plan.Int4]; a != b || a == 0 {
		t.Errorf("steps %v of 32 bits and %v of 4 differ", a, b)
	}
}
