package probe

import (
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// A reference computes the local steps of the device with slot 0 from their definitions. A
// reference uses float64, except for the vector that the app sees.
type reference struct {
	plan                                *plan.Plan
	f                                   *slopes
	low, high, side, muScale, stepScale []float64
	first, second                       []float64
}

func newReference(p *plan.Plan, f *slopes) *reference {
	r := &reference{plan: p, f: f}
	for s, segment := range p.Layout() {
		low, high, side := math.Inf(-1), math.Inf(1), 1.0
		if b, ok := p.BoxOf(s); ok {
			low, high, side = float64(b.Low), float64(b.High), float64(b.High)-float64(b.Low)
		}
		for range segment.Len {
			r.low, r.high, r.side = append(r.low, low), append(r.high, high), append(r.side, side)
			r.muScale = append(r.muScale, float64(segment.MuScale))
			r.stepScale = append(r.stepScale, float64(segment.StepScale))
		}
	}
	return r
}

// gradient returns the estimate at x in step k of record n, in the boxes' coordinates.
func (r *reference) gradient(x []float64, n uint64, k int) []float64 {
	d, mu := len(x), float64(r.plan.Mu)
	sum, z, probe := make([]float64, d), make([]float32, d), make([]float32, d)
	for q := range int(r.plan.Perturbations) {
		scale := 1.0
		a := prng.Direction{
			Key: prng.RecordKey(r.plan.RunKey, n), Step: uint16(k), Perturbation: uint16(q),
			Domain: prng.Directions, Dist: r.plan.Distribution.Elements(),
		}
		if r.plan.Sharing == plan.PerClient {
			a.Source = prng.Slot(0)
		}
		prng.Fill(z, a, 0)
		if r.plan.Distribution == plan.Sphere {
			scale = 1 / math.Sqrt(prng.SquaredNorm(a, uint64(d)))
		}
		at := func(mu float64) float64 {
			for i := range probe {
				probe[i] = float32(min(max(x[i]+mu*r.muScale[i]*r.side[i]*scale*float64(z[i]),
					r.low[i]), r.high[i]))
			}
			return r.f.value(probe)
		}
		g := (at(mu) - at(0)) / mu
		if r.plan.Difference == plan.Central {
			g = (at(mu) - at(-mu)) / (2 * mu)
		}
		if r.plan.Distribution == plan.Sphere {
			g *= float64(d)
		}
		for i := range sum {
			sum[i] += g * scale * float64(z[i]) / float64(r.plan.Perturbations)
		}
	}
	return sum
}

// round returns x_K from x_0 for record n, and the mean of the estimates.
func (r *reference) round(x0 []float32, n uint64, correction []float64) (x, own []float64) {
	d, p := len(x0), r.plan
	x, own, r.first, r.second = make([]float64, d), make([]float64, d), make([]float64, d),
		make([]float64, d)
	for i, v := range x0 {
		x[i] = float64(v)
	}
	for k := range int(p.Steps) {
		v := r.gradient(x, n, k)
		for i := range v {
			own[i] += v[i] / float64(p.Steps)
			v[i] += correction[i] + float64(p.Prox)*(x[i]-float64(x0[i]))/r.side[i] +
				float64(p.WeightDecay)*x[i]/r.side[i]
			step := r.rule(i, k+1, v[i])
			x[i] -= r.side[i] * r.stepScale[i] * float64(p.StepSize) * step
			x[i] = min(max(x[i], r.low[i]), r.high[i])
		}
	}
	return x, own
}

func (r *reference) rule(i, t int, v float64) float64 {
	b1, b2 := float64(r.plan.Beta), float64(r.plan.Beta2)
	switch r.plan.Rule {
	case plan.Momentum:
		r.first[i] = b1*r.first[i] + (1-b1)*v
		return r.first[i]
	case plan.TorchMomentum:
		r.first[i] = b1*r.first[i] + v
		return r.first[i]
	case plan.LocalAdam:
		r.first[i] = b1*r.first[i] + (1-b1)*v
		r.second[i] = b2*r.second[i] + (1-b2)*v*v
		m, s := r.first[i]/(1-math.Pow(b1, float64(t))), r.second[i]/(1-math.Pow(b2, float64(t)))
		return m / (math.Sqrt(s) + float64(r.plan.Epsilon))
	case plan.LocalSign:
		return math.Copysign(1, v)
	}
	return v
}

const (
	testDim   = 13
	adamRule  = " rule=adam beta=0.9 beta2=0.99 epsilon=1e-6 step=0.02"
	baseDense = "steps=4 perturbations=3 mu=0.0078125 step=0.05 rule=sgd"
)

// segmentsOf gives a plan two segments with different scales.
func segmentsOf(p *plan.Plan) {
	p.Segments = []plan.Segment{
		{Name: "a", Len: 5, Fill: plan.NormalFill, Scale: 0.5, StepScale: 0.5},
		{Name: "b", Len: testDim - 5, Fill: plan.NormalFill, Scale: 0.5, MuScale: 2},
	}
}

func boxed(p *plan.Plan) { p.Boxes = []plan.Box{{Low: -1, High: 0.25}, {Low: -0.2, High: 3}} }

// Local steps follow their definitions, with every rule, proximal term, decay, box, direction and
// control variate.
func TestDenseLocalSteps(t *testing.T) {
	tests := []struct {
		name   string
		fields string
		edit   func(*plan.Plan)
	}{
		{"sgd", "", nil},
		{"one step", "steps=1", nil},
		{"central", "difference=central", nil},
		{"normal", "distribution=normal sharing=shared", nil},
		{"rademacher", "distribution=rademacher", nil},
		{"momentum", "rule=momentum beta=0.9", nil},
		{"torch momentum", "rule=torch-momentum beta=0.5", nil},
		{"adam", adamRule, nil},
		{"sign", "rule=sign step=0.01", nil},
		{"prox and decay", "prox=0.3 weight_decay=0.1", nil},
		{"scales", "", segmentsOf},
		{"boxes", "step=0.2", boxed},
		{"boxes, adam, prox and decay", adamRule + " step=0.1 prox=0.3 weight_decay=0.1", boxed},
		{"boxes, sign and decay", "rule=sign step=0.05 weight_decay=0.1", boxed},
		{"boxes, momentum, central", "rule=momentum beta=0.9 difference=central", boxed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := densePlan(t, "fedzo-dense", testDim, strings.Fields(baseDense+" "+tt.fields)...)
			segmentsOf(p)
			if tt.edit != nil {
				tt.edit(p)
			}
			if tt.name == "sgd" {
				p.Segments = nil
			}
			localStepsAgree(t, p)
		})
	}
}

// localStepsAgree makes three rounds of two devices, and checks the first device.
func localStepsAgree(t *testing.T, p *plan.Plan) {
	t.Helper()
	f := newSlopes(testDim, 0, 1)
	if len(p.Boxes) > 0 {
		f.low, f.high = -1, 3
	}
	r := newRig(t, p, f, newSlopes(testDim, 1, 1))
	ref := newReference(p, f)
	none := make([]float64, testDim)
	for range 3 {
		want, _ := ref.round(r.params(), uint64(len(r.log))+1, none)
		near(t, "vector", r.round()[0], want)
	}
	if f.outside > 0 {
		t.Errorf("%d parameters of queries were outside of the boxes", f.outside)
	}
}

// A loss that does not change causes a warning.
func TestDenseZeros(t *testing.T) {
	f := newSlopes(5, 0, 1)
	f.mood = func(int) float64 { return 7 }
	r := newRig(t, densePlan(t, "fedzo-dense", 5, strings.Fields(baseDense)...), f)
	for round := range 4 {
		r.round()
		if got, want := strings.Contains(r.warned.String(), "the loss did not move in 3 rounds"),
			round >= 2; got != want {
			t.Errorf("round %d: logged %q", round+1, r.warned.String())
		}
	}
}

// near compares the values sent with the expected ones. Differences of float32 losses at float32
// points have an error of about 1e-5.
func near(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d elements, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Abs(float64(got[i])-want[i]) > 2e-4*(1+math.Abs(want[i])) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}
